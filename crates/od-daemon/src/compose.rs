//! Composition: the one place where adapters are chosen and put together.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use od_agents::{AcpAgents, AgentsConfig};
use od_app::App;
use od_connectors::{
    DesktopNotifications, DesktopNotifier, Fence, Git, GitHub, GitHubConfig, HttpConnector,
    HttpWebhookSender, ProjectFilesConnector, PrometheusConnector, ServiceClient,
};
use od_core::event::Event;
use od_fs::{
    DataDir, DiskProjectFiles, FileAgentSessions, FileArtifactStore, FileConsoleSessions,
    FileProjectRegistry, FileRunStore, FileServiceRegistry, FileSignerKeys, FileTokenAuthority,
    FileVault, FileWebhooks, GrantGuard, PrivateError, SystemClock, SystemEntropy,
};
use od_ports::access::console_sessions::{ConsoleSessions as _, SessionsError};
use od_ports::access::token_authority::KeyringError;
use od_ports::notifier::Readiness;
use od_ports::system::EntropyError;
use od_ports::{
    ArtifactStore, Clock, CredentialVault, Entropy, EventSink, Notifier, Ports, ProjectFiles,
    ProjectRegistry, RefreshLog, RevisionStore, ServiceRegistry, StoreError, StoreMaintenance,
    Trash,
};
use od_postgres::{Machine, PasswordSources, PgProjectRegistry, PgStore, StoreAddress};
use od_sql::{PostgresConnector, SqliteConnector, SqliteEngine};

/// Settings of the adapters. The default is what a person's machine has.
#[derive(Clone, Default)]
pub struct ComposeOptions {
    /// Another GitHub than the public one.
    pub github_base_url: Option<String>,
    /// Whether changed checks are shown on the desktop.
    pub desktop_notifications: DesktopNotifications,
    /// The database that a team shares; the files of the data directory if absent.
    pub store: Option<SharedStore>,
    /// The listener of events; nobody if absent.
    pub events: Option<Arc<dyn EventSink>>,
    /// Where agents are looked for, and by what they are supervised.
    pub agents: AgentsConfig,
    /// Another clock than the system's: for tests.
    pub clock: Option<Arc<dyn Clock>>,
    /// Another randomness than the system's: for tests.
    pub entropy: Option<Arc<dyn Entropy>>,
}

/// A store that other machines use, too.
#[derive(Clone, Debug)]
pub struct SharedStore {
    /// Where it is.
    pub address: StoreAddress,
    /// Where its password is looked for.
    pub passwords: PasswordSources,
}

impl fmt::Debug for ComposeOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ComposeOptions")
            .field("github_base_url", &self.github_base_url)
            .field("store", &self.store)
            .field("desktop_notifications", &self.desktop_notifications)
            .finish_non_exhaustive()
    }
}

