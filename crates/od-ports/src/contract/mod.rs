//! The contract of each port as a function that panics when an adapter breaks it.

mod artifact_store;
mod connector_provider;
mod credential_vault;
mod project_registry;
mod run_store;
pub mod sample;

pub use artifact_store::check_artifact_store;
pub use connector_provider::{ConnectorTrial, check_connector_provider};
pub use credential_vault::check_credential_vault;
pub use project_registry::check_project_registry;
pub use run_store::check_run_store;
