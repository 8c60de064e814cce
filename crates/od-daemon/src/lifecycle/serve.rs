//! Start to finish: claim, listen, recover, announce, answer, stop.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hyper::header::HeaderValue;
use od_app::App;
use od_core::ids::{ArtifactId, Audience, InstanceId};
use od_ports::access::console_sessions::SessionsError;
use od_ports::store::Unrecovered;
use od_ports::system::EntropyError;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::announcement::{Announcement, ClaimError, Instance};
use super::listeners::{ListenError, Listeners, Port, connections_allowed};
use crate::compose::{ComposeError, ComposeOptions, compose};
use crate::daemon::{Audiences, Daemon, Urls};
use crate::doors::{ApiDoor, PreviewDoor};
use crate::event_streams::EventHub;
use crate::http::accept;
use crate::http::access_log::{AccessLog, LogSink, RequestIds};
use crate::http::connection_cap::ConnectionCap;
use crate::http::guard::{Door, Guard};
use crate::http::lookup::RouteIndex;
use crate::http::reply::Policies;
use crate::in_flight::InFlight;
use crate::routes::mcp::McpServer;
use crate::sign_in_codes::{Code, Waiting};
use crate::views::Console;
use crate::{change_loop, clock_loop, store_loop};

/// The time a running refresh has once the daemon is asked to stop; then it is cancelled.
const REFRESH_GRACE: Duration = od_core::limits::REFRESH_GRACE.duration();
/// The time connections and changes have to end after that.
const STOP_DEADLINE: Duration = od_core::limits::STOP_TIMEOUT.duration();

/// The configuration of a daemon.
#[derive(Debug)]
pub struct ServeConfig {
    /// The home of keys and credentials.
    pub home: PathBuf,
    /// The directory of everything else.
    pub data_dir: PathBuf,
    /// The port to listen at.
    pub port: Port,
    /// The destination of access lines.
    pub access_log: LogSink,
    /// The most connections held at once; none: as many as the system allows.
    pub connections_max: Option<usize>,
    /// Answers messages of the Model Context Protocol at `/mcp`; nobody does if absent.
    pub mcp: Option<Arc<dyn McpServer>>,
    /// Settings of the adapters.
    pub options: ComposeOptions,
    /// The settings that the daemon is said to have started with, by name.
    pub configuration: BTreeMap<String, String>,
}

impl ServeConfig {
    /// Makes the usual configuration: the default port, the log on standard error.
    #[must_use]
    pub fn new(home: impl Into<PathBuf>, data_dir: impl Into<PathBuf>) -> Self {
        Self {
            home: home.into(),
            data_dir: data_dir.into(),
            port: Port::Default,
            access_log: LogSink::Stderr,
            connections_max: None,
            mcp: None,
            options: ComposeOptions::default(),
            configuration: BTreeMap::new(),
        }
    }
}

/// Why a daemon did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Another daemon has the data directory.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// The adapters cannot be built: keyring, vault, data directory.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// The ports cannot be had.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// What a crash left cannot be put right.
    #[error("the store could not be recovered: {message}")]
    Recover {
        /// What the store said.
        message: String,
    },
    /// The system gave no random bytes.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
    /// The key by which browsers know the daemon cannot be used.
    #[error(transparent)]
    Sessions(#[from] SessionsError),
    /// The system gave no thread for the log.
    #[error("the access log could not be started")]
    AccessLog {
        /// What the system said.
        source: std::io::Error,
    },
    /// A table of this program contradicts itself.
    #[error("the route table contradicts itself: {message}")]
    Table {
        /// How.
        message: String,
    },
}

/// The way a daemon stopped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stopped {
    /// Everybody had their answer and left.
    Complete,
    /// The deadline came first.
    Forced,
}

/// A daemon that answers.
#[derive(Debug)]
pub struct RunningDaemon {
    daemon: Arc<Daemon>,
    connections: Arc<ConnectionCap>,
    stop: watch::Sender<bool>,
    accepting: Vec<JoinHandle<()>>,
    instance: Option<Instance>,
    announcement: Announcement,
}

