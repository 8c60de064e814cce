//! The daemon through its sockets.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod audience;
mod damaged;
mod every_route;
mod fault_log;
mod fenced;
mod gated_github;
mod guard_matrix;
mod hang_up;
mod lifecycle;
mod project_file;
mod published;
mod purity;
mod raw_client;
mod raw_socket;
mod rotation;
mod sse;
mod test_daemon;
mod token_matrix;
mod transcripts;
