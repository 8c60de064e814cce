//! The `sqlite` connector: SQL over a database file of the project, which stays as it is.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use od_core::connector::{Approval, Category, LocalTool, SideEffect, Tool, ToolSafety};
use od_core::intake::Table;
use od_core::json::{Map, Value};
use od_core::limits::QUERY_TEXT;
use od_ports::access::credential_vault::Secret;
use od_ports::connector_provider::{
    CatalogEntry, ConnectorAccess, ConnectorProvider, ProviderError, RawOutput, ToolCall,
};
use od_ports::project_files::ProjectFiles;
use serde_json::json;

use super::{open, read};
use crate::engine::{self, Deadline};

/// Parameters of one query.
const PARAMS_MAX: usize = od_core::limits::SQLITE_PARAMETERS.max();
/// The time of one query. Waiting for the turn and what follows it have the rest of a source's time.
const QUERY_MAX: Duration = od_core::limits::SQLITE_TIMEOUT.duration();

/// Reads SQLite databases of the project that a call belongs to.
#[derive(Debug)]
pub struct SqliteConnector {
    files: Arc<dyn ProjectFiles>,
}

/// The work of one call.
enum Work {
    Query { sql: String, params: Vec<Value> },
    Schema,
}

impl SqliteConnector {
    /// Makes the connector.
    pub fn new(files: Arc<dyn ProjectFiles>) -> Self {
        Self { files }
    }

    async fn run(&self, call: &ToolCall, work: Work) -> Result<RawOutput, ProviderError> {
        let path = call.path("path")?;
        let located = self.files.locate(&call.project, &path).await?;
        let broken = || ProviderError::Unavailable { message: "the query broke off".to_owned() };
        let turn = engine::turn().await.ok_or_else(broken)?;
        let deadline = Deadline::default();
        let watch = deadline.watch();
        let table: Table = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            watch.start(QUERY_MAX);
            open::with_database(&located, &watch, |connection| match &work {
                Work::Query { sql, params } => read::query(connection, sql, params),
                Work::Schema => read::schema(connection),
            })
        })
        .await
        .map_err(|_| broken())??;
        let mut metadata = Map::new();
        metadata.insert("path".to_owned(), path.as_str().into());
        metadata.insert("rows".to_owned(), table.len().into());
        let summary = Some(format!("{path}, {} rows", table.len()));
        Ok(RawOutput { output: table.into(), summary, metadata, ..RawOutput::default() })
    }
}

#[async_trait]
impl ConnectorProvider for SqliteConnector {
    fn catalog(&self) -> CatalogEntry {
        let schema_tool = tool(
            LocalTool::SqliteSchema,
            "List tables and columns",
            "Lists the tables, views and columns of a SQLite database in the project.",
            json!({ "path": path_schema() }),
            json!(["path"]),
        );
        let tools = vec![query_tool(), schema_tool];
        CatalogEntry {
            id: LocalTool::SqliteQuery.connector().parse().expect("the id fits the alphabet"),
            name: "SQLite",
            provider: "local",
            category: Category::Analytics,
            description: "Queries over SQLite databases in the project's own directory.",
            access: ConnectorAccess::Local,
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
        if call.tool.as_str() == LocalTool::SqliteQuery.as_str() {
            let sql = call.input.get("sql").and_then(Value::as_str).unwrap_or_default().to_owned();
            let params = call.input.get("params").and_then(Value::as_array).cloned();
            self.run(&call, Work::Query { sql, params: params.unwrap_or_default() }).await
        } else if call.tool.as_str() == LocalTool::SqliteSchema.as_str() {
            self.run(&call, Work::Schema).await
        } else {
            Err(ProviderError::UnknownTool { tool: call.tool })
        }
    }
}

fn query_tool() -> Tool {
    tool(
        LocalTool::SqliteQuery,
        "Query a SQLite database",
        "Reads rows of a SQLite database in the project by one SELECT.",
        json!({
            "path": path_schema(),
            "sql": {
                "type": "string", "minLength": 1, "maxLength": QUERY_TEXT.allowed,
                "description": "One SELECT; `?` stands for a parameter.",
            },
            "params": {
                "type": "array", "maxItems": PARAMS_MAX,
                "items": { "type": ["string", "number", "boolean", "null"] },
                "description": "The values of the parameters, in order.",
            },
        }),
        json!(["path", "sql"]),
    )
}

fn path_schema() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": 260,
        "description": "Path of the database file, from the project's root.",
    })
}

fn tool(
    tool: LocalTool,
    title: &str,
    description: &str,
    properties: Value,
    required: Value,
) -> Tool {
    let mut schema = json!({ "type": "object", "additionalProperties": false });
    schema["properties"] = properties;
    schema["required"] = required;
    Tool {
        name: tool.as_str().parse().expect("the names of local tools fit the alphabet"),
        title: title.to_owned(),
        description: Some(description.to_owned()),
        input_schema: schema,
        former_input_schemas: Vec::new(),
        scopes: Vec::new(),
        safety: ToolSafety {
            side_effect: SideEffect::Read,
            approval: Approval::Auto,
            reason: "an authorizer lets SELECT through and nothing else".to_owned(),
        },
        refresh_eligible: true,
    }
}
