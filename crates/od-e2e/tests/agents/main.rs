//! Sessions with real processes: what an agent may do to the daemon, and what is left of it afterwards.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod hostile;
mod recorded;
mod sessions;
mod world;
