//! The victim: a daemon with a project, an artifact and an open session.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use od_app::Caller;
use od_app::artifacts::{CreateArtifact, create};
use od_app::projects::{self, CreateProject};
use od_core::ids::ProjectId;
use od_core::token::{Claims, PreviewClaims, Variant};
use od_daemon::{LogSink, Port, RunningDaemon, ServeConfig, serve};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A daemon in this process.
pub(crate) struct Victim {
    runtime: Runtime,
    running: RunningDaemon,
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
        Self { runtime, running, dirs, project }
    }

    pub(crate) fn stop(self) {
        self.runtime.block_on(self.running.shutdown());
    }

    pub(crate) fn api(&self) -> SocketAddr {
        self.running.url().strip_prefix("http://").unwrap().parse().unwrap()
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

    fn ticket_of(&self, template: &str) -> String {
        let body = json!({
            "input": { "title": "Page", "document": { "format": "html_template_v1", "dataJson": {} } },
            "templateHtml": template,
        });
        let app = self.running.app();
        let request = CreateArtifact { project: self.project.clone(), body };
        let created = self.runtime.block_on(create(app, &Caller::Person, request)).unwrap();
        let now = app.ports.clock.now();
        let ticket = app
            .ports
            .tokens
            .sign(&Claims::Preview(PreviewClaims {
                project_id: self.project.clone(),
                artifact_id: created.detail.stored.id.clone(),
                variant: Variant::Rendered,
                snapshot: None,
                issued_at: now,
                expires_at: now.plus_ms(300_000),
            }))
            .unwrap();
        format!("{}/preview/{ticket}", self.running.preview_url())
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

fn is_truth(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    matches!(name, "project.json" | "artifact.json" | "keyring.json" | "daemon.json")
        || path
            .components()
            .any(|part| part.as_os_str() == "runs" || part.as_os_str() == "connectors")
}
