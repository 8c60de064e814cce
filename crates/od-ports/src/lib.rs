//! The outside that the rules need: one small, object-safe trait each, and the contract test-suite
//! that every adapter and every fake runs.
//!
//! Must not know: any adapter.

use std::sync::Arc;

/// Access: sessions of browsers, tokens, keys, credentials.
pub mod access {
    pub mod console_sessions;
    pub mod credential_vault;
    pub mod secret;
    pub mod signer_keys;
    pub mod token_authority;
}
/// Agents: how they start, what they said, which run a call belongs to.
pub mod agents {
    pub mod agent_sessions;
    mod launch;
    pub mod run_store;

    pub use launch::*;
}
pub mod connector_provider;
#[cfg(any(test, feature = "fakes"))]
pub mod contract;
#[cfg(any(test, feature = "fakes"))]
pub mod fakes;
pub mod notifier;
pub mod project_files;
pub mod project_registry;
pub mod query_engine;
pub mod service_registry;
pub mod store;
pub mod system;
pub mod webhooks;

pub use access::console_sessions::ConsoleSessions;
pub use access::credential_vault::CredentialVault;
pub use access::signer_keys::SignerKeys;
pub use access::token_authority::TokenAuthority;
pub use agents::agent_sessions::AgentSessionStore;
pub use agents::run_store::RunStore;
pub use agents::{AgentCatalog, AgentLauncher, AgentProcess};
pub use connector_provider::ConnectorProvider;
pub use notifier::Notifier;
pub use project_files::ProjectFiles;
pub use project_registry::ProjectRegistry;
pub use query_engine::QueryEngine;
pub use service_registry::ServiceRegistry;
pub use store::{ArtifactStore, RefreshLog, RevisionStore, StoreError, StoreMaintenance, Trash};
pub use system::{Clock, Entropy, EventSink};
pub use webhooks::{WebhookRegistry, WebhookSender};

/// The adapters of one process. Only composition builds it.
#[derive(Clone, Debug)]
pub struct Ports {
    /// Artifacts.
    pub artifacts: Arc<dyn ArtifactStore>,
    /// The log of their refreshes.
    pub refresh_log: Arc<dyn RefreshLog>,
    /// Their earlier states.
    pub revisions: Arc<dyn RevisionStore>,
    /// Deleted artifacts.
    pub trash: Arc<dyn Trash>,
    /// Verify, repair, recovery of artifacts.
    pub maintenance: Arc<dyn StoreMaintenance>,
    /// Projects.
    pub projects: Arc<dyn ProjectRegistry>,
    /// The files of projects.
    pub files: Arc<dyn ProjectFiles>,
    /// Runs of agents.
    pub runs: Arc<dyn RunStore>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Listeners.
    pub events: Arc<dyn EventSink>,
    /// Signed tokens.
    pub tokens: Arc<dyn TokenAuthority>,
    /// Browsers that may open the console.
    pub sessions: Arc<dyn ConsoleSessions>,
    /// Sources of data, in the order they are listed.
    pub connectors: Vec<Arc<dyn ConnectorProvider>>,
    /// SQL over the rows of sources.
    pub queries: Arc<dyn QueryEngine>,
    /// Credentials of connectors.
    pub vault: Arc<dyn CredentialVault>,
    /// Services that a person has registered.
    pub services: Arc<dyn ServiceRegistry>,
    /// Agents that a person can chat with.
    pub agent_catalog: Arc<dyn AgentCatalog>,
    /// Their processes.
    pub agents: Arc<dyn AgentLauncher>,
    /// The sessions with them.
    pub agent_sessions: Arc<dyn AgentSessionStore>,
    /// The person's key for bundles, and the signers that were met.
    pub signers: Arc<dyn SignerKeys>,
    /// The person's desktop.
    pub notifier: Arc<dyn Notifier>,
    /// Webhooks that a person has registered.
    pub webhooks: Arc<dyn WebhookRegistry>,
    /// The way to them.
    pub webhook_sender: Arc<dyn WebhookSender>,
}
