//! Connectors: what the catalog says of them, and what is trusted of it.

mod catalog;
mod safety;

pub use catalog::{
    Category, Connector, ConnectorAuth, ConnectorStatus, MinimumApproval, Purpose, Tool,
};
pub use safety::{Approval, SideEffect, ToolSafety};
