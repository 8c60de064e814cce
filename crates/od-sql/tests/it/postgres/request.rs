//! The request about table counts, whole: a daemon's adapters, a real server, the page before and after.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use od_app::artifacts::{CreateArtifact, Reading};
use od_app::preview::PageRequest;
use od_app::projects::CreateProject;
use od_app::refresh::run::{Cause, RunRefresh};
use od_app::services::AddService;
use od_app::{App, Caller, Mode};
use od_core::connector::ServiceKind;
use od_core::error::Failure;
use od_core::ids::{ArtifactId, ProjectId, Timestamp};
use od_core::json::{Message, Value};
use od_core::token::Variant;
use od_daemon::{ComposeOptions, compose};
use od_ports::Clock;
use od_ports::access::credential_vault::Secret;
use tempfile::TempDir;

use super::page_text::text_of;
use super::role;
use od_pgconn::cluster::Cluster;

/// A clock that a test moves and whose sleeps are real: a deadline is not over at once.
#[derive(Debug)]
struct WeekClock(AtomicI64);

#[async_trait]
impl Clock for WeekClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.0.load(Ordering::Relaxed))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/requests/table-counts")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

fn project() -> ProjectId {
    "web".parse().unwrap()
}

async fn create(app: &App) -> ArtifactId {
    let mut body: Value = serde_json::from_str(&read("artifact.json")).unwrap();
    body["templateHtml"] = read("template.html").into();
    let body = Message::read(body.to_string().as_bytes()).unwrap();
    let request = CreateArtifact { project: project(), body, reading: Reading::Now };
    let created = od_app::artifacts::create(app, &Caller::Person, request, Mode::Commit).await;
    created.unwrap_or_else(|err| panic!("{:?}", Failure::from(err))).stored.id.clone()
}

async fn refreshed_text(app: &App, artifact: &ArtifactId) -> String {
    let request = RunRefresh {
        caller: Caller::Person,
        project: project(),
        artifact: artifact.clone(),
        accept_drift: false,
        cause: Cause::Asked,
    };
    let refreshed = od_app::refresh::run(app, request, Mode::Commit).await;
    refreshed.unwrap_or_else(|err| panic!("{:?}", Failure::from(err)));
    let request = PageRequest {
        project: Some(project()),
        artifact: artifact.clone(),
        variant: Variant::Rendered,
        snapshot: None,
        revision: None,
    };
    let page = od_app::preview::page(app, request).await.unwrap();
    text_of(&String::from_utf8_lossy(&page.bytes))
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_counted_with_their_change_since_last_week() {
    let cluster = Cluster::start(env!("CARGO_TARGET_TMPDIR"));
    role(&cluster, "reader");
    cluster.execute(&read("before/shop.sql"));
    let place = TempDir::new().unwrap();
    let clock = Arc::new(WeekClock(AtomicI64::new(1_777_507_200_000)));
    let options = ComposeOptions { clock: Some(clock.clone()), ..ComposeOptions::default() };
    let app = compose(&place.path().join("home"), &place.path().join("data"), options).unwrap();
    let request = CreateProject { id: Some(project()), name: "Web".to_owned(), root: None };
    od_app::projects::create(&app, &Caller::Person, request).await.unwrap();
    let request = AddService {
        name: "shop".parse().unwrap(),
        kind: ServiceKind::Postgres,
        url: None,
        header: None,
        secret: Some(Secret::parse(&cluster.url("reader")).unwrap()),
    };
    od_app::services::add(&app, &Caller::Person, request).await.unwrap();

    let artifact = create(&app).await;
    clock.0.fetch_add(60_000, Ordering::Relaxed);
    assert_eq!(refreshed_text(&app, &artifact).await, read("before.txt").trim());
    cluster.execute(&read("after/shop.sql"));
    clock.0.fetch_add(8 * 86_400_000, Ordering::Relaxed);
    assert_eq!(refreshed_text(&app, &artifact).await, read("after.txt").trim());
}