/// Starts a daemon: it answers before this returns.
///
/// # Errors
///
/// Fails with the cause if the data directory has a daemon, a port is taken, the keyring cannot be
/// read, or the store cannot be recovered. Nothing is left listening then.
pub async fn serve(config: ServeConfig) -> Result<RunningDaemon, StartError> {
    let ServeConfig {
        home,
        data_dir,
        port,
        access_log,
        connections_max,
        mcp,
        mut options,
        configuration,
    } = config;
    let version = env!("CARGO_PKG_VERSION");
    // The moment of this start tells its events from those of an earlier daemon.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let hub = EventHub::new(u64::try_from(since.as_millis()).unwrap_or_default());
    options.events = Some(Arc::clone(&hub) as _);
    let app = Arc::new(compose(&home, &data_dir, options)?);
    // Claimed before anything is recovered or bound: two daemons on one directory would each finish what
    // the other does.
    let mut instance = Instance::claim(&data_dir, version).await?;
    let listeners = Listeners::bind(port).await?;
    // Bound but not yet accepting: whoever connects meanwhile waits in the system's queue, and is answered
    // from a store that is whole.
    recover(&app).await?;
    let api = format!("http://{}", listeners.api_address);
    let urls = Urls {
        console: Console::at(api.as_str()),
        api,
        preview: format!("http://{}", listeners.preview_address),
    };
    let console = HeaderValue::try_from(format!("{}/", urls.api));
    let (Ok(console), Ok(policies)) = (console, Policies::new(&urls.api, &urls.preview)) else {
        let message = "an address cannot stand in a header".to_owned();
        return Err(StartError::Table { message });
    };
    app.set_console(&urls.api);
    let mut chance = [0; 20];
    app.ports.entropy.fill(&mut chance)?;
    let (mut start, mut name) = ([0; 4], [0; 16]);
    name.copy_from_slice(&chance[..16]);
    start.copy_from_slice(&chance[16..]);
    let (place, name) = (instance.audience()?, InstanceId::generate(name));
    let audiences = Audiences { terminal: place.started(&name), console: place };
    let daemon = Arc::new(Daemon {
        routes: RouteIndex::new().map_err(|e| StartError::Table { message: e.to_string() })?,
        policies,
        hub,
        codes: Waiting::for_codes(),
        challenges: Waiting::for_challenges(),
        fingerprint: app.ports.sessions.daemon_key()?.fingerprint(),
        request_ids: RequestIds::new(u32::from_le_bytes(start)),
        access_log: AccessLog::start(access_log)
            .map_err(|source| StartError::AccessLog { source })?,
        in_flight: Arc::new(InFlight::default()),
        schedule_changed: tokio::sync::Notify::new(),
        mcp,
        urls,
        audiences,
        started_at: app.ports.clock.now(),
        started: Instant::now(),
        app,
    });
    let announcement = Announcement {
        url: daemon.urls.api.clone(),
        preview_url: daemon.urls.preview.clone(),
        pid: std::process::id(),
        version: version.to_owned(),
        instance: Some(name),
        configuration,
    };
    // Last: whoever reads it may connect at once.
    instance.announce(&announcement)?;
    let connections = ConnectionCap::new(connections_max.unwrap_or_else(connections_allowed));
    Ok(start_accepting(daemon, connections, listeners, console, (instance, announcement)))
}

/// Finishes what a crash left, and marks refreshes that nobody runs any more.
async fn recover(app: &App) -> Result<(), StartError> {
    let failed = |message: String| StartError::Recover { message };
    let recovered =
        od_app::refresh::recover(app).await.map_err(|error| failed(error.to_string()))?;
    for Unrecovered { project, artifact, error } in recovered.unrecovered {
        let artifact = artifact.as_ref().map(ArtifactId::as_str);
        tracing::warn!(%project, artifact, %error, "what a crash left could not be finished");
    }
    if let Err(error) = od_app::agent_sessions::recover(app).await {
        tracing::warn!(%error, "chats that an earlier daemon left could not be closed");
    }
    for (refresh, error) in recovered.left {
        tracing::warn!(%refresh, %error, "an abandoned refresh could not be closed");
    }
    Ok(())
}

