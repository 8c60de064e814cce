//! The victim: a daemon with a project, an artifact and an open session.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use od_app::artifacts::{CreateArtifact, Reading, create};
use od_app::projects::{self, CreateProject};
use od_app::{Caller, Mode};
use od_core::error::Failure;
use od_core::ids::{ArtifactId, ProjectId};
use od_core::token::{Claims, PreviewClaims, Variant};
use od_daemon::{LogSink, Port, RunningDaemon, ServeConfig, serve};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A daemon in this process.
pub(crate) struct Victim {
    runtime: Option<Runtime>,
    running: Option<RunningDaemon>,
    dirs: TempDir,
    project: ProjectId,
}

impl Victim {
    pub(crate) fn start() -> Self {
        let dirs = tempfile::tempdir().unwrap();
        let runtime = Runtime::new().unwrap();
        let config = ServeConfig {
            port: Port::Any,
            access_log: LogSink::Off,
            ..ServeConfig::new(dirs.path().join("home"), dirs.path().join("data"))
        };
        let (running, project) = runtime.block_on(async {
            let running = serve(config).await.unwrap();
            let request = CreateProject { id: None, name: "Secret plans".to_owned(), root: None };
            let project = projects::create(running.app(), &Caller::Person, request).await.unwrap();
            (running, project.id)
        });
        Self { runtime: Some(runtime), running: Some(running), dirs, project }
    }

    pub(crate) fn stop(mut self) {
        let running = self.running.take().unwrap();
        self.runtime().block_on(running.shutdown());
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().unwrap()
    }

    fn running(&self) -> &RunningDaemon {
        self.running.as_ref().unwrap()
    }

    pub(crate) fn api(&self) -> SocketAddr {
        self.running().url().strip_prefix("http://").unwrap().parse().unwrap()
    }

    pub(crate) fn api_port(&self) -> String {
        self.api().port().to_string()
    }

    /// A preview URL that the attacker has somehow got hold of.
    pub(crate) fn ticket(&self) -> String {
        self.ticket_of(
            "<!doctype html><html><head><title>x</title></head><body>Secret plans</body></html>",
        )
    }

    /// A preview of a page that asks the attacker for everything a template may name.
    pub(crate) fn ticket_of_page_that_leaks(&self, attacker: &str) -> String {
        self.ticket_of(&format!(
            "<!doctype html><html><head><title>x</title><link rel=\"stylesheet\" href=\"{attacker}/style\">\
             <style>body {{ background: url({attacker}/css) }} @import url({attacker}/import);</style></head>\
             <body><h1>Leaky</h1><img src=\"{attacker}/image\" alt=\"\"><video src=\"{attacker}/video\" poster=\"{attacker}/poster\"></video>\
             <form action=\"{attacker}/form\"><input name=\"a\"></form></body></html>"
        ))
    }

    /// A preview of a page that no compiler has seen: the disk holds it, and nothing else is left.
    ///
    /// This is what an attacker gets who has found a way around the template compiler.
    pub(crate) fn ticket_of_hostile_page(&self, page: &str) -> (ArtifactId, String) {
        let id = self.create("<!doctype html><title>x</title><p>x</p>", &json!({}));
        let live = self.dirs.path().join("data/projects").join(self.project.as_str());
        let own = live.join(".live-artifacts").join(id.as_str());
        // The copies of a commit are placed behind its answer: they must not overwrite the attack.
        let deadline = Instant::now() + Duration::from_secs(30);
        while !own.join("last-good").exists() || has_entries(&own.join("pending")) {
            assert!(Instant::now() < deadline, "the commit is never rolled forward");
            std::thread::yield_now();
        }
        fs::write(own.join("index.html"), page).unwrap();
        for file in ["artifact.json", "last-good"] {
            fs::write(own.join(file), "gone").unwrap();
        }
        drop(fs::remove_dir_all(own.join("pending")));
        let url = self.sign(&id);
        (id, url)
    }

    /// Asks the preview port for a page as a navigation does, and returns the whole answer.
    pub(crate) fn preview(&self, url: &str) -> String {
        let (host, path) = url.trim_start_matches("http://").split_once('/').unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn ticket_of(&self, template: &str) -> String {
        self.sign(&self.create(template, &json!({})))
    }

    /// Returns whether a template can be submitted: one with the marks of another template language is
    /// refused with what was meant, although the compiler takes them for text.
    pub(crate) fn takes(&self, template: &str, data: &Value) -> bool {
        match self.try_create(template, data) {
            Ok(_) => true,
            Err(failure) => {
                let said = format!("{:?}", failure.details);
                assert!(said.contains("of another language"), "{failure:#?}\n{template}");
                false
            }
        }
    }

    /// Makes an artifact.
    pub(crate) fn create(&self, template: &str, data: &Value) -> ArtifactId {
        self.try_create(template, data)
            .unwrap_or_else(|failure| panic!("{failure:#?}\n{template}\n{data}"))
    }

    fn try_create(&self, template: &str, data: &Value) -> Result<ArtifactId, Failure> {
        let body = json!({
            // What the first format has means the same in the second.
            "input": { "title": "Page", "document": { "format": "html_template_v2", "dataJson": data } },
            "templateHtml": template,
        });
        let request = CreateArtifact {
            project: self.project.clone(),
            body: body.into(),
            reading: Reading::Now,
        };
        let created = create(self.running().app(), &Caller::Person, request, Mode::Commit);
        let created = self.runtime().block_on(created);
        created.map(|created| created.stored.id.clone()).map_err(Failure::from)
    }

    /// Returns where an artifact's page is for five minutes.
    pub(crate) fn sign(&self, artifact: &ArtifactId) -> String {
        let app = self.running().app();
        let now = app.ports.clock.now();
        let claims = Claims::Preview(PreviewClaims {
            project_id: self.project.clone(),
            artifact_id: artifact.clone(),
            variant: Variant::Rendered,
            snapshot: None,
            revision: None,
            issued_at: now,
            expires_at: now.plus_ms(300_000),
        });
        format!(
            "{}/preview/{}",
            self.running().preview_url(),
            app.ports.tokens.sign(&claims).unwrap()
        )
    }

    /// Where the person sees an artifact, with a code that opens the console.
    pub(crate) fn console(&self) -> String {
        self.running().console_url_with_code().unwrap()
    }

    pub(crate) fn place(&self, artifact: &ArtifactId) -> String {
        format!("#/p/{}/live/{artifact}/preview", self.project)
    }

    /// Lets a browser act.
    pub(crate) fn while_browsing<T>(&self, act: impl Future<Output = T>) -> T {
        self.runtime().block_on(act)
    }

    /// Everything durable that an attack could have changed: projects and artifacts, by name and bytes.
    ///
    /// Without the copies that a commit rolls forward behind its answer.
    pub(crate) fn state(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut pending = vec![self.dirs.path().to_owned()];
        while let Some(path) = pending.pop() {
            if path.is_dir() {
                pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            } else if is_truth(&path) {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
        found
    }
}

impl Drop for Victim {
    /// A test that failed must not wait for a daemon that nobody has told to stop.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn has_entries(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

fn is_truth(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    matches!(name, "project.json" | "artifact.json" | "keyring.json" | "daemon.json")
        || path
            .components()
            .any(|part| part.as_os_str() == "runs" || part.as_os_str() == "connectors")
}
