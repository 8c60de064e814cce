//! The contract of each port as a function that panics when an adapter breaks it.

mod artifact_store;
mod credential_vault;
mod run_store;
pub mod sample;

pub use artifact_store::check_artifact_store;
pub use credential_vault::check_credential_vault;
pub use run_store::check_run_store;
