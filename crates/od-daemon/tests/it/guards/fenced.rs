//! Nothing of the daemon's own is given through any route, tool or source.
//!
//! What is asked comes from the tables themselves: every route with every parameter, every tool of
//! the catalogue with every field of its input, every kind of source. A new one is asked without
//! anybody remembering it, or does not compile here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use od_app::Caller;
use od_app::projects::{CreateProject, create};
use od_core::artifact::SourceType;
use od_daemon::{ComposeOptions, ServeConfig, serve};
use od_ports::access::credential_vault::{Connection, Secret, Standing};
use od_wire::route::{Access, Operation, ROUTES, Route};
use serde_json::{Value, json};

use crate::raw_client::Answer;
use crate::test_daemon::{TestDaemon, config, create_body};

/// Where the project's root leads that it must not.
const PATHS: [&str; 17] = [
    "home/keys/keyring.json",
    "home/keys/daemon.key",
    "home/connectors/vault.key",
    "home/connectors/credentials.enc",
    "linked-home/keys/keyring.json",
    "linked.json",
    "hard.json",
    ".git/marked.json",
    "sub/.git/marked.json",
    ".live-artifacts/marked.json",
    "sub/.live-artifacts/marked.json",
    "data/daemon.json",
    "data/marked.json",
    "data/projects/everything/project.json",
    "../outside.json",
    "sub/../../outside.json",
    "/proc/self/environ",
];
/// What stands in every file that must not be read.
const MARK: &str = "fenced-mark-7391";
/// What is in the vault.
const VAULT_SECRET: &str = "vault-secret-5517";
/// What stands in the one that may be.
const OPEN_MARK: &str = "open-mark-2846";
/// Calls of one run before it would be told to wait.
const CALLS_PER_RUN: usize = 8;

struct Asker {
    daemon: TestDaemon,
    project: String,
    /// Texts that no answer may hold.
    secrets: Vec<String>,
    run: Option<(String, usize)>,
    /// How often each way of asking gave what may be given: the proof that it asks at all.
    given: BTreeMap<String, usize>,
    asked: usize,
}

fn mark(path: PathBuf) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!(r#"{{ "mark": "{MARK}" }}"#)).unwrap();
}

