//! Connectors: which there are, connecting them, and the one way to run a tool.

pub mod catalog;
pub mod connect;
mod denied;
pub mod execute;
mod execute_failure;
mod source;
mod state;

pub use catalog::{get, list};
pub use connect::{connect, disconnect};
pub use execute::execute;
pub use source::{SourceRefused, check_source};
pub(crate) use source::{pin_of, read_file, source_call};
pub(crate) use state::ConnectorState;
pub use state::{OverLimit, Payer};
