//! The use cases, one function each. Every door calls this crate and nothing else decides anything.
//!
//! Must not know: HTTP, argv, files.

mod app;
mod caller;
pub mod preview;
mod store_failure;

pub use app::App;
pub use caller::Caller;
