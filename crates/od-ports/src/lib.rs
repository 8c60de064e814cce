//! What the rules need from outside: one small, object-safe trait each, and the contract test-suite
//! that every adapter and every fake runs.
//!
//! Must not know: any adapter.

pub mod artifact_store;
pub mod change;
pub mod clock;
pub mod connector_provider;
#[cfg(any(test, feature = "fakes"))]
pub mod contract;
pub mod credential_vault;
pub mod entropy;
pub mod event_sink;
#[cfg(any(test, feature = "fakes"))]
pub mod fakes;
pub mod inspection;
pub mod ports;
pub mod project_files;
pub mod project_registry;
pub mod refresh_log;
pub mod run_store;
pub mod store_error;
pub mod stored;
pub mod token_authority;
pub mod write_gate;

pub use artifact_store::ArtifactStore;
pub use clock::Clock;
pub use connector_provider::ConnectorProvider;
pub use credential_vault::CredentialVault;
pub use entropy::Entropy;
pub use event_sink::EventSink;
pub use ports::Ports;
pub use project_files::ProjectFiles;
pub use project_registry::ProjectRegistry;
pub use run_store::RunStore;
pub use store_error::StoreError;
pub use token_authority::TokenAuthority;
