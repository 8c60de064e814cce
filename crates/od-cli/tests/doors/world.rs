//! One daemon, and for each door a project that nothing else touches.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use od_app::artifacts::{Address, RollBack, RollBackTo};
use od_app::connectors::connect::Connect;
use od_app::projects::CreateProject;
use od_app::refresh::cancel::CancelRefresh;
use od_app::refresh::run::{Cause, RunRefresh};
use od_app::runs::{StartRun, StartedRun};
use od_app::{App, Caller, Mode};
use od_core::ids::{Audience, ConnectorId, ProjectId, TokenId};
use od_core::token::{Claims, Endpoint, Operation, ToolClaims};
#[cfg(feature = "real-postgres")]
use od_daemon::PasswordSources;
use od_daemon::{ComposeOptions, LogSink, Port, RunningDaemon, ServeConfig, SharedStore, serve};
#[cfg(feature = "real-postgres")]
use od_pgconn::cluster::{Cluster, PASSWORD};
#[cfg(feature = "real-postgres")]
use od_postgres::PgStore;
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::corpus::{BearerName, Before, Call, Meanwhile};
use crate::counted_clock::CountedClock;
use crate::provider::Provider;

/// A daemon on directories of its own.
pub(crate) struct World {
    dirs: TempDir,
    daemon: RunningDaemon,
    provider: Provider,
    clock: Arc<CountedClock>,
    held: Vec<JoinHandle<()>>,
    /// The server that keeps the artifacts; dropped after the daemon is.
    #[cfg(feature = "real-postgres")]
    cluster: Option<Cluster>,
}

/// What keeps the artifacts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Store {
    Files,
    #[cfg(feature = "real-postgres")]
    Postgres,
}

