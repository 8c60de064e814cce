//! Registered services: what is asked of them, with which secret, and what comes of hostile answers.

use std::sync::Arc;

use od_connectors::{HttpConnector, PrometheusConnector, ServiceClient};
use od_core::connector::RegisteredService;
use od_core::credential::Scrubber;
use od_core::ids::Timestamp;
use od_core::json::Value;
use od_ports::access::credential_vault::{Connection, CredentialVault as _, Secret, Standing};
use od_ports::connector_provider::{ConnectorProvider, ProviderError, ToolCall};
use od_ports::contract::{ConnectorTrial, check_connector_provider};
use od_ports::fakes::{MemoryServiceRegistry, MemoryVault};
use od_ports::service_registry::{ServiceRegistry as _, vault_key};
use serde_json::json;

use crate::http_server::{Answer, TestServer};
use crate::scene::{clock, project};

const KEY: &str = "service-canary-0123456789";

/// A client with the service `demo` at an address, with a secret in `x-api-key` if asked for.
async fn client(url: &str, has_secret: bool) -> Arc<ServiceClient> {
    let (registry, vault) = (MemoryServiceRegistry::default(), MemoryVault::default());
    let name: od_core::connector::ServiceName = "demo".parse().unwrap();
    let at = Timestamp::from_unix_ms(0);
    let header = has_secret.then(|| "X-Api-Key".parse().unwrap());
    let service = RegisteredService {
        name: name.clone(),
        url: url.parse().unwrap(),
        header,
        registered_at: at,
    };
    registry.put(service).await.unwrap();
    if has_secret {
        let connection = Connection {
            connector: vault_key(&name),
            standing: Standing::Connected,
            account_label: None,
            changed_at: at,
        };
        vault.put(connection, Some(Secret::parse(KEY).unwrap())).await.unwrap();
    }
    Arc::new(ServiceClient::new(Arc::new(registry), Arc::new(vault)))
}

fn call(tool: &str, input: Value) -> ToolCall {
    let Value::Object(input) = input else { panic!("an input is an object") };
    ToolCall {
        project: project(),
        tool: tool.parse().unwrap(),
        input,
        secret: None,
        scrubber: Arc::new(Scrubber::new([KEY])),
    }
}

pub(crate) async fn get(url: &str, tool: &str, input: Value) -> Result<Value, ProviderError> {
    let connector = HttpConnector::new(client(url, false).await);
    connector.execute(call(tool, input)).await.map(|raw| raw.output.to_value())
}

#[tokio::test]
async fn both_connectors_keep_the_contract() {
    let server = TestServer::start(|_| {
        Answer::json(&json!({ "status": "success",
            "data": { "resultType": "vector", "result": [] } }))
    })
    .await;
    let client = client(&server.url(), false).await;
    let trial = |tool: &str, input: Value| {
        let ToolCall { project, tool, input, .. } = call(tool, input);
        ConnectorTrial { project, tool, input, secret: None }
    };
    let http = HttpConnector::new(Arc::clone(&client));
    for tool in ["http.get_json", "http.get_text"] {
        let input = json!({ "source": "demo", "path": "x" });
        check_connector_provider(&http, &trial(tool, input)).await;
    }
    let prometheus = PrometheusConnector::new(client, clock());
    for tool in ["prometheus.query", "prometheus.query_range"] {
        let input = json!({ "source": "demo", "query": "up" });
        check_connector_provider(&prometheus, &trial(tool, input)).await;
    }
}

#[tokio::test]
async fn path_query_and_secret_reach_the_registered_address() {
    let server = TestServer::start(|seen| {
        let key = seen.header("x-api-key").unwrap_or_default().to_owned();
        let is_right = seen.target == "/v1/quotes?symbol=A%26B&days=5" && key == KEY;
        if is_right { Answer::json(&json!([{ "price": 1.5 }])) } else { Answer::text(400, "") }
    })
    .await;
    let client = client(&format!("{}/v1", server.url()), true).await;
    let input =
        json!({ "source": "demo", "path": "/quotes", "query": { "symbol": "A&B", "days": 5 } });
    let raw = HttpConnector::new(client).execute(call("http.get_json", input)).await.unwrap();
    assert_eq!(raw.output.to_value(), json!([{ "price": 1.5 }]));
    assert!(!format!("{raw:?}").contains(KEY));
}

