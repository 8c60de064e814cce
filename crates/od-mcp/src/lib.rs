//! The MCP server: a thin client of `/api/tools/*`.
//!
//! One process serves one agent; what it may do is what the tool token of its run says, and the daemon
//! decides that. Nothing is read, connected or generated before the first request asks for it.
//!
//! Must not know: storage, policy.

mod arguments;
mod call;
mod door;
pub mod launch;
mod message;
mod resources;
mod schema;
mod server;
mod stdio;
mod tool;

pub use door::{Access, ClientFacts, Door, Opening};
pub use resources::GuidePage;
pub use server::{Peer, Pending, Received, Server, Unreachable};
pub use stdio::{ServeError, serve};
pub use tool::{Hints, ToolName};
