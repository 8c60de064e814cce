//! Connectors: what the catalog says of them, what is trusted of it, and what of their output.

mod catalog;
mod classify;
mod contract;
mod disguise;
mod execute_request;
mod local_tool;
mod protect;

pub use catalog::{
    Category, Connector, ConnectorAuth, ConnectorStatus, MinimumApproval, Purpose, Tool,
};
pub use classify::{Approval, SideEffect, ToolFacts, ToolSafety, classify, stricter};
pub use contract::{ContractParts, check_input, contract_digest};
pub use execute_request::ExecuteRequest;
pub use local_tool::LocalTool;
pub use protect::{Clip, Origin, ProtectError, Protected, protect_output, protect_text};
