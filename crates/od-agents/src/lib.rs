//! A person's own agents: the catalogue of those that od knows, their processes, and the Agent Client
//! Protocol that is spoken with them.
//!
//! The protocol's published types are not used: they hold every JSON value that an agent sends as a
//! tree, which takes ten times its size, and a hostile agent chooses that size. Here each message is read
//! straight into the few bounded texts that a session keeps.
//!
//! Must not know: storage, HTTP, argv.

mod catalogue;
mod environment;
/// The Agent Client Protocol, version 1, as lines of JSON.
mod acp {
    pub(crate) mod bounded;
    pub(crate) mod message;
    pub(crate) mod outgoing;
    pub(crate) mod peer;
}
mod launcher;
mod process;
mod supervisor;

pub use environment::ShellEnvironment;
pub use launcher::{AcpAgents, AgentsConfig};
pub use supervisor::{SUPERVISOR_VERB, supervise};
