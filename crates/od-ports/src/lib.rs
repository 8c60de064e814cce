//! The outside that the rules need: one small, object-safe trait each, and the contract test-suite
//! that every adapter and every fake runs.
//!
//! Must not know: any adapter.

pub mod clock;
pub mod connector_provider;
#[cfg(any(test, feature = "fakes"))]
pub mod contract;
pub mod credential_vault;
pub mod entropy;
pub mod event_sink;
#[cfg(any(test, feature = "fakes"))]
pub mod fakes;
pub mod ports;
pub mod project_files;
pub mod project_registry;
pub mod query_engine;
pub mod run_store;
pub mod store;
pub mod token_authority;

pub use clock::Clock;
pub use connector_provider::ConnectorProvider;
pub use credential_vault::CredentialVault;
pub use entropy::Entropy;
pub use event_sink::EventSink;
pub use ports::Ports;
pub use project_files::ProjectFiles;
pub use project_registry::ProjectRegistry;
pub use query_engine::QueryEngine;
pub use run_store::RunStore;
pub use store::{ArtifactStore, RefreshLog, RevisionStore, StoreError, StoreMaintenance, Trash};
pub use token_authority::TokenAuthority;