/// Lays a root around everything that must not be seen: the home, the data directory, and links.
fn lay_out(root: &Path) {
    for path in [
        ".git/marked.json",
        "sub/.git/marked.json",
        ".live-artifacts/marked.json",
        "sub/.live-artifacts/marked.json",
        "data/marked.json",
    ] {
        mark(root.join(path));
    }
    mark(root.parent().unwrap().join("outside.json"));
    std::fs::write(root.join("open.json"), format!(r#"{{ "mark": "{OPEN_MARK}" }}"#)).unwrap();
    std::fs::create_dir_all(root.join("folder")).unwrap();
    std::fs::write(root.join("folder/one.json"), format!(r#"{{ "mark": "{OPEN_MARK}" }}"#))
        .unwrap();
    let keyring = root.join("home/keys/keyring.json");
    std::os::unix::fs::symlink(root.join("home"), root.join("linked-home")).unwrap();
    std::os::unix::fs::symlink(&keyring, root.join("linked.json")).unwrap();
    std::fs::hard_link(&keyring, root.join("hard.json")).unwrap();
}

impl Asker {
    async fn start() -> Self {
        let dirs = std::sync::Arc::new(tempfile::tempdir().unwrap());
        let root = dirs.path().join("root");
        // Nobody listens there.
        let github_base_url = Some("http://127.0.0.1:9".to_owned());
        let options = ComposeOptions { github_base_url, ..ComposeOptions::default() };
        let running = serve(ServeConfig { options, ..config(&root) }).await.unwrap();
        let daemon = TestDaemon { running, dirs };
        // The vault makes its files when something is put into it.
        let ports = &daemon.running.app().ports;
        let connection = Connection {
            connector: "github".parse().unwrap(),
            standing: Standing::Connected,
            account_label: Some("octocat".to_owned()),
            changed_at: ports.clock.now(),
        };
        let secret = Secret::parse(VAULT_SECRET).unwrap();
        ports.vault.put(connection, Some(secret)).await.unwrap();
        lay_out(&root);
        let request = CreateProject {
            id: Some("everything".parse().unwrap()),
            name: "Everything".to_owned(),
            root: Some(root.clone()),
        };
        create(daemon.running.app(), &Caller::Person, request).await.unwrap();
        let keyring = std::fs::read(root.join("home/keys/keyring.json")).unwrap();
        let keyring: Value = serde_json::from_slice(&keyring).unwrap();
        let key = keyring["current"].as_str().unwrap().to_owned();
        let pid = format!("\"pid\":{}", std::process::id());
        let vault_key = std::fs::read(root.join("home/connectors/vault.key")).unwrap();
        let vault_key = String::from_utf8_lossy(&vault_key[..16]).into_owned();
        let secrets = vec![MARK.to_owned(), VAULT_SECRET.to_owned(), key, pid, vault_key];
        let project = "everything".to_owned();
        Self { daemon, project, secrets, run: None, given: BTreeMap::new(), asked: 0 }
    }

    /// Returns the token of a run that still has calls left.
    async fn token(&mut self) -> String {
        if let Some((token, left)) = &mut self.run
            && *left > 0
        {
            *left -= 1;
            return token.clone();
        }
        let body = json!({ "projectId": self.project });
        let started = self.daemon.ok("POST", "/api/runs", Some(body)).await;
        let token = started["toolToken"].as_str().unwrap().to_owned();
        self.run = Some((token.clone(), CALLS_PER_RUN - 1));
        token
    }

    async fn ask(&mut self, way: &str, route: &Route, target: &str, body: Option<Value>) -> Answer {
        let bearer = match route.access {
            Access::Open => None,
            Access::Person | Access::Terminal => Some(self.daemon.person()),
            Access::Tool(_) | Access::AnyTool => Some(self.token().await),
        };
        let method = route.method.as_str();
        let answer = self.daemon.call(bearer.as_deref(), method, target, body.as_ref()).await;
        self.asked += 1;
        assert_ne!(answer.status, 500, "{method} {target}: {}", answer.text());
        let whole = format!("{:?} {}", answer.headers, String::from_utf8_lossy(&answer.body));
        for secret in &self.secrets {
            assert!(!whole.contains(secret), "{way}: {method} {target} {body:?} gave {secret}");
        }
        if whole.contains(OPEN_MARK) {
            *self.given.entry(way.to_owned()).or_default() += 1;
        }
        answer
    }
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Every target of a route: each of its parameters in turn is the path, bare and encoded, and every
/// query field that any route knows is it too.
fn targets(route: &Route, path: &str) -> Vec<String> {
    let names: Vec<&str> = route.path.split('/').filter(|part| part.starts_with('{')).collect();
    let filled = |of: Option<&str>, text: &str| {
        let mut target = route.path.to_owned();
        for name in &names {
            let value = if of == Some(*name) { text } else { default_of(name) };
            target = target.replace(name, value);
        }
        target
    };
    let mut targets = Vec::new();
    for name in &names {
        targets.push(filled(Some(*name), &encoded(path)));
        if path.bytes().all(|byte| byte.is_ascii_graphic()) {
            targets.push(filled(Some(*name), path));
        }
    }
    for field in
        ["projectId", "runId", "variant", "snapshot", "revision", "from", "to", "cursor", "path"]
    {
        targets.push(format!("{}?{field}={}", filled(None, ""), encoded(path)));
    }
    targets
}

fn default_of(name: &str) -> &'static str {
    match name {
        "{project}" => "everything",
        "{artifact}" => "la-none-000000000000",
        "{refresh}" => "refresh-000001",
        "{revision}" => "1",
        "{connector}" => "project_files",
        "{run}" => "run-none",
        "{service}" | "{webhook}" => "none",
        "{session}" => "cs-000000000000",
        "{question}" => "1",
        other => panic!("a test for {other} is missing"),
    }
}

fn source(kind: SourceType, path: &str) -> Vec<Value> {
    let granted = "manual_refresh_granted_for_read_only";
    let read = "project_files.read_json";
    let sources = match kind {
        SourceType::LocalFile => ["path", "file", "name"]
            .map(|field| json!({ "type": "local_file", "input": { field: path } }))
            .to_vec(),
        SourceType::DaemonTool => vec![
            json!({ "type": "daemon_tool", "toolName": read, "input": { "path": path } }),
            json!({ "type": "daemon_tool", "toolName": "project_files.read_json_folder",
                    "input": { "folder": path } }),
            json!({ "type": "daemon_tool", "toolName": "project_files.search",
                    "input": { "query": "mark", "globs": [path] } }),
        ],
        SourceType::ConnectorTool => vec![json!({
            "type": "connector_tool", "input": { "path": path },
            "connector": { "connectorId": "project_files", "toolName": read },
        })],
    };
    let with = |mut source: Value| {
        source["refreshPermission"] = granted.into();
        source
    };
    sources.into_iter().map(with).collect()
}

/// Returns what is sent to a route that takes a body. The match is exhaustive on purpose.
#[expect(clippy::too_many_lines, reason = "a table: one line for each operation")]
fn bodies(operation: Operation, path: &str) -> Vec<Value> {
    let artifact = |more: Value| {
        let mut body = create_body(path);
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        body
    };
    match operation {
        Operation::Health
        | Operation::ListProjects
        | Operation::ShowProject
        | Operation::ListProjectFiles
        | Operation::FollowProject
        | Operation::FollowAll
        | Operation::ListArtifacts
        | Operation::ShowArtifact
        | Operation::ListRefreshes
        | Operation::ListSnapshots
        | Operation::ShowSnapshot
        | Operation::ListRevisions
        | Operation::ShowRevision
        | Operation::CompareRevisions
        | Operation::ExportArtifact
        | Operation::PreviewArtifact
        | Operation::ListConnectors
        | Operation::ListServices
        | Operation::ListWebhooks
        | Operation::ListSessions
        | Operation::ListAgents
        | Operation::ListAgentSessions
        | Operation::ShowAgentSession
        | Operation::ShowConnector
        | Operation::ToolListArtifacts
        | Operation::ToolGetArtifact
        | Operation::ToolListConnectors
        | Operation::ToolSchema
        | Operation::OpenApi => Vec::new(),
        Operation::ChallengeSession => vec![json!({ "nonce": path })],
        Operation::OpenSession => vec![json!({ "code": path, "publicKey": path })],
        Operation::ProveSession => vec![json!({ "sessionId": path })],
        Operation::MakeSessionCode
        | Operation::DeleteArtifact
        | Operation::RestoreArtifact
        | Operation::RestoreSnapshot
        | Operation::RestoreRevision
        | Operation::RefreshArtifact
        | Operation::CancelRefresh
        | Operation::DisconnectConnector
        | Operation::RemoveService
        | Operation::DismissRequest
        | Operation::RemoveWebhook
        | Operation::TestWebhook
        | Operation::RenewRun
        | Operation::RevokeSessions
        | Operation::RevokeSession
        | Operation::CloseAgentSession
        | Operation::CancelAgent
        | Operation::EndRun => vec![json!({}), json!({ "path": path })],
        Operation::ScheduleArtifact => {
            vec![json!({ "on": true }), json!({ "refresh": { "cron": path, "timeZone": path } })]
        }
        Operation::RemoveProject => Vec::new(),
        Operation::CreateProject | Operation::UpdateProject => {
            vec![json!({ "name": path }), json!({ "name": "X", "root": path })]
        }
        Operation::TicketPreview => vec![json!({ "snapshot": path }), json!({ "variant": path })],
        Operation::ConnectConnector | Operation::TestService => vec![json!({ "path": path })],
        Operation::AddService => vec![
            json!({ "name": "x", "url": path }),
            json!({ "name": "x", "url": format!("file://{path}") }),
            json!({ "name": "x", "kind": "postgres", "secret": format!("postgresql://{path}") }),
        ],
        Operation::AddWebhook => vec![
            json!({ "name": "x", "url": path, "secret": "0123456789" }),
            json!({ "name": "x", "url": format!("file://{path}"), "secret": "0123456789" }),
            json!({ "name": "x", "url": format!("https://x.invalid{path}"), "secret": path }),
        ],
        // An agent that there is none of: nothing is started here.
        Operation::OpenAgentSession => vec![json!({ "projectId": path, "agent": "none" })],
        Operation::PromptAgent => vec![json!({ "text": path })],
        Operation::AnswerPermission => vec![json!({ "choice": path })],
        Operation::StartRun => vec![json!({ "projectId": path })],
        Operation::CreateArtifact
        | Operation::UpdateArtifact
        | Operation::ToolCreateArtifact
        | Operation::ToolUpdateArtifact
        | Operation::ToolValidateArtifact => vec![
            artifact(json!({ "artifactId": path })),
            artifact(json!({ "templateHtml": path })),
            artifact(json!({ "attemptId": path })),
        ],
        Operation::ToolRefreshArtifact
        | Operation::ToolCancelRefresh
        | Operation::ToolDeleteArtifact => vec![json!({ "artifactId": path })],
        Operation::McpMessage => vec![json!({ "jsonrpc": "2.0", "id": 1, "method": path })],
        // Every tool of the catalogue is asked below.
        Operation::ToolExecuteConnector => {
            vec![json!({ "connectorId": path, "toolName": path, "input": { "path": path } })]
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_route_gives_anything_of_the_daemons_own() {
    let mut asker = Asker::start().await;
    let files = ROUTES.iter().find(|route| route.operation == Operation::ListProjectFiles).unwrap();
    // First of all: one of the routes switches off the connector that reads files.
    for path in PATHS.into_iter().chain(["open.json"]) {
        for target in targets(files, path) {
            asker.ask("file", files, &target, None).await;
        }
    }
    assert_eq!(asker.given, BTreeMap::from([("file".to_owned(), 1)]));
    for path in PATHS.into_iter().chain(["open.json"]) {
        for route in ROUTES.iter().filter(|route| !route.streams()) {
            for target in targets(route, path) {
                asker.ask("target", route, &target, None).await;
            }
            for body in bodies(route.operation, path) {
                let target = targets(route, path).pop().unwrap();
                let target = target.split('?').next().unwrap().to_owned();
                asker.ask("body", route, &target, Some(body)).await;
            }
        }
    }
    let listed = asker.ask("listing", files, "/api/projects/everything/files", None).await.json();
    let paths: Vec<&str> = listed["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["folder/one.json", "open.json"]);
    println!("{} requests over {} routes", asker.asked, ROUTES.len());
    assert!(asker.asked > 1_000);
    asker.daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_tool_of_the_catalogue_gives_it() {
    let mut asker = Asker::start().await;
    let execute =
        ROUTES.iter().find(|route| route.operation == Operation::ToolExecuteConnector).unwrap();
    let listed = asker.daemon.ok("GET", "/api/connectors", None).await;
    let mut tools = 0;
    for connector in listed["connectors"].as_array().unwrap() {
        for tool in connector["tools"].as_array().unwrap() {
            tools += 1;
            let fields = tool["inputSchemaJson"]["properties"]
                .as_object()
                .or(tool["inputSchema"]["properties"].as_object())
                .unwrap_or_else(|| panic!("no schema: {tool}"))
                .clone();
            for path in PATHS.into_iter().chain(["open.json", "folder"]) {
                for input in inputs(&fields, path) {
                    let body = json!({
                        "connectorId": connector["id"], "toolName": tool["name"], "input": input,
                    });
                    let way = tool["name"].as_str().unwrap().to_owned();
                    let target = "/api/tools/connectors/execute";
                    asker.ask(&way, execute, target, Some(body)).await;
                }
            }
        }
    }
    println!("{} calls of {tools} tools; what may be given came by {:?}", asker.asked, asker.given);
    for tool in ["read_json", "read_json_folder", "read_table", "read_data", "search"] {
        let name = format!("project_files.{tool}");
        assert!(asker.given.contains_key(&name), "{name} was asked in vain: {:?}", asker.given);
    }
    asker.daemon.stop().await;
}

/// Every input in which each text field in turn, or every one of them, is the path.
fn inputs(fields: &serde_json::Map<String, Value>, path: &str) -> Vec<Value> {
    let value_of = |field: &Value| match field["type"].as_str() {
        Some("string") if field["enum"].is_array() => field["enum"][0].clone(),
        Some("string") => json!(path),
        Some("array") => json!([path]),
        Some("integer") => field["minimum"].clone(),
        Some("boolean") => json!(false),
        Some("object") => json!({ "x": path }),
        other => panic!("a test for fields of type {other:?} is missing"),
    };
    let all: Value = fields.iter().map(|(name, field)| (name.clone(), value_of(field))).collect();
    let mut inputs = vec![all];
    for (name, field) in fields {
        inputs.push(json!({ name.as_str(): value_of(field) }));
    }
    if fields.contains_key("query") {
        for query in [MARK, OPEN_MARK, "mark", "current"] {
            inputs.push(json!({ "query": query, "globs": [path] }));
            inputs.push(json!({ "query": query }));
        }
    }
    inputs
}

#[tokio::test(flavor = "multi_thread")]
async fn no_source_gives_it_when_it_is_refreshed() {
    let mut asker = Asker::start().await;
    let find = |operation| ROUTES.iter().find(|route| route.operation == operation).unwrap();
    let (create, refresh, show) = (
        find(Operation::ToolCreateArtifact),
        find(Operation::RefreshArtifact),
        find(Operation::ShowArtifact),
    );
    let mut stored = 0;
    for path in PATHS.into_iter().chain(["open.json", "folder"]) {
        for kind in SourceType::ALL {
            for source in source(*kind, path) {
                let mut body = create_body("Sourced");
                body["input"]["document"]["sourceJson"] = source;
                let made = asker.ask("create", create, create.path, Some(body)).await;
                let Some(id) = made.json()["artifact"]["id"].as_str().map(str::to_owned) else {
                    continue;
                };
                stored += 1;
                let target = format!("/api/live-artifacts/{id}");
                asker.ask("refresh", refresh, &format!("{target}/refresh"), None).await;
                asker.ask(kind.as_str(), show, &target, None).await;
            }
        }
    }
    println!("{stored} sources were stored and refreshed; given: {:?}", asker.given);
    for kind in SourceType::ALL {
        assert!(asker.given.contains_key(kind.as_str()), "{kind} gave nothing: {:?}", asker.given);
    }
    asker.daemon.stop().await;
}