/// A project, the run kept for it, and the ids it has seen.
pub(crate) struct Place {
    pub(crate) project: ProjectId,
    pub(crate) root: PathBuf,
    pub(crate) runs: Vec<String>,
    pub(crate) ids: Vec<String>,
    pub(crate) kept_ids: Vec<(String, String)>,
    kept_run: Option<String>,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), Port::Any, None).await
    }

    pub(crate) async fn start_on(store: Store) -> Self {
        match store {
            Store::Files => Self::start().await,
            #[cfg(feature = "real-postgres")]
            Store::Postgres => {
                let cluster = Cluster::start(env!("CARGO_TARGET_TMPDIR"));
                let address = format!("postgres://postgres@127.0.0.1:{}/shop", cluster.port());
                let passwords = PasswordSources { password: Some(PASSWORD.to_owned()), file: None };
                let store = SharedStore { address: address.parse().unwrap(), passwords };
                let SharedStore { address, passwords } = store.clone();
                let tables =
                    PgStore::new(address, passwords, Arc::new(CountedClock::start()), [0; 16]);
                tables.migrate().await.unwrap();
                let dirs = tempfile::tempdir().unwrap();
                let world = Self::start_in(dirs, Port::Any, Some(store)).await;
                Self { cluster: Some(cluster), ..world }
            }
        }
    }

    async fn start_in(dirs: TempDir, port: Port, store: Option<SharedStore>) -> Self {
        let provider = Provider::start().await;
        let github_base_url = Some(provider.url.clone());
        let clock = Arc::new(CountedClock::start());
        let options = ComposeOptions {
            github_base_url,
            clock: Some(clock.clone()),
            store,
            ..ComposeOptions::default()
        };
        let config = ServeConfig {
            port,
            access_log: LogSink::Off,
            options,
            ..ServeConfig::new(dirs.path().join("home"), dirs.path().join("data"))
        };
        let daemon = serve(config).await.unwrap();
        Self {
            daemon,
            dirs,
            provider,
            clock,
            held: Vec::new(),
            #[cfg(feature = "real-postgres")]
            cluster: None,
        }
    }

    /// Stops the daemon and starts another at the same address.
    pub(crate) async fn restart(self) -> Self {
        let port = self.url().rsplit(':').next().unwrap().parse().unwrap();
        let Self { dirs, daemon, .. } = self;
        daemon.shutdown().await;
        Self::start_in(dirs, Port::Fixed(port), None).await
    }

    pub(crate) fn clock(&self) -> &CountedClock {
        &self.clock
    }

    pub(crate) fn shared_app(&self) -> Arc<App> {
        Arc::clone(self.daemon.app())
    }

    pub(crate) fn url(&self) -> &str {
        self.daemon.url()
    }

    /// The fingerprint of the daemon's key, as `od run` gives it to its command.
    pub(crate) fn daemon_id(&self) -> String {
        self.app().ports.sessions.daemon_key().unwrap().fingerprint()
    }

    /// Whom a token of the command line has to name.
    pub(crate) fn audience(&self) -> &Audience {
        self.daemon.audience()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.dirs.path()
    }

    pub(crate) fn app(&self) -> &App {
        self.daemon.app()
    }

    pub(crate) async fn stop(self) {
        self.daemon.shutdown().await;
    }

    /// Makes a project with a directory.
    pub(crate) async fn place(&self, name: &str) -> Place {
        let root = self.dirs.path().join(name);
        std::fs::create_dir_all(&root).unwrap();
        let root = root.canonicalize().unwrap();
        let request = CreateProject { id: None, name: name.to_owned(), root: Some(root.clone()) };
        let made = od_app::projects::create(self.app(), &Caller::Person, request).await.unwrap();
        let (runs, ids, kept_ids) = (Vec::new(), Vec::new(), Vec::new());
        Place { project: made.id, root, runs, ids, kept_ids, kept_run: None }
    }

    /// Returns the token that a call carries.
    pub(crate) async fn bearer(&self, place: &mut Place, which: BearerName) -> String {
        let app = self.app();
        if let (BearerName::Kept, Some(token)) = (which, &place.kept_run) {
            return token.clone();
        }
        let request = StartRun { project: place.project.clone(), agent: None };
        let started = od_app::runs::start(app, &Caller::Person, request).await.unwrap();
        place.runs.push(started.run.id.to_string());
        match which {
            BearerName::New => started.token,
            BearerName::Kept => place.kept_run.insert(started.token).clone(),
            BearerName::Ended => {
                od_app::runs::end(app, &Caller::Person, started.run.id.clone()).await.unwrap();
                started.token
            }
            BearerName::Garbage => "odt.v1.e30.AAAA".to_owned(),
            BearerName::Expired => {
                self.signed(&started, |claims| claims.expires_at = claims.issued_at)
            }
            BearerName::Lists => self.signed(&started, |claims| {
                claims.endpoints = vec![Endpoint::LiveArtifactsList];
            }),
            BearerName::Reads => self.signed(&started, |claims| {
                claims.operations = vec![Operation::LiveArtifactsList];
            }),
        }
    }

    /// Signs claims for a live run, changed.
    fn signed(&self, started: &StartedRun, change: impl FnOnce(&mut ToolClaims)) -> String {
        let ports = &self.app().ports;
        let mut claims = ToolClaims {
            token_id: TokenId::generate([7; 16]),
            run_id: started.run.id.clone(),
            project_id: started.run.project_id.clone(),
            endpoints: Endpoint::ALL.to_vec(),
            operations: Operation::ALL.to_vec(),
            issued_at: started.run.started_at,
            expires_at: started.run.started_at.plus_ms(60_000),
        };
        change(&mut claims);
        ports.tokens.sign(&Claims::Tool(claims)).unwrap()
    }

    /// Does what stands before a call, in one project.
    pub(crate) fn prepare(&self, place: &Place, before: &Before) {
        match before {
            Before::Write(files) => {
                for (name, content) in files {
                    let path = place.root.join(name);
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
                    std::fs::write(path, text).unwrap();
                }
            }
            Before::Commit(message) => commit(&place.root, message),
            Before::Damage(name) => self.damage(place, name),
            Before::Disconnect(_)
            | Before::Connect(_)
            | Before::Hold(_)
            | Before::Restore(..)
            | Before::Release => {}
        }
    }

    /// Makes an artifact's pointer unreadable, where the store keeps it.
    fn damage(&self, place: &Place, name: &str) {
        let id = place.id(name);
        #[cfg(feature = "real-postgres")]
        if let Some(cluster) = &self.cluster {
            cluster.execute("UPDATE od.store SET version = version + 1");
            cluster.execute(&format!(
                "UPDATE od.artifact SET pointer = '{{', version = (SELECT version FROM od.store) \
                    WHERE id = '{id}'"
            ));
            return;
        }
        let project = self.dirs.path().join("data/projects").join(place.project.as_str());
        let head = project.join(".live-artifacts").join(id).join("artifact.json");
        std::fs::write(head, "{").unwrap();
    }

    /// Brings a revision back, as a person in the console does.
    pub(crate) async fn restore(&self, place: &Place, before: &Before) {
        let Before::Restore(name, revision) = before else { return };
        let address = Address {
            project: Some(place.project.clone()),
            artifact: place.id(name).parse().unwrap(),
        };
        let to = RollBackTo::Revision((*revision).try_into().unwrap());
        let request = RollBack { address, to, if_revision: None };
        let done =
            od_app::artifacts::roll_back(self.app(), &Caller::Person, request, Mode::Commit).await;
        done.unwrap();
    }

    /// Starts a refresh that waits for its provider.
    pub(crate) async fn hold(&mut self, place: &Place, before: &Before) {
        let Before::Hold(name) = before else { return };
        let request = RunRefresh {
            caller: Caller::Person,
            project: place.project.clone(),
            artifact: place.id(name).parse().unwrap(),
            accept_drift: false,
            cause: Cause::Asked,
        };
        let app = Arc::clone(self.daemon.app());
        self.held.push(tokio::spawn(async move {
            assert!(
                od_app::refresh::run(&app, request, Mode::Commit).await.is_err(),
                "nobody answered it"
            );
        }));
        self.provider.wait_for_request().await;
    }

    /// Does what happens to a refresh while its provider keeps it waiting.
    pub(crate) fn meanwhile(
        &self,
        place: &Place,
        call: &Call,
    ) -> impl Future<Output = ()> + use<'_> {
        let planned = call.meanwhile.as_ref().map(|(name, what)| {
            let artifact = place.id(name).parse().unwrap();
            (CancelRefresh { project: place.project.clone(), artifact }, *what)
        });
        async move {
            let Some((request, what)) = planned else { return };
            self.provider.wait_for_request().await;
            match what {
                Meanwhile::Cancelled => {
                    od_app::refresh::cancel(self.app(), &Caller::Person, request).await.unwrap();
                }
                Meanwhile::Late => self.clock.time_refresh_out(),
            }
        }
    }

    /// Does what stands before a call, once for all.
    pub(crate) async fn decide(&mut self, before: &Before) {
        match before {
            Before::Release => {
                self.provider.release();
                for held in self.held.drain(..) {
                    held.await.unwrap();
                }
            }
            Before::Disconnect(name) => {
                let connector: ConnectorId = name.parse().unwrap();
                od_app::connectors::disconnect(self.app(), &Caller::Person, &connector)
                    .await
                    .unwrap();
            }
            Before::Connect(name) => {
                let request = Connect { connector: name.parse().unwrap(), secret: None };
                od_app::connectors::connect(self.app(), &Caller::Person, request).await.unwrap();
            }
            Before::Write(_)
            | Before::Commit(_)
            | Before::Damage(_)
            | Before::Restore(..)
            | Before::Hold(_) => {}
        }
    }
}

