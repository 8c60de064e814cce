//! The stdio MCP server: a thin client of `/api/tools/*`.
//!
//! One process serves one agent's run; what it may do is what its tool token says, and the daemon
//! decides that. Nothing is read, connected or generated before the first request asks for it.
//!
//! Must not know: storage, policy.

mod arguments;
mod door;
pub mod launch;
mod outcome;
mod protocol;
mod schema;
mod tool;

pub use door::Door;
pub use protocol::{ServeError, serve, serve_stdio};
pub use tool::{Hints, ToolName};
