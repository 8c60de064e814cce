//! The use cases, one function each. Every door calls this crate and nothing else decides anything.
//!
//! Must not know: HTTP, argv, files.

mod app;
pub mod artifacts;
pub mod connectors;
mod failure;
pub mod health;
pub mod preview;
pub mod projects;
pub mod refresh;
pub mod runs;

pub use app::{App, Caller, PersonOnly};
pub use artifacts::Mode;
