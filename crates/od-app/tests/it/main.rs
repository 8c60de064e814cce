//! The use cases over ports in memory.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod create;
mod export;
mod health;
mod notifications;
mod plan;
mod projects;
mod refresh;
mod roll_back;
mod runs;
mod schedule;
mod update;
mod world;
