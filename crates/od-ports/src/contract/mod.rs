//! The contract of each port as a function that panics when an adapter breaks it.

mod clock;
mod connector_provider;
mod credential_vault;
mod entropy;
mod project_files;
mod project_registry;
pub mod query_engine;
mod run_store;
pub mod sample;
mod store;

pub use clock::check_clock;
pub use connector_provider::{ConnectorTrial, check_connector_provider};
pub use credential_vault::check_credential_vault;
pub use entropy::check_entropy;
pub use project_files::{FilesTrial, check_project_files};
pub use project_registry::check_project_registry;
pub use query_engine::check_query_engine;
pub use run_store::check_run_store;
pub use store::{
    StoreTrial, check_artifact_store, check_refresh_log, check_revision_store, check_store,
    check_store_maintenance, check_trash,
};
