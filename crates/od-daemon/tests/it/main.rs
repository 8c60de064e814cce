//! The daemon through its sockets.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod every_route;
mod guard_matrix;
mod lifecycle;
mod published;
mod purity;
mod raw_client;
mod raw_socket;
mod sse;
mod test_daemon;
mod token_matrix;
mod transcripts;
