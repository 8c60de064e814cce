//! crates/od-daemon/web/core/schema.js: the types of the wire as JSDoc, for the console's type check.

use std::collections::BTreeMap;

use od_core::event::{AgentEvent, ArtifactEvent, CheckEvent, RefreshEvent};
use od_wire::event::{EventName, Ready, Resync};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value};

use super::generators::GeneratedFile;

const PATH: &str = "crates/od-daemon/web/core/schema.js";
const HEAD: &str = "// @ts-check
// Generated from the types of od-core and od-wire by `cargo xtask codegen`. Never sent to a browser:
// the console's modules only name these types in comments.
";

/// Renders the types that the console names.
pub(super) fn render() -> Result<Vec<GeneratedFile>, String> {
    let mut schemas = Schemas::new();
    schemas.add::<od_core::artifact::Artifact>();
    schemas.add::<od_core::artifact::Provenance>();
    schemas.add::<od_core::artifact::Source>();
    schemas.add::<od_core::connector::Connector>();
    schemas.add::<od_core::connector::Tool>();
    schemas.add::<od_core::error::Failure>();
    schemas.add::<od_core::error::Issue>();
    schemas.add::<od_core::refresh::RefreshRecord>();
    schemas.add::<od_wire::artifact::ArtifactAnswer>();
    schemas.add::<od_wire::artifact::RefreshedAnswer>();
    schemas.add::<od_wire::refresh::ScheduleAnswer>();
    schemas.add::<od_wire::artifact::RolledBackAnswer>();
    schemas.add::<od_wire::error::Envelope>();
    schemas.add::<od_wire::export::ExportAnswer>();
    schemas.add::<od_wire::export::ExportView>();
    schemas.add::<Ready>();
    schemas.add::<Resync>();
    schemas.add::<ArtifactEvent>();
    schemas.add::<RefreshEvent>();
    schemas.add::<CheckEvent>();
    schemas.add::<AgentEvent>();
    schemas.add::<od_wire::agent::AgentsAnswer>();
    schemas.add::<od_wire::agent::AgentSessionsAnswer>();
    schemas.add::<od_wire::agent::AgentTranscriptAnswer>();
    schemas.add::<od_wire::session::TicketAnswer>();
    schemas.add::<od_wire::service::AddService>();
    schemas.add::<od_wire::service::ServiceAnswer>();
    schemas.add::<od_wire::service::ServicesAnswer>();
    schemas.add::<od_wire::webhook::AddWebhook>();
    schemas.add::<od_wire::webhook::WebhookAnswer>();
    schemas.add::<od_wire::webhook::WebhooksAnswer>();
    schemas.add::<od_wire::project::ProjectFilesAnswer>();
    schemas.add::<od_wire::project::ProjectView>();
    schemas.add::<od_wire::refresh::SnapshotLine>();
    schemas.add::<od_wire::artifact::ArtifactLine>();
    schemas.add::<od_wire::artifact::TrashAnswer>();
    schemas.add::<od_wire::artifact::ArtifactsAnswer>();
    schemas.add::<od_wire::project::ProjectLine>();
    schemas.add::<od_wire::project::RemovedProjectAnswer>();
    schemas.add::<od_wire::refresh::SnapshotView>();
    schemas.add::<od_wire::revision::CompareAnswer>();
    schemas.add::<od_wire::revision::RevisionAnswer>();
    schemas.add::<od_wire::revision::RevisionsAnswer>();
    Ok(vec![GeneratedFile { path: PATH.to_owned(), text: schemas.into_text() }])
}

struct Schemas {
    generator: SchemaGenerator,
    named: BTreeMap<String, Value>,
}

impl Schemas {
    fn new() -> Self {
        let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        Self { generator, named: BTreeMap::new() }
    }

    fn add<T: JsonSchema>(&mut self) {
        let schema = self.generator.subschema_for::<T>().to_value();
        // A type that inlines itself has no definition of its own to refer to.
        if schema.get("$ref").is_none() {
            self.named.insert(T::schema_name().into_owned(), schema);
        }
    }

    fn into_text(mut self) -> String {
        for (name, schema) in self.generator.take_definitions(true) {
            self.named.insert(name, schema);
        }
        let mut types: Vec<String> =
            self.named.iter().map(|(name, schema)| definition(name, schema)).collect();
        types.push(stream_event());
        format!("{HEAD}\n{}\nexport {{}};\n", types.join("\n"))
    }
}

/// Writes the events of a stream as one type, told apart by their names.
fn stream_event() -> String {
    let frames = EventName::ALL.map(|name| {
        let data = match name {
            EventName::Ready => Ready::schema_name(),
            EventName::Resync => Resync::schema_name(),
            EventName::Artifact => ArtifactEvent::schema_name(),
            EventName::Refresh => RefreshEvent::schema_name(),
            EventName::Check => CheckEvent::schema_name(),
            EventName::Agent(_) => AgentEvent::schema_name(),
        };
        format!("{{event: \"{}\", data: {data}}}", name.as_str())
    });
    format!("/** @typedef {{{}}} StreamEvent */\n", frames.join(" | "))
}

/// Writes one named type, with the first sentence of each property's description.
fn definition(name: &str, schema: &Value) -> String {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return format!("/** @typedef {{{}}} {name} */\n", expression(schema));
    };
    let mut text = format!("/**\n * @typedef {{object}} {name}\n");
    for (property, inner) in properties {
        let mark = if is_required(schema, property) { "" } else { "=" };
        let about = sentence(inner);
        let line = format!(" * @property {{{}{mark}}} {property} {about}", expression(inner));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push_str(" */\n");
    text
}

/// Writes a schema as a type expression.
fn expression(schema: &Value) -> String {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or("unknown").to_owned();
        // A variant that has its tag beside what it holds.
        return match schema.get("properties").and_then(Value::as_object) {
            Some(properties) => format!("({name} & {})", object(properties, schema)),
            None => name,
        };
    }
    if let Some(constant) = schema.get("const") {
        return constant.to_string();
    }
    for key in ["enum", "oneOf", "anyOf"] {
        if let Some(options) = schema.get(key).and_then(Value::as_array) {
            let written = options
                .iter()
                .map(|it| if key == "enum" { it.to_string() } else { expression(it) });
            return written.collect::<Vec<_>>().join(" | ");
        }
    }
    match schema.get("type") {
        Some(Value::String(name)) => plain(name, schema),
        Some(Value::Array(names)) => {
            let parts = names.iter().filter_map(Value::as_str).map(|name| plain(name, schema));
            parts.collect::<Vec<_>>().join(" | ")
        }
        _ => "any".to_owned(),
    }
}

fn plain(name: &str, schema: &Value) -> String {
    match name {
        "integer" | "number" => "number".to_owned(),
        "array" => {
            let items = schema.get("items").map_or_else(|| "any".to_owned(), expression);
            format!("Array<{items}>")
        }
        "object" => match schema.get("properties").and_then(Value::as_object) {
            Some(properties) => object(properties, schema),
            None => "Record<string, any>".to_owned(),
        },
        other => other.to_owned(),
    }
}

fn object(properties: &Map<String, Value>, schema: &Value) -> String {
    let fields = properties.iter().map(|(name, inner)| {
        let mark = if is_required(schema, name) { "" } else { "?" };
        format!("{name}{mark}: {}", expression(inner))
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
}

fn is_required(schema: &Value, property: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|name| name == property))
}

fn sentence(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let first = text.split(". ").next().unwrap_or_default();
    first.split_whitespace().collect::<Vec<_>>().join(" ").replace("*/", "* /")
}
