//! Connectors: which there are, connecting them, and the one way to run a tool.

pub mod catalog;
pub mod connect;
mod denied;
pub mod execute;
mod execute_failure;
mod execute_mended;
mod protect;
mod source;
mod state;

pub(crate) use catalog::{access_of, provider};
pub use catalog::{get, list};
pub use connect::{connect, disconnect};
pub use execute::execute;
pub(crate) use execute::{Taken, take};
pub use execute_mended::{refuse_call, refuse_request};
pub(crate) use source::{FileContent, pin_of, read_file, source_call};
pub use source::{SourceRefused, check_source};
pub(crate) use state::ConnectorState;
pub use state::{OverLimit, Payer};
