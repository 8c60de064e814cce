//! The use cases over ports in memory.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod create;
mod health;
mod projects;
mod refresh;
mod runs;
mod update;
mod world;
