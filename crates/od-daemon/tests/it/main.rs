//! The daemon through its sockets.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bundles;
mod fault_log;
mod gated_github;
mod grants;
mod lifecycle;
mod paired_browser;
mod published;
mod raw_client;
mod rotation;
mod schedule;
mod test_daemon;
mod transcripts;

/// What is refused before a route is asked.
mod guards {
    mod audience;
    mod console_sessions;
    mod fenced;
    mod guard_matrix;
    mod hang_up;
    mod raw_socket;
    mod token_matrix;
}

/// What the routes answer.
mod routes {
    mod damaged;
    mod every_route;
    mod project_file;
    mod purity;
    mod sse;
}
