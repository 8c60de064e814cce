//! HTTP and SSE over hyper: the request guard, dispatch, the embedded console, and the composition\n//! of the adapters.
//!
//! Must not know: rules.
