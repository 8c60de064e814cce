//! A real PostgreSQL as a source: what its values become, and that nothing in it changes.

mod bypasses;
#[path = "../../../../od-connectors/tests/it/page_text.rs"]
mod page_text;
mod request;
mod values;

use std::sync::Arc;

use od_core::connector::{ConnectionString, RegisteredService, ServiceName, ServiceUrl};
use od_core::credential::Scrubber;
use od_core::ids::Timestamp;
use od_core::json::Value;
use od_pgconn::cluster::{self, Cluster};
use od_ports::access::credential_vault::{Connection, CredentialVault as _, Secret, Standing};
use od_ports::connector_provider::{ConnectorProvider as _, ProviderError, ToolCall};
use od_ports::fakes::{MemoryServiceRegistry, MemoryVault};
use od_ports::service_registry::{ServiceRegistry as _, vault_key};
use od_sql::PostgresConnector;
use serde_json::json;

/// Returns a connector with the database `shop` registered by a connection string.
pub(crate) async fn registered(url: &str) -> PostgresConnector {
    let (registry, vault) = (MemoryServiceRegistry::default(), MemoryVault::default());
    let name: ServiceName = "shop".parse().unwrap();
    let connection: ConnectionString = url.parse().unwrap();
    let at = Timestamp::from_unix_ms(0);
    let service = RegisteredService {
        name: name.clone(),
        url: ServiceUrl::Postgres(connection.address().clone()),
        header: None,
        registered_at: at,
    };
    registry.put(service).await.unwrap();
    let connection = Connection {
        connector: vault_key(&name),
        standing: Standing::Connected,
        account_label: None,
        changed_at: at,
    };
    vault.put(connection, Some(Secret::parse(url).unwrap())).await.unwrap();
    PostgresConnector::new(Arc::new(registry), Arc::new(vault))
}

/// Makes one call.
pub(crate) async fn call(
    connector: &PostgresConnector,
    tool: &str,
    input: Value,
) -> Result<Value, ProviderError> {
    let Value::Object(input) = input else { panic!("an input is an object") };
    let call = ToolCall {
        project: "web".parse().unwrap(),
        tool: tool.parse().unwrap(),
        input,
        secret: None,
        scrubber: Arc::new(Scrubber::new([""; 0])),
    };
    connector.execute(call).await.map(|raw| raw.output.to_value())
}

async fn query(connector: &PostgresConnector, sql: &str) -> Result<Value, ProviderError> {
    call(connector, "postgres.query", json!({ "source": "shop", "sql": sql })).await
}

/// A server with a few orders and a role `reader` that may only read.
fn shop() -> Cluster {
    let cluster = Cluster::start(env!("CARGO_TARGET_TMPDIR"));
    cluster.execute(
        "CREATE TABLE orders(id int PRIMARY KEY, customer text NOT NULL, total numeric(10, 2), at timestamptz); \
         INSERT INTO orders VALUES (1, 'ada', 10.50, '2026-04-01T10:00:00+02'), (2, 'bob', 20, NULL), (3, 'ada', NULL, NULL); \
         CREATE TABLE private(x int); \
         CREATE SEQUENCE numbers",
    );
    role(&cluster, "reader");
    cluster.execute("GRANT SELECT ON orders, numbers TO reader; GRANT USAGE ON numbers TO reader");
    cluster
}

fn role(cluster: &Cluster, name: &str) {
    let password = cluster::PASSWORD;
    cluster.execute(&format!("CREATE ROLE {name} LOGIN PASSWORD '{password}'"));
}
