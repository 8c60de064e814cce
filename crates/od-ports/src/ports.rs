//! Everything the use cases need from outside, in one place.

use std::sync::Arc;

use crate::clock::Clock;
use crate::connector_provider::ConnectorProvider;
use crate::credential_vault::CredentialVault;
use crate::entropy::Entropy;
use crate::event_sink::EventSink;
use crate::project_files::ProjectFiles;
use crate::project_registry::ProjectRegistry;
use crate::run_store::RunStore;
use crate::store::{ArtifactStore, RefreshLog, RevisionStore, StoreMaintenance, Trash};
use crate::token_authority::TokenAuthority;

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
    /// Sources of data, in the order they are listed.
    pub connectors: Vec<Arc<dyn ConnectorProvider>>,
    /// Credentials of connectors.
    pub vault: Arc<dyn CredentialVault>,
}
