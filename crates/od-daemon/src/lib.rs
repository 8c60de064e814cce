//! HTTP and SSE over hyper: the request guard, dispatch, the embedded console, and the composition
//! of the adapters.
//!
//! Must not know: rules.

mod console;
mod http;
mod lifecycle;
mod session;
mod sse;