fn start_accepting(
    daemon: Arc<Daemon>,
    connections: Arc<ConnectionCap>,
    listeners: Listeners,
    console: HeaderValue,
    (instance, announcement): (Instance, Announcement),
) -> RunningDaemon {
    let Listeners { api, api_address, preview, preview_address } = listeners;
    let (stop, stopping) = watch::channel(false);
    let guard = Guard::new(Door::Api, api_address, api_address);
    let api_door = Arc::new(ApiDoor::new(Arc::clone(&daemon), guard, console));
    let guard = Guard::new(Door::Preview, preview_address, api_address);
    let preview_door = Arc::new(PreviewDoor::new(Arc::clone(&daemon), guard));
    let (watched, to_watch) = watch::channel(Arc::from([]));
    let accepting = vec![
        tokio::spawn(accept::run(api, Arc::clone(&connections), api_door, stopping.clone())),
        tokio::spawn(accept::run(
            preview,
            Arc::clone(&connections),
            preview_door,
            stopping.clone(),
        )),
        tokio::spawn(clock_loop::run(Arc::clone(&daemon), watched, stopping.clone())),
        tokio::spawn(store_loop::run(Arc::clone(&daemon), stopping.clone())),
        tokio::spawn(change_loop::run(Arc::clone(&daemon), to_watch, stopping)),
    ];
    RunningDaemon { daemon, connections, stop, accepting, instance: Some(instance), announcement }
}

impl RunningDaemon {
    /// Returns the URL of API and console.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.daemon.urls.api
    }

    /// Returns the URL of the preview port.
    #[must_use]
    pub fn preview_url(&self) -> &str {
        &self.daemon.urls.preview
    }

    /// Returns what others are told of this daemon.
    #[must_use]
    pub fn announcement(&self) -> &Announcement {
        &self.announcement
    }

    /// Returns whom a token of the command line has to name to be taken here.
    #[must_use]
    pub fn audience(&self) -> &Audience {
        &self.daemon.audiences.terminal
    }

    /// Returns the use cases, for whoever runs in the daemon's process.
    #[must_use]
    pub fn app(&self) -> &Arc<App> {
        &self.daemon.app
    }

    /// Makes a one-time code; returns the console's URL with it in the fragment.
    ///
    /// # Errors
    ///
    /// Fails if the system gives no random bytes.
    pub fn console_url_with_code(&self) -> Result<String, EntropyError> {
        let mut entropy = [0; 16];
        self.daemon.app.ports.entropy.fill(&mut entropy)?;
        let code = Code::from_entropy(entropy);
        self.daemon.codes.add(code.as_str(), self.daemon.app.ports.clock.now());
        Ok(self.daemon.console_with_code(&code))
    }

    /// Returns how many connections are open and how many follow events.
    #[must_use]
    pub fn load(&self) -> (usize, usize) {
        (self.connections.count(), self.daemon.hub.follower_count())
    }

    /// Stops: no new connections, streams end, changes finish, a refresh is given a moment and then
    /// cancelled, the announcement is withdrawn. Returns within a few seconds whatever happens.
    pub async fn shutdown(mut self) -> Stopped {
        self.stop.send_replace(true);
        // Streams never end by themselves, and their connections are among those that are waited for
        // below.
        self.daemon.hub.close();
        od_app::agent_sessions::close_all(&self.daemon.app);
        for task in self.accepting.drain(..) {
            // It ends by itself; a panic in it has nothing left to tell.
            let _ = task.await;
        }
        if timeout(REFRESH_GRACE, self.daemon.in_flight.wait_until_idle()).await.is_err() {
            od_app::refresh::cancel_all(&self.daemon.app);
        }
        let rest = async {
            self.daemon.in_flight.wait_until_idle().await;
            // What the last refreshes had to tell has the same moment as they had.
            self.daemon.app.settle_notifications(REFRESH_GRACE).await;
            self.connections.wait_until_empty().await;
        };
        let stopped = match timeout(STOP_DEADLINE, rest).await {
            Ok(()) => Stopped::Complete,
            Err(_) => {
                let connections = self.connections.count();
                tracing::warn!(connections, "stopped before everybody had left");
                Stopped::Forced
            }
        };
        self.daemon.app.ports.maintenance.finish().await;
        // Withdrawn last: as long as the lock is held nobody starts a second daemon on the files that this
        // one may still write.
        drop(self.instance.take());
        stopped
    }
}
