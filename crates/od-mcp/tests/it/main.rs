//! The server through its public door: real protocol on one side, a socket on the other.
//!
//! The daemon itself stands in `od-e2e`; here the other side is a peer that is slow, wrong or gone.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod budget;
mod lifecycle;
mod lint;
mod peer;
mod progress;
mod protocol;
mod resources;
mod session;
mod standing;
