//! The `http` connector: JSON, CSV and feeds of registered services.

use std::sync::Arc;

use async_trait::async_trait;
use od_core::connector::{Category, ServiceKind};
use od_core::intake::{Intake, JsonText};
use od_core::json::{Map, Value};
use od_ports::access::credential_vault::Secret;
use od_ports::connector_provider::{
    CatalogEntry, ConnectorAccess, ConnectorProvider, ProviderError, RawOutput, ToolCall,
};
use serde_json::json;

use super::client::{Fetched, Resource, ServiceClient, query_pairs};
use super::feed::read_feed;
use crate::catalog::{connector_id, names, read_only};
use crate::formats::{Delimited, FormatFault, TableFormat, utf8};

const GET_JSON: &str = "http.get_json";
const GET_TEXT: &str = "http.get_text";

/// Gives resources of registered services.
#[derive(Debug)]
pub struct HttpConnector {
    client: Arc<ServiceClient>,
}

impl HttpConnector {
    /// Makes the connector.
    #[must_use]
    pub const fn new(client: Arc<ServiceClient>) -> Self {
        Self { client }
    }
}

#[async_trait]
impl ConnectorProvider for HttpConnector {
    fn catalog(&self) -> CatalogEntry {
        let tools = vec![
            read_only(
                GET_JSON,
                "Read JSON over HTTP",
                "Reads a JSON resource of a service that the person registered.",
                schema(&json!({})),
                "GET requests to registered addresses only",
            ),
            read_only(
                GET_TEXT,
                "Read CSV or a feed over HTTP",
                "Reads CSV, TSV, JSON lines, RSS or Atom of a registered service as rows, other text as `text`.",
                schema(&json!({ "format": {
                    "type": "string", "enum": FORMATS.map(|(word, _)| word),
                    "description": "How to read it; found from the answer if left out.",
                } })),
                "GET requests to registered addresses only",
            ),
        ];
        CatalogEntry {
            id: connector_id("http"),
            name: "HTTP",
            provider: "registered services",
            category: Category::Custom,
            description: "JSON, CSV, RSS and Atom of services that you registered with `od sources add http`.",
            access: ConnectorAccess::Registered(ServiceKind::Http),
            anonymous_label: None,
            allowed_tool_names: names(&tools.iter().collect::<Vec<_>>()),
            featured_tool_names: names(&[&tools[0]]),
            tools,
        }
    }

    async fn identify(&self, _: &Secret) -> Result<String, ProviderError> {
        Err(ProviderError::CredentialRefused)
    }

    async fn execute(&self, call: ToolCall) -> Result<RawOutput, ProviderError> {
        let text = |key: &str| call.input.get(key).and_then(Value::as_str).unwrap_or_default();
        let path = text("path");
        let accept = match call.tool.as_str() {
            GET_JSON => "application/json",
            GET_TEXT => {
                "text/csv, application/rss+xml, application/atom+xml, application/xml, text/*, */*"
            }
            _ => return Err(ProviderError::UnknownTool { tool: call.tool }),
        };
        let query = query_pairs(&call.input);
        let fetched =
            self.client.get(Resource { service: text("source"), path, query, accept }).await?;
        let output = if call.tool.as_str() == GET_JSON {
            JsonText::parse(&fetched.body).map(Intake::Json).map_err(FormatFault::Intake)
        } else {
            let chosen = FORMATS.iter().find(|(word, _)| *word == text("format"));
            let format = chosen.map_or_else(|| TextFormat::of(path, &fetched), |(_, it)| *it);
            format.read(&fetched.body)
        };
        let Fetched { metadata, body, .. } = fetched;
        let output = output.map_err(|fault| fault.of(path))?;
        let summary = Some(format!("{} {path}, {} bytes", text("source"), body.len()));
        Ok(RawOutput { output, summary, metadata, ..RawOutput::default() })
    }
}

/// A way to read a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum TextFormat {
    Csv,
    Tsv,
    JsonLines,
    Feed,
    Text,
}

const FORMATS: [(&str, TextFormat); 5] = [
    ("csv", TextFormat::Csv),
    ("tsv", TextFormat::Tsv),
    ("json_lines", TextFormat::JsonLines),
    ("feed", TextFormat::Feed),
    ("text", TextFormat::Text),
];

impl TextFormat {
    /// Tells the format by the media type, else by the path's extension, else by the first bytes.
    fn of(path: &str, fetched: &Fetched) -> Self {
        let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
        match (fetched.content_type.as_str(), extension.as_deref()) {
            ("text/csv" | "application/csv", _) => Self::Csv,
            ("text/tab-separated-values", _) => Self::Tsv,
            ("application/x-ndjson" | "application/jsonl", _) => Self::JsonLines,
            (
                "application/rss+xml" | "application/atom+xml" | "application/xml" | "text/xml",
                _,
            ) => Self::Feed,
            (_, Some("csv")) => Self::Csv,
            (_, Some("tsv")) => Self::Tsv,
            (_, Some("jsonl" | "ndjson")) => Self::JsonLines,
            (_, Some("rss" | "atom" | "xml")) => Self::Feed,
            _ => {
                let start = fetched.body.trim_ascii_start();
                if start.starts_with(b"<?xml") || start.starts_with(b"<rss") {
                    Self::Feed
                } else {
                    Self::Text
                }
            }
        }
    }

    fn read(self, bytes: &[u8]) -> Result<Intake, FormatFault> {
        let options = Delimited::default();
        match self {
            Self::Csv => TableFormat::Csv.read(bytes, &options),
            Self::Tsv => TableFormat::Tsv.read(bytes, &options),
            Self::JsonLines => TableFormat::JsonLines.read(bytes, &options),
            Self::Feed => read_feed(utf8(bytes)?).map(Intake::Table),
            Self::Text => {
                let mut map = Map::new();
                map.insert("text".to_owned(), utf8(bytes)?.into());
                Ok(Intake::try_from(&Value::Object(map))?)
            }
        }
    }
}

/// The inputs that name a resource, and further ones.
fn schema(further: &Value) -> Value {
    let mut schema = json!({
        "type": "object",
        "properties": {
            "source": service_schema(),
            "path": {
                "type": "string", "maxLength": 1024,
                "description": "Path below the registered address; empty is the address itself.",
            },
            "query": {
                "type": "object",
                "additionalProperties": { "type": ["string", "number", "boolean"] },
                "description": "Query parameters by name.",
            },
        },
        "required": ["source"],
        "additionalProperties": false,
    });
    if let (Some(properties), Some(further)) =
        (schema["properties"].as_object_mut(), further.as_object())
    {
        properties.extend(further.clone());
    }
    schema
}

/// The input that names a registered service.
pub(super) fn service_schema() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": 32,
        "description": "Name of a registered service; the list of connectors shows them.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetched(content_type: &str, body: &str) -> Fetched {
        Fetched {
            body: body.as_bytes().to_vec(),
            content_type: content_type.to_owned(),
            metadata: Map::new(),
        }
    }

    #[test]
    fn a_format_is_told_by_media_type_then_extension_then_content() {
        let of = |path: &str, kind: &str, body: &str| TextFormat::of(path, &fetched(kind, body));
        assert_eq!(of("x", "text/csv", ""), TextFormat::Csv);
        assert_eq!(of("kpi.csv", "text/plain", ""), TextFormat::Csv);
        assert_eq!(of("feed", "text/html", " <?xml version='1.0'?><rss/>"), TextFormat::Feed);
        assert_eq!(of("feed", "application/atom+xml", ""), TextFormat::Feed);
        assert_eq!(of("motd", "text/plain", "hello"), TextFormat::Text);
    }
}