#[tokio::test]
async fn a_redirect_leads_nowhere_but_to_the_same_origin() {
    let other = TestServer::start(|_| Answer::json(&json!("other"))).await;
    let target = other.url();
    let server = TestServer::start(move |seen| match seen.path() {
        "/away" => Answer::text(302, "").with("location", &format!("{target}/x")),
        "/near" => Answer::text(302, "").with("location", "/here"),
        _ => Answer::json(&json!("here")),
    })
    .await;
    let read = |path: &str| {
        let (url, input) = (server.url(), json!({ "source": "demo", "path": path }));
        async move { get(&url, "http.get_json", input).await }
    };
    assert_eq!(read("near").await, Ok(json!("here")));
    assert!(matches!(read("away").await, Err(ProviderError::Forbidden { .. })));
    assert_eq!(other.seen().len(), 0, "nobody asked the other host");
    assert!(matches!(read("../x").await, Err(ProviderError::Input { .. })));
}

#[tokio::test]
async fn csv_feeds_and_metrics_become_rows() {
    let server = TestServer::start(|seen| match seen.path() {
        "/kpi.csv" => Answer::text(200, "name,n\nusers,12\n").with("content-type", "text/csv"),
        "/feed" => Answer::text(
            200,
            "<rss><channel><title>T</title><item><title>A</title></item></channel></rss>",
        )
        .with("content-type", "application/rss+xml"),
        "/api/v1/query" => Answer::json(&json!({ "status": "success", "data": {
            "resultType": "vector",
            "result": [{ "metric": { "job": "api" }, "value": [1_763_366_400, "1"] }] } })),
        _ => Answer::text(404, ""),
    })
    .await;
    let input = json!({ "source": "demo", "path": "kpi.csv" });
    let csv = get(&server.url(), "http.get_text", input).await.unwrap();
    assert_eq!(csv["rows"], json!([{ "name": "users", "n": 12 }]));
    let input = json!({ "source": "demo", "path": "feed" });
    let feed = get(&server.url(), "http.get_text", input).await.unwrap();
    assert_eq!(feed["rows"][0]["title"], "A");
    let prometheus = PrometheusConnector::new(client(&server.url(), false).await, clock());
    let input = json!({ "source": "demo", "query": "up" });
    let raw = prometheus.execute(call("prometheus.query", input)).await.unwrap();
    assert_eq!(raw.output.to_value()["rows"][0]["value"], 1);
}

#[tokio::test]
async fn refusals_say_what_a_person_can_do() {
    let server = TestServer::start(|seen| match seen.path() {
        "/locked" => Answer::text(401, ""),
        "/slow-down" => Answer::text(429, ""),
        "/broken" => Answer::text(200, "{\"a\": "),
        _ => Answer::text(404, ""),
    })
    .await;
    let read = |path: &str| {
        let (url, input) = (server.url(), json!({ "source": "demo", "path": path }));
        async move { get(&url, "http.get_json", input).await.unwrap_err() }
    };
    let locked = read("locked").await.to_string();
    assert!(locked.contains("od sources add http demo"), "{locked}");
    assert!(matches!(read("slow-down").await, ProviderError::RateLimited { .. }));
    assert!(matches!(read("broken").await, ProviderError::Malformed { .. }));
    assert!(matches!(read("nothing").await, ProviderError::Missing { .. }));
    let unknown = get(&server.url(), "http.get_json", json!({ "source": "dmeo" })).await;
    let unknown = unknown.unwrap_err().to_string();
    assert!(unknown.contains("did you mean `demo`?"), "{unknown}");
}
