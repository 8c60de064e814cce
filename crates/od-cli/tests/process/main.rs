//! The daemon as a process of its own: killed, out of room, watched by strace, flooded, and told
//! secrets.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking and says what it read"
)]

mod bombs;
mod canary;
mod daemon;
mod flood;
mod full_disk;
mod http;
mod killed;
mod mcp_http;
mod notified;
mod paths;
mod scheduled;
mod source_server;
mod standing_mcp;
#[cfg(feature = "real-postgres")]
mod team;
mod trace;