/// Why the adapters could not be put together.
#[derive(Debug, thiserror::Error)]
pub enum ComposeError {
    /// The data directory cannot be made or opened.
    #[error("the data directory `{}` cannot be used", path.display())]
    DataDir {
        /// Where it is.
        path: PathBuf,
        /// Why not.
        source: PrivateError,
    },
    /// The keyring cannot be read: without it nobody could be told from anybody.
    #[error("the keyring in `{}` cannot be used", home.display())]
    Keyring {
        /// The home it is in.
        home: PathBuf,
        /// Why not.
        source: KeyringError,
    },
    /// The store cannot be opened.
    #[error("the store cannot be opened")]
    Store(#[from] StoreError),
    /// The system gave no random bytes.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
    /// The key by which others know this machine cannot be used.
    #[error(transparent)]
    Sessions(#[from] SessionsError),
    /// The base URL of GitHub is none.
    #[error("OD_GITHUB_BASE_URL: {message}")]
    GitHub {
        /// Why not.
        message: String,
    },
}

/// Puts the adapters of a home and a data directory together. Nothing is recovered, nothing listens.
///
/// # Errors
///
/// Fails with the adapter that could not be built.
pub fn compose(home: &Path, data_dir: &Path, options: ComposeOptions) -> Result<App, ComposeError> {
    let ComposeOptions {
        github_base_url,
        desktop_notifications,
        store,
        events,
        agents,
        clock,
        entropy,
    } = options;
    let clock: Arc<dyn Clock> = clock.unwrap_or_else(|| Arc::new(SystemClock));
    let entropy: Arc<dyn Entropy> = entropy.unwrap_or_else(|| Arc::new(SystemEntropy::new()));
    let data = DataDir::open(data_dir)
        .map_err(|source| ComposeError::DataDir { path: data_dir.to_owned(), source })?;
    let keyring = |source| ComposeError::Keyring { home: home.to_owned(), source };
    let tokens = FileTokenAuthority::open(home, entropy.as_ref()).map_err(keyring)?;
    let grants = GrantGuard::open(home, data.path()).map_err(keyring)?;
    let data = data.guarded(grants);
    let sessions = Arc::new(FileConsoleSessions::in_home(home));
    let stores = Stores::open(store, &data, &sessions, &clock, entropy.as_ref())?;
    let projects = Arc::clone(&stores.projects);
    let files: Arc<dyn ProjectFiles> =
        Arc::new(DiskProjectFiles::new(Arc::clone(&projects), data.clone()).closing(home));
    let fence = Fence::around([home.to_owned(), data.path().to_owned()]);
    let base = github_base_url.as_deref().unwrap_or(GitHubConfig::DEFAULT_BASE_URL);
    let github = GitHubConfig::new(base)
        .map_err(|error| ComposeError::GitHub { message: error.to_string() })?;
    let vault: Arc<dyn CredentialVault> = Arc::new(FileVault::in_home(home));
    let services: Arc<dyn ServiceRegistry> = Arc::new(FileServiceRegistry::in_home(home));
    let client = Arc::new(ServiceClient::new(Arc::clone(&services), Arc::clone(&vault)));
    let agents = Arc::new(AcpAgents::new(agents));
    Ok(App::new(Ports {
        artifacts: stores.artifacts,
        refresh_log: stores.refresh_log,
        revisions: stores.revisions,
        trash: stores.trash,
        maintenance: stores.maintenance,
        projects,
        agent_catalog: agents.clone(),
        agents,
        agent_sessions: Arc::new(FileAgentSessions::new(data.clone())),
        runs: Arc::new(FileRunStore::new(data)),
        events: events.unwrap_or_else(|| Arc::new(Silence)),
        tokens: Arc::new(tokens),
        sessions,
        connectors: vec![
            Arc::new(ProjectFilesConnector::new(Arc::clone(&files), fence.clone())),
            Arc::new(SqliteConnector::new(Arc::clone(&files))),
            Arc::new(Git::new(Arc::clone(&files), fence)),
            Arc::new(GitHub::new(github, Arc::clone(&clock))),
            Arc::new(HttpConnector::new(Arc::clone(&client))),
            Arc::new(PrometheusConnector::new(client, Arc::clone(&clock))),
            Arc::new(PostgresConnector::new(Arc::clone(&services), Arc::clone(&vault))),
        ],
        queries: Arc::new(SqliteEngine),
        vault,
        services,
        signers: Arc::new(FileSignerKeys::in_home(home)),
        notifier: Arc::new(DesktopNotifier::new(desktop_notifications)),
        webhooks: Arc::new(FileWebhooks::in_home(home)),
        webhook_sender: Arc::new(HttpWebhookSender::default()),
        files,
        clock,
        entropy,
    }))
}

/// The ports of a store, whatever keeps it.
struct Stores {
    artifacts: Arc<dyn ArtifactStore>,
    refresh_log: Arc<dyn RefreshLog>,
    revisions: Arc<dyn RevisionStore>,
    trash: Arc<dyn Trash>,
    maintenance: Arc<dyn StoreMaintenance>,
    projects: Arc<dyn ProjectRegistry>,
}

impl Stores {
    fn open(
        shared: Option<SharedStore>,
        data: &DataDir,
        sessions: &FileConsoleSessions,
        clock: &Arc<dyn Clock>,
        entropy: &dyn Entropy,
    ) -> Result<Self, ComposeError> {
        let local: Arc<dyn ProjectRegistry> = Arc::new(FileProjectRegistry::new(data.clone()));
        let Some(SharedStore { address, passwords }) = shared else {
            let files = FileArtifactStore::open(data.clone(), Arc::clone(clock))?;
            return Ok(Self::of(Arc::new(files), local));
        };
        let mut instance = [0; 16];
        entropy.fill(&mut instance)?;
        let store = PgStore::new(address, passwords, Arc::clone(clock), instance);
        let key = sessions.daemon_key()?;
        let machine = Machine { id: key.fingerprint(), label: machine_name() };
        let projects = PgProjectRegistry::new(&store, local, machine);
        Ok(Self::of(Arc::new(store), Arc::new(projects)))
    }

    fn of<S>(store: Arc<S>, projects: Arc<dyn ProjectRegistry>) -> Self
    where
        S: ArtifactStore + RefreshLog + RevisionStore + StoreMaintenance + Trash + 'static,
    {
        Self {
            artifacts: store.clone(),
            refresh_log: store.clone(),
            revisions: store.clone(),
            trash: store.clone(),
            maintenance: store,
            projects,
        }
    }
}

/// Returns the name by which the others of a team know this machine.
fn machine_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns whether this machine's desktop would show a notification.
#[must_use]
pub fn desktop_readiness(wanted: DesktopNotifications) -> Readiness {
    DesktopNotifier::new(wanted).readiness()
}

/// Nobody listens.
#[derive(Debug)]
struct Silence;

impl EventSink for Silence {
    fn publish(&self, _: Event) {}
}