impl Place {
    /// Returns the id that was kept under a name.
    pub(crate) fn id(&self, name: &str) -> &str {
        let kept = self.kept_ids.iter().find(|(known, _)| known == name);
        &kept.unwrap_or_else(|| panic!("no artifact was kept as `{name}`")).1
    }

    /// Puts kept ids where `$name` stands.
    pub(crate) fn filled_in(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match text.strip_prefix('$') {
                Some(name) if !name.starts_with('.') => Value::from(self.id(name)),
                _ => value.clone(),
            },
            Value::Array(items) => items.iter().map(|item| self.filled_in(item)).collect(),
            Value::Object(fields) => Value::Object(
                fields.iter().map(|(name, item)| (name.clone(), self.filled_in(item))).collect(),
            ),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}

/// Commits everything, the same bytes wherever it is done.
fn commit(root: &Path, message: &str) {
    for arguments in [
        &["init", "--quiet", "--initial-branch", "main"][..],
        &["add", "--all"],
        &["commit", "--quiet", "--message", message],
    ] {
        let done = Command::new("git")
            .args(["-c", "commit.gpgsign=false"])
            .args(arguments)
            .current_dir(root)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .envs(["AUTHOR", "COMMITTER"].into_iter().flat_map(|who| {
                [
                    (format!("GIT_{who}_NAME"), "A"),
                    (format!("GIT_{who}_EMAIL"), "a@example.com"),
                    (format!("GIT_{who}_DATE"), "2026-04-30T00:00:00Z"),
                ]
            }))
            .status()
            .unwrap();
        assert!(done.success(), "git {arguments:?}");
    }
}
