//! The contract of each port as a function that panics when an adapter breaks it.

mod agent_sessions;
mod connector_provider;
mod console_sessions;
mod credential_vault;
mod notifications;
mod projects;
pub mod query_engine;
mod run_store;
pub mod sample;
mod service_registry;
mod signer_keys;
mod store;
mod system;

pub use agent_sessions::check_agent_sessions;
pub use connector_provider::{ConnectorTrial, check_connector_provider};
pub use console_sessions::check_console_sessions;
pub use credential_vault::check_credential_vault;
pub use notifications::{check_notifier, check_webhook_registry, check_webhook_sender};
pub use projects::{FilesTrial, check_project_files, check_project_registry};
pub use query_engine::check_query_engine;
pub use run_store::check_run_store;
pub use service_registry::check_service_registry;
pub use signer_keys::check_signer_keys;
pub use store::{
    StoreTrial, check_artifact_store, check_refresh_log, check_revision_store, check_store,
    check_store_maintenance, check_trash,
};
pub use system::{check_clock, check_entropy};
