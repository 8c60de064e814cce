//! HTTP and SSE over hyper: the request guard, dispatch, the embedded console, and the composition
//! of the adapters.
//!
//! Must not know: rules.

mod auth;
mod compose;
mod console;
mod daemon;
mod doors;
mod exchange;
mod http;
mod in_flight;
mod lifecycle;
mod routes;
mod sse;
pub mod views;

pub use compose::{ComposeError, ComposeOptions, compose};
pub use http::access_log::LogSink;
pub use lifecycle::{
    Announcement, ClaimError, DEFAULT_PORT, ListenError, Port, RunningDaemon, ServeConfig,
    StartError, Stopped, serve,
};
