//! Connectors: which there are, connecting them, and the one way to run a tool.

pub mod catalog;
pub mod connect;
mod denied_keys;
pub mod execute;
mod execute_failure;
mod execute_repair;
mod nearest;
mod protect;
mod provider_failure;
mod rate_limit;
mod source;

pub(crate) use catalog::{access_of, provider};
pub use catalog::{get, list};
pub use connect::{connect, disconnect};
pub use execute::execute;
pub(crate) use execute::{Taken, take};
pub use execute_repair::{refuse_call, refuse_request};
pub(crate) use rate_limit::ConnectorState;
pub use rate_limit::{OverLimit, Payer};
pub(crate) use source::{FileContent, pin_of, read_file, source_call};
pub use source::{SourceRefused, check_source};
