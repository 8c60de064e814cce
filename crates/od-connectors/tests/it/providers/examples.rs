//! The examples of docs/connectors.md, each of which has to run.

use std::path::PathBuf;
use std::sync::Arc;

use od_connectors::{
    Fence, Git, GitHub, GitHubConfig, HttpConnector, ProjectFilesConnector, PrometheusConnector,
    ServiceClient,
};
use od_core::connector::{RegisteredService, check_input};
use od_core::ids::Timestamp;
use od_core::json::Value;
use od_ports::connector_provider::ConnectorProvider;
use od_ports::fakes::{MemoryServiceRegistry, MemoryVault};
use od_ports::service_registry::ServiceRegistry as _;
use serde_json::json;
use tempfile::TempDir;

use super::git::{repository, run};
use super::tables::state;
use crate::http_server::{Answer, TestServer};
use crate::scene::{OneRoot, call, clock, write};

/// Returns the examples: one object in each block of JSON.
fn examples() -> Vec<(String, Value)> {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/connectors.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let blocks = docs.split("```json\n").skip(1).map(|block| block.split("```").next().unwrap());
    blocks
        .map(|block| {
            let example: Value = serde_json::from_str(block).unwrap();
            (example["tool"].as_str().unwrap().to_owned(), example["input"].clone())
        })
        .collect()
}

/// A project with the files and the code that the examples read.
fn project() -> TempDir {
    let root = repository();
    write(root.path(), "data/orders.csv", "customer,total\nada,10.5\nbob,20\n");
    write(root.path(), "src/lib.rs", "// TODO: all of it\n");
    run(root.path(), &["add", "."]);
    run(root.path(), &["commit", "--quiet", "-m", "All"]);
    root
}

async fn server() -> TestServer {
    TestServer::start(|seen| match seen.path() {
        "/forecast" => Answer::json(&json!({ "days": [{ "high": 20 }] })),
        "/api/v1/query" => Answer::json(&json!({
            "status": "success",
            "data": { "resultType": "vector", "result": [{ "metric": {}, "value": [1, "1"] }] },
        })),
        "/repos/octo/hello/issues" => Answer::json(&json!([])),
        "/repos/octo/hello/actions/runs" => Answer::json(&json!({ "workflow_runs": [] })),
        _ => Answer::text(404, ""),
    })
    .await
}

#[tokio::test]
async fn every_example_of_the_documentation_runs() {
    let (root, server) = (project(), server().await);
    let files = Arc::new(OneRoot(PathBuf::from(root.path())));
    let registry = MemoryServiceRegistry::default();
    for name in ["weather", "metrics"] {
        let service = RegisteredService {
            name: name.parse().unwrap(),
            url: server.url().parse().unwrap(),
            header: None,
            registered_at: Timestamp::from_unix_ms(0),
        };
        registry.put(service).await.unwrap();
    }
    let client = Arc::new(ServiceClient::new(Arc::new(registry), Arc::new(MemoryVault::default())));
    let providers: Vec<Box<dyn ConnectorProvider>> = vec![
        Box::new(ProjectFilesConnector::new(files.clone(), Fence::around([]))),
        Box::new(Git::new(files, Fence::around([]))),
        Box::new(GitHub::new(GitHubConfig::new(&server.url()).unwrap(), clock())),
        Box::new(HttpConnector::new(Arc::clone(&client))),
        Box::new(PrometheusConnector::new(client, clock())),
    ];
    let before = state(root.path());
    let mut seen: Vec<String> = Vec::new();
    for (tool, input) in examples() {
        let names = |provider: &dyn ConnectorProvider| {
            provider.catalog().tools.iter().any(|known| known.name.as_str() == tool)
        };
        let Some(provider) = providers.iter().find(|provider| names(provider.as_ref())) else {
            // Real databases answer these, in the tests of od-sql.
            assert!(tool.starts_with("postgres.") || tool.starts_with("sqlite."), "{tool}");
            continue;
        };
        let catalog = provider.catalog();
        let known = catalog.tools.iter().find(|known| known.name.as_str() == tool).unwrap();
        check_input(known, &input).unwrap();
        call(provider.as_ref(), &tool, input, None).await.unwrap();
        seen.push(catalog.id.to_string());
    }
    assert_eq!(
        state(root.path()),
        before,
        "a read changes nothing in the project, `.git` included"
    );
    seen.dedup();
    assert_eq!(seen, ["project_files", "git", "github", "http", "prometheus"]);
}
