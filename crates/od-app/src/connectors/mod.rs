//! Connectors: which there are, connecting them, and the one way to run a tool.

mod catalog;
pub mod connect;
mod denied;
pub mod disconnect;
pub mod execute;
mod execute_failure;
pub mod get;
pub mod list;
mod rate;
mod source;
mod state;

pub use connect::connect;
pub use disconnect::disconnect;
pub use execute::execute;
pub use get::get;
pub use list::list;
pub use rate::{OverLimit, Payer};
pub use source::{SourceRefused, check_source};
pub(crate) use source::{pin_of, read_file, source_call};
pub(crate) use state::ConnectorState;
