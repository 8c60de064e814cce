//! Things people ask an agent for, each made once and refreshed without the agent: what the page shows
//! before and after a change at the source. `fixtures/requests/` holds a folder for each.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use od_app::artifacts::{CreateArtifact, CreatedArtifact, Reading};
use od_app::connectors::connect;
use od_app::connectors::connect::Connect;
use od_app::preview::PageRequest;
use od_app::{Caller, Mode};
use od_core::connector::RegisteredService;
use od_core::error::Failure;
use od_core::ids::{ArtifactId, Timestamp};
use od_core::json::{Message, Value};
use od_core::token::Variant;
use od_ports::access::credential_vault::{Connection, Secret, Standing};
use od_ports::service_registry::vault_key;

use crate::http_server::{Answer, TestServer};
use crate::page_text::text_of;
use crate::world::{Plan, World, project};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/requests")
}

/// The resources that the stand-in serves, by path and query.
type Resources = Arc<Mutex<BTreeMap<String, Value>>>;

/// One request, ready to be asked for.
struct Asked {
    folder: PathBuf,
    world: World,
    resources: Resources,
    server: Option<Value>,
    _stand_in: TestServer,
}

impl Asked {
    async fn new(name: &str) -> Self {
        let folder = fixtures().join(name);
        let resources: Resources = Arc::default();
        let served = Arc::clone(&resources);
        let stand_in = TestServer::start(move |seen| {
            let served = served.lock().unwrap();
            let found = served.get(&seen.target).or_else(|| served.get(seen.path()));
            match found {
                Some(resource) => {
                    let text = |key: &str| resource[key].as_str().unwrap_or_default().to_owned();
                    Answer::text(200, &text("text")).with("content-type", &text("type"))
                }
                None => Answer::text(404, ""),
            }
        })
        .await;
        let world = World::with(Plan { github: stand_in.url(), ..Plan::default() }).await;
        let server = fs::read(folder.join("server.json")).ok();
        let server: Option<Value> = server.map(|bytes| serde_json::from_slice(&bytes).unwrap());
        if server.as_ref().is_some_and(|server| server["github"] == true) {
            let request = Connect { connector: "github".parse().unwrap(), secret: None };
            connect(&world.app, &Caller::Person, request).await.unwrap();
        }
        for service in server.iter().flat_map(|it| it["services"].as_array().unwrap()) {
            register(&world, service, &stand_in.url()).await;
        }
        Self { folder, world, resources, server, _stand_in: stand_in }
    }

    /// Puts the source into its state `before` or `after`.
    fn set(&self, state: &str) {
        if let Some(server) = &self.server {
            let resources = server[state].as_object().unwrap().clone();
            *self.resources.lock().unwrap() = resources.into_iter().collect();
            for tag in server["tags"][state].as_array().into_iter().flatten() {
                tag_at(&self.world.root(), tag[0].as_str().unwrap(), tag[1].as_str().unwrap());
            }
        }
        copy(&self.folder.join(state), &self.world.root());
        if self.folder.ends_with("slow-endpoints") {
            fs::write(self.world.root().join("logs.csv"), log(state == "after")).unwrap();
        }
    }

    async fn create(&self) -> Result<CreatedArtifact, Failure> {
        let bytes = fs::read(self.folder.join("artifact.json")).unwrap();
        let mut body: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(body["input"]["document"]["format"], "html_template_v2");
        let template = fs::read_to_string(self.folder.join("template.html")).unwrap();
        body["templateHtml"] = template.into();
        let body = Message::read(body.to_string().as_bytes()).unwrap();
        let request = CreateArtifact { project: project(), body, reading: Reading::Now };
        let created =
            od_app::artifacts::create(&self.world.app, &Caller::Person, request, Mode::Commit);
        created.await.map_err(Failure::from)
    }

    async fn refreshed_text(&self, artifact: &ArtifactId) -> String {
        self.world.clock.advance_ms(60_000);
        let refreshed = self.world.refresh(artifact).await;
        refreshed
            .unwrap_or_else(|err| panic!("{}: {:?}", self.folder.display(), Failure::from(err)));
        let request = PageRequest {
            project: Some(project()),
            artifact: artifact.clone(),
            variant: Variant::Rendered,
            snapshot: None,
            revision: None,
        };
        let page = od_app::preview::page(&self.world.app, request).await.unwrap();
        text_of(&String::from_utf8_lossy(&page.bytes))
    }
}

