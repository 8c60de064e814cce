//! HTTP and SSE over hyper: the request guard, dispatch, the embedded console, and the composition
//! of the adapters.
//!
//! Must not know: rules.

mod auth;
mod change_loop;
mod clock_loop;
mod compose;
mod console;
mod daemon;
mod doors;
mod event_streams;
mod exchange;
/// HTTP/1.1 over hyper: accept loop, guard, lookup, bodies, answers.
mod http {
    pub(crate) mod accept;
    pub(crate) mod access_log;
    pub(crate) mod body;
    pub(crate) mod connection_cap;
    pub(crate) mod error;
    pub(crate) mod guard;
    pub(crate) mod json_body;
    pub(crate) mod lookup;
    pub(crate) mod query;
    pub(crate) mod reply;
    pub(crate) mod stall;
}
mod in_flight;
/// Start, single instance, stop.
mod lifecycle {
    mod announcement;
    mod listeners;
    mod serve;

    pub use announcement::{Announcement, ClaimError};
    pub use listeners::{DEFAULT_PORT, ListenError, Port};
    pub use serve::{RunningDaemon, ServeConfig, StartError, Stopped, serve};
}
/// The handlers: parse into core types, call one use case, serialise.
mod routes {
    pub(crate) mod about;
    pub(crate) mod agents;
    pub(crate) mod artifacts;
    pub(crate) mod connectors;
    pub(crate) mod exports;
    pub(crate) mod mcp;
    pub(crate) mod preview;
    pub(crate) mod projects;
    pub(crate) mod refreshes;
    pub(crate) mod revisions;
    pub(crate) mod runs;
    pub(crate) mod services;
    pub(crate) mod session;
    pub(crate) mod tools;
    pub(crate) mod webhooks;
}
mod sign_in_codes;
mod store_loop;
pub mod views;

pub use compose::{ComposeError, ComposeOptions, SharedStore, compose, desktop_readiness};
pub use http::access_log::LogSink;
pub use lifecycle::{
    Announcement, ClaimError, DEFAULT_PORT, ListenError, Port, RunningDaemon, ServeConfig,
    StartError, Stopped, serve,
};
/// Whether changed checks are shown on the desktop; the adapter's own word.
pub use od_connectors::DesktopNotifications;
pub use od_postgres::{PasswordSources, StoreAddress, StoreAddressError};
pub use routes::mcp::{Answering, McpMessage, McpServer};
