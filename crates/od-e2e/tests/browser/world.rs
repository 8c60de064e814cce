//! A daemon on temporary directories, a browser, and what the tests say often.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use od_agents::AgentsConfig;
use od_app::artifacts::{CreateArtifact, Reading};
use od_app::projects::CreateProject;
use od_app::{Caller, Mode};
use od_core::ids::{ArtifactId, ProjectId, RunId, Timestamp};
use od_daemon::{ComposeOptions, LogSink, Port, RunningDaemon, ServeConfig, serve};
use od_e2e::browser::{Chromium, Tab};
use od_ports::Clock;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fake_github::FakeGitHub;

/// The system's clock, plus what a test adds to it.
#[derive(Debug, Default)]
pub(crate) struct MovableClock {
    ahead_ms: AtomicI64,
}

impl MovableClock {
    pub(crate) fn advance(&self, hours: i64) {
        self.ahead_ms.fetch_add(hours * 3_600_000, Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for MovableClock {
    fn now(&self) -> Timestamp {
        let since = std::time::UNIX_EPOCH.elapsed().unwrap();
        let now = i64::try_from(since.as_millis()).unwrap();
        Timestamp::from_unix_ms(now + self.ahead_ms.load(Ordering::SeqCst))
    }

    fn zone(&self) -> od_core::format::Zone {
        // The browser's is the machine's too.
        od_fs::SystemClock.zone()
    }

    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

pub(crate) struct World {
    pub(crate) browser: Chromium,
    pub(crate) github: FakeGitHub,
    pub(crate) clock: Arc<MovableClock>,
    daemon: Option<RunningDaemon>,
    port: u16,
    home: TempDir,
    data: TempDir,
    files: TempDir,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::start_in(Chromium::start().await).await
    }

    pub(crate) async fn start_in(browser: Chromium) -> Self {
        let mut world = Self {
            browser,
            github: FakeGitHub::start().await,
            clock: Arc::default(),
            daemon: None,
            port: two_free_ports(),
            home: tempfile::tempdir().unwrap(),
            data: tempfile::tempdir().unwrap(),
            files: tempfile::tempdir().unwrap(),
        };
        world.start_daemon().await;
        world
    }

    pub(crate) async fn start_daemon(&mut self) {
        let mut config = ServeConfig::new(self.home.path(), self.data.path());
        config.port = Port::Fixed(self.port);
        config.access_log = LogSink::Off;
        config.options = ComposeOptions {
            github_base_url: Some(self.github.url.clone()),
            clock: Some(Arc::clone(&self.clock) as _),
            agents: self.agents(),
            ..ComposeOptions::default()
        };
        self.daemon = Some(serve(config).await.unwrap());
    }

    /// Agents are looked for where a test installs them, and nowhere else on this machine.
    fn agents(&self) -> AgentsConfig {
        let home = self.home.path().join("agents");
        let path = std::env::join_paths([home.join("bin"), "/usr/bin".into(), "/bin".into()]);
        AgentsConfig {
            supervisor: Some(env!("CARGO_BIN_EXE_od-fake-agent").into()),
            path: Some(path.unwrap()),
            home: Some(home),
        }
    }

    /// Installs the fake agent as Gemini, in a mode.
    pub(crate) fn install_agent(&self, mode: &str) {
        let home = self.home.path().join("agents");
        std::fs::create_dir_all(home.join("bin")).unwrap();
        std::fs::write(home.join("mode"), mode).unwrap();
        let program = home.join("bin/gemini");
        if !program.exists() {
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_od-fake-agent"), program).unwrap();
        }
    }

    pub(crate) async fn stop_daemon(&mut self) {
        self.daemon.take().unwrap().shutdown().await;
    }

    pub(crate) fn daemon(&self) -> &RunningDaemon {
        self.daemon.as_ref().unwrap()
    }

    /// Makes a project whose directory holds these files.
    pub(crate) async fn project(&self, name: &str, files: &[(&str, Value)]) -> ProjectId {
        let root = self.files.path().join(name);
        std::fs::create_dir_all(&root).unwrap();
        let request = CreateProject {
            id: Some(name.parse().unwrap()),
            name: format!("Project {name}"),
            root: Some(root),
        };
        let made =
            od_app::projects::create(self.daemon().app(), &Caller::Person, request).await.unwrap();
        for (path, value) in files {
            self.write(name, path, &value.to_string());
        }
        made.id
    }

    pub(crate) fn path(&self, project: &str, file: &str) -> PathBuf {
        self.files.path().join(project).join(file)
    }

    pub(crate) fn write(&self, project: &str, file: &str, text: &str) {
        let path = self.path(project, file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Where a file of an artifact is kept.
    pub(crate) fn stored(&self, project: &ProjectId, artifact: &ArtifactId, file: &str) -> PathBuf {
        let live = self.data.path().join("projects").join(project.as_str()).join(".live-artifacts");
        live.join(artifact.as_str()).join(file)
    }

    /// Edits a file of an artifact by hand, once the daemon has put down its own copies: a commit answers
    /// before they are all in place.
    pub(crate) async fn edit(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        file: &str,
        text: &str,
    ) {
        let [pending, last_good] =
            ["pending", "last-good"].map(|name| self.stored(project, artifact, name));
        let is_empty = || {
            let no_frame = std::fs::read_dir(&pending).map_or(true, |mut all| all.next().is_none());
            no_frame && last_good.exists()
        };
        let mut tick = tokio::time::interval(Duration::from_millis(15));
        let rolled = async {
            while !is_empty() {
                tick.tick().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), rolled).await.expect("copies in place");
        std::fs::write(self.stored(project, artifact, file), text).unwrap();
    }

    /// Makes an artifact as the person would.
    pub(crate) async fn artifact(&self, project: &ProjectId, body: Value) -> ArtifactId {
        self.artifact_by(&Caller::Person, project, body).await
    }

    /// Makes an artifact as an agent would.
    pub(crate) async fn agent_artifact(&self, project: &ProjectId, body: Value) -> ArtifactId {
        let run: RunId = "run-00000000000000000000000000000001".parse().unwrap();
        let caller =
            Caller::Agent { run, project: project.clone(), door: od_core::ledger::Door::Mcp };
        self.artifact_by(&caller, project, body).await
    }

    async fn artifact_by(&self, caller: &Caller, project: &ProjectId, body: Value) -> ArtifactId {
        let request =
            CreateArtifact { project: project.clone(), body: body.into(), reading: Reading::Now };
        let app = self.daemon().app();
        match od_app::artifacts::create(app, caller, request, Mode::Commit).await {
            Ok(made) => made.stored.id.clone(),
            Err(error) => panic!("{:#?}", od_core::error::Failure::from(error)),
        }
    }

    /// Opens the console with a fresh code, at a place.
    pub(crate) async fn console(&self, place: &str) -> Tab {
        let tab = self.browser.tab().await;
        tab.follow(&self.daemon().console_url_with_code().unwrap()).await;
        tab.until("document.querySelector('.link.live')").await;
        if !place.is_empty() {
            tab.go(place).await;
        }
        tab
    }

    /// Fails unless the tab behaved and asked only this daemon.
    pub(crate) fn assert_clean(&self, tab: &Tab, expected: &[&str]) {
        let (api, preview) = (self.daemon().url(), self.daemon().preview_url());
        tab.assert_clean(&[api, preview], expected);
    }

    pub(crate) async fn end(mut self) {
        self.browser.stop().await;
        if let Some(daemon) = self.daemon.take() {
            daemon.shutdown().await;
        }
    }
}

/// Finds two free ports side by side: the daemon takes the second for previews.
///
/// Below those that the system hands out by itself: one of them might be given to somebody else between two
/// starts of the daemon. Tests run in processes of their own, so each looks at another place first.
fn two_free_ports() -> u16 {
    let is_free = |port: u16| std::net::TcpListener::bind(("127.0.0.1", port)).is_ok();
    let first = u16::try_from(std::process::id() % 10_000).unwrap() * 2;
    let pairs = (0..20_000).step_by(2).map(|next| 10_000 + (first + next) % 20_000);
    pairs.into_iter().find(|port| is_free(*port) && is_free(port + 1)).unwrap()
}

/// Where an artifact is in the console.
pub(crate) fn place(project: &ProjectId, artifact: &ArtifactId, tab: &str) -> String {
    format!("#/p/{project}/live/{artifact}/{tab}")
}

/// What the browser logs for a request for an artifact that is no longer there.
pub(crate) fn gone(artifact: &ArtifactId) -> String {
    format!("404 /api/live-artifacts/{artifact}")
}

/// What the browser logs for a page of an artifact that is no longer there.
pub(crate) const PAGE_GONE: &str = "404 /preview/";

pub(crate) const TEMPLATE: &str = "<!doctype html><html><head><title>{{data.title}}</title></head>\
    <body><h1>{{data.title}}</h1><p>{{data.total}}</p><table><tbody>\
    <tr data-od-repeat=\"row in data.rows\"><td>{{row.id}}</td><td>{{row.state}}</td></tr>\
    </tbody></table></body></html>";

/// An artifact that reads a file of its project.
pub(crate) fn from_file(title: &str, file: &str, data: &Value) -> Value {
    json!({
        "input": {
            "title": title,
            "document": {
                "format": "html_template_v1",
                "dataJson": data,
                "sourceJson": {
                    "type": "local_file",
                    "input": { "path": file },
                    "refreshPermission": "manual_refresh_granted_for_read_only",
                },
            },
        },
        "templateHtml": TEMPLATE,
    })
}

/// An artifact that lists releases.
pub(crate) fn from_github(title: &str) -> Value {
    json!({
        "input": {
            "title": title,
            "document": {
                "format": "html_template_v1",
                "dataJson": { "releases": [] },
                "sourceJson": {
                    "type": "connector_tool",
                    "input": { "owner": "octo", "repo": "demo" },
                    "connector": { "connectorId": "github", "toolName": "github.list_releases" },
                    "outputMapping": { "dataPaths": [{ "from": "items", "to": "releases" }] },
                    "refreshPermission": "manual_refresh_granted_for_read_only",
                },
            },
        },
        "templateHtml": "<!doctype html><html><body><h1>Releases</h1><ul>\
            <li data-od-repeat=\"release in data.releases\">{{release.tag}}</li></ul></body></html>",
    })
}

/// Data as [`TEMPLATE`] wants it.
pub(crate) fn sample(total: u64) -> Value {
    json!({
        "title": "Fleet", "total": total,
        "rows": [
            { "id": "a-1", "state": "ready" },
            { "id": "a-2", "state": "busy" },
            { "id": "a-3", "state": "ready" },
        ],
    })
}

/// A path below the workspace's target directory.
pub(crate) fn target(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target").join(path)
}
