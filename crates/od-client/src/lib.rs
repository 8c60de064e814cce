//! A typed client of the daemon, used by the command line and the MCP server.
//!
//! Must not know: rules, storage.

mod call;
mod client;
mod error;
mod events;
mod person;
mod proof;

pub use call::{Answer, Call};
pub use client::{Bearer, Client};
pub use error::CallError;
pub use events::{EventReader, ReceivedEvent};