async fn register(world: &World, service: &Value, url: &str) {
    let name: od_core::connector::ServiceName = service["name"].as_str().unwrap().parse().unwrap();
    let header = service["header"].as_str().map(|header| header.parse().unwrap());
    let at = Timestamp::from_unix_ms(0);
    let (has_secret, key) = (header.is_some(), vault_key(&name));
    let service = RegisteredService { name, url: url.parse().unwrap(), header, registered_at: at };
    world.app.ports.services.put(service).await.unwrap();
    if has_secret {
        let connection = Connection {
            connector: key,
            standing: Standing::Connected,
            account_label: None,
            changed_at: at,
        };
        let secret = Secret::parse("request-canary-0123456789").unwrap();
        world.app.ports.vault.put(connection, Some(secret)).await.unwrap();
    }
}

/// Makes a commit of that time in the project's repository, and a tag of it.
fn tag_at(root: &Path, tag: &str, time: &str) {
    if !root.join(".git").exists() {
        git(root, &["init", "--quiet"], time);
    }
    git(root, &["commit", "--quiet", "--allow-empty", "-m", tag], time);
    git(root, &["tag", tag], time);
}

fn git(root: &Path, args: &[&str], time: &str) {
    let done = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_DATE", time)
        .env("GIT_COMMITTER_DATE", time)
        .output()
        .unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Copies the files of a state; the SQL of a database is run instead.
fn copy(from: &Path, to: &Path) {
    let Ok(entries) = fs::read_dir(from) else { return };
    for entry in entries {
        let (path, name) = {
            let entry = entry.unwrap();
            (entry.path(), entry.file_name())
        };
        let name = name.to_str().unwrap().to_owned();
        if path.is_dir() {
            fs::create_dir_all(to.join(&name)).unwrap();
            copy(&path, &to.join(&name));
        } else if let Some(database) = name.strip_suffix(".sql") {
            let connection = rusqlite::Connection::open(to.join(database)).unwrap();
            connection.execute_batch(&fs::read_to_string(&path).unwrap()).unwrap();
        } else {
            fs::copy(&path, to.join(&name)).unwrap();
        }
    }
}

/// A log of 100,000 calls of 50 endpoints; after a change the first one is slow.
fn log(is_slow: bool) -> String {
    let mut text = String::from("path,ms\n");
    for call in 0..100_000_u32 {
        let endpoint = call % 50;
        let extra = if is_slow && endpoint == 0 { 10_000 } else { 0 };
        text += &format!("/api/{endpoint},{}\n", endpoint * 10 + call / 50 % 100 + extra);
    }
    text
}

/// Asks for a page, and reads it before and after the source changed.
async fn check(name: &str) {
    let asked = Asked::new(name).await;
    asked.set("before");
    let created = asked.create().await.unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
    let want = |state: &str| {
        fs::read_to_string(asked.folder.join(format!("{state}.txt"))).unwrap().trim().to_owned()
    };
    let artifact = &created.stored.id;
    assert_eq!(asked.refreshed_text(artifact).await, want("before"), "{name}: before");
    asked.set("after");
    assert_eq!(asked.refreshed_text(artifact).await, want("after"), "{name}: after");
}

macro_rules! requests {
    ($($name:ident = $folder:literal,)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                check($folder).await;
            }
        )*

        #[test]
        fn every_request_is_asked_for() {
            let mut folders: Vec<String> = fs::read_dir(fixtures())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            folders.sort();
            // The crate of the SQL adapters has the PostgreSQL to ask about its tables.
            let mut asked = vec!["table-counts".to_owned(), $($folder.to_owned()),*];
            asked.sort();
            assert_eq!(folders, asked);
        }
    };
}

requests! {
    issues_burn_down_by_week = "burn-down",
    failures_are_counted_by_day_and_job = "ci-failures",
    costs_of_two_files_are_compared = "cost-report",
    coverage_is_grouped_by_package = "coverage",
    a_board_has_its_columns = "jira-board",
    a_spreadsheet_gives_its_headlines = "kpi",
    three_feeds_are_one_list = "news",
    objectives_are_grouped_by_owner = "okr",
    orders_of_a_database_are_joined = "orders",
    tags_and_releases_are_one_calendar = "releases",
    endpoints_of_a_large_log_are_ranked = "slow-endpoints",
    a_sprint_is_told_by_assignee = "sprint-status",
    todos_have_a_trend = "todos",
    tokens_are_counted_in_the_code = "token-coverage",
    services_are_watched = "uptime",
    quotes_have_their_change = "watchlist",
    three_cities_are_one_table = "weather",
}
