//! The `postgres` connector: SQL over databases that a person registered, which stay as they are.
//!
//! Four locks on one door, each of which holds alone against what it is for: a role that cannot reach the
//! server's files or programs, a cursor (which takes SELECT and nothing else), a READ ONLY transaction,
//! and a rollback at its end. A fifth keeps out functions that the server itself marks as having effects.

mod cell;
mod fault;
mod functions;
mod session;
mod stream;

use std::sync::Arc;

use async_trait::async_trait;
use od_core::connector::{
    Approval, Category, ConnectionString, RegisteredService, ServiceKind, ServiceUrl, SideEffect,
    Tool, ToolSafety,
};
use od_core::intake::Table;
use od_core::json::{Map, Value};
use od_core::limits::{POSTGRES_READS, QUERY_TEXT, SQLITE_PARAMETERS};
use od_ports::access::credential_vault::{CredentialVault, Secret};
use od_ports::connector_provider::{
    CatalogEntry, ConnectorAccess, ConnectorProvider, ProviderError, RawOutput, ToolCall,
};
use od_ports::service_registry::{ServiceRegistry, unregistered, vault_key};
use serde_json::json;
use tokio::sync::Semaphore;

const QUERY: &str = "postgres.query";
const SCHEMA: &str = "postgres.schema";

/// Reads PostgreSQL databases that a person registered.
#[derive(Debug)]
pub struct PostgresConnector {
    registry: Arc<dyn ServiceRegistry>,
    vault: Arc<dyn CredentialVault>,
    places: Semaphore,
}

/// The work of one call.
enum Work {
    Query { sql: String, params: Vec<Value> },
    Schema,
}

impl PostgresConnector {
    /// Makes a connector of the databases in a registry, with their connection strings from the vault.
    pub fn new(registry: Arc<dyn ServiceRegistry>, vault: Arc<dyn CredentialVault>) -> Self {
        Self { registry, vault, places: Semaphore::new(POSTGRES_READS.max()) }
    }

    async fn run(&self, source: &str, work: Work) -> Result<RawOutput, ProviderError> {
        let service = self.find(source).await?;
        let held = self
            .vault
            .secret(&vault_key(&service.name))
            .await
            .map_err(|err| ProviderError::Unavailable { message: err.to_string() })?;
        let Some(held) = held else { return Err(ProviderError::CredentialRefused) };
        let connection: ConnectionString =
            held.expose().parse().map_err(|_| ProviderError::CredentialRefused)?;
        // Two writes make a registration; between them the vault may hold the string of another place.
        if ServiceUrl::Postgres(connection.address().clone()) != service.url {
            return Err(ProviderError::Unavailable {
                message: format!("database `{source}` is being registered anew; try again"),
            });
        }
        let broken = |_| ProviderError::Unavailable { message: "the query broke off".to_owned() };
        let _place = self.places.acquire().await.map_err(broken)?;
        let table: Table = session::run(&connection, &work).await?;
        let mut metadata = Map::new();
        metadata.insert("service".to_owned(), service.name.as_str().into());
        metadata.insert("rows".to_owned(), table.len().into());
        let summary = Some(match work {
            Work::Query { .. } => format!("{source}, {} rows", table.len()),
            Work::Schema => format!("{source}, {} columns that it may read", table.len()),
        });
        Ok(RawOutput { output: table.into(), summary, metadata, ..RawOutput::default() })
    }

    /// Finds a database by its name, or says which there are and how a person adds one.
    async fn find(&self, name: &str) -> Result<RegisteredService, ProviderError> {
        let services = self
            .registry
            .list()
            .await
            .map_err(|err| ProviderError::Unavailable { message: err.to_string() })?;
        let found = services.iter().find(|service| service.name.as_str() == name);
        match found.map(|service| (service, service.url.kind())) {
            Some((service, ServiceKind::Postgres)) => Ok(service.clone()),
            Some((_, ServiceKind::Http)) => Err(ProviderError::Input {
                pointer: "/source".to_owned(),
                message: format!("`{name}` is no database: read it with `http.get_json`"),
            }),
            None => Err(unregistered(ServiceKind::Postgres, name, &services)),
        }
    }
}

#[async_trait]
impl ConnectorProvider for PostgresConnector {
    fn catalog(&self) -> CatalogEntry {
        let schema_tool = tool(
            SCHEMA,
            "List tables and columns of a database",
            "Lists the tables, views and columns of a registered PostgreSQL database that its role may read.",
            json!({ "source": source_schema() }),
            json!(["source"]),
        );
        let tools = vec![query_tool(), schema_tool];
        CatalogEntry {
            id: ServiceKind::Postgres.as_str().parse().expect("the id fits the alphabet"),
            name: "PostgreSQL",
            provider: "registered services",
            category: Category::Analytics,
            description: "Queries over PostgreSQL databases that you registered with `od sources add postgres`.",
            access: ConnectorAccess::Registered(ServiceKind::Postgres),
            anonymous_label: None,
            allowed_tool_names: tools.iter().map(|tool| tool.name.clone()).collect(),
            featured_tool_names: tools.iter().map(|tool| tool.name.clone()).collect(),
            tools,
        }
    }

    async fn identify(&self, _: &Secret) -> Result<String, ProviderError> {
        Err(ProviderError::CredentialRefused)
    }

    async fn execute(&self, call: ToolCall) -> Result<RawOutput, ProviderError> {
        let text = |key: &str| call.input.get(key).and_then(Value::as_str).unwrap_or_default();
        match call.tool.as_str() {
            QUERY => {
                let params = call.input.get("params").and_then(Value::as_array).cloned();
                let (sql, params) = (text("sql").to_owned(), params.unwrap_or_default());
                self.run(text("source"), Work::Query { sql, params }).await
            }
            SCHEMA => self.run(text("source"), Work::Schema).await,
            _ => Err(ProviderError::UnknownTool { tool: call.tool }),
        }
    }
}

fn query_tool() -> Tool {
    tool(
        QUERY,
        "Query a PostgreSQL database",
        "Reads rows of a registered PostgreSQL database by one SELECT.",
        json!({
            "source": source_schema(),
            "sql": {
                "type": "string", "minLength": 1, "maxLength": QUERY_TEXT.allowed,
                "description": "One SELECT; `$1`, `$2` stand for parameters.",
            },
            "params": {
                "type": "array", "maxItems": SQLITE_PARAMETERS.max(),
                "items": { "type": ["string", "number", "boolean", "null"] },
                "description": "The values of the parameters, in order.",
            },
        }),
        json!(["source", "sql"]),
    )
}

fn source_schema() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": 32,
        "description": "The name of a registered database.",
    })
}

fn tool(name: &str, title: &str, description: &str, properties: Value, required: Value) -> Tool {
    let mut schema = json!({ "type": "object", "additionalProperties": false });
    schema["properties"] = properties;
    schema["required"] = required;
    Tool {
        name: name.parse().expect("the names of our tools fit the alphabet"),
        title: title.to_owned(),
        description: Some(description.to_owned()),
        input_schema: schema,
        former_input_schemas: Vec::new(),
        scopes: Vec::new(),
        safety: ToolSafety {
            side_effect: SideEffect::Read,
            approval: Approval::Auto,
            reason: "a cursor in a READ ONLY transaction that is rolled back".to_owned(),
        },
        refresh_eligible: true,
    }
}
