//! docs/schemas: the JSON Schemas of every stored and agent-facing shape.

use od_core::input::{AGENT_FACING, lint};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use super::table::GeneratedFile;

/// Renders every schema; an agent-facing one that is not strict fails.
pub(super) fn render() -> Result<Vec<GeneratedFile>, String> {
    let mut files = stored();
    for shape in AGENT_FACING {
        let schema = (shape.schema)();
        if let Some(fault) = lint(&schema).first() {
            return Err(format!("{}: {} is {}", shape.name, fault.at, fault.what));
        }
        files.push(file(shape.name, &schema));
    }
    Ok(files)
}

/// The stored shapes, and those of answers: open to the fields of a newer daemon.
fn stored() -> Vec<GeneratedFile> {
    vec![
        of::<od_core::artifact::Artifact>("artifact"),
        of::<od_core::artifact::ArtifactSummary>("artifact-summary"),
        of::<od_core::artifact::Provenance>("provenance"),
        of::<od_core::refresh::RefreshRecord>("refresh-record"),
        of::<od_core::connector::Connector>("connector"),
        of::<od_core::error::Failure>("failure"),
        file("data", &bounded_data()),
    ]
}

fn of<T: JsonSchema>(name: &str) -> GeneratedFile {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    file(name, &SchemaGenerator::new(settings).into_root_schema_for::<T>().to_value())
}

/// The schema of `data.json`: free-form within its bounds.
fn bounded_data() -> Value {
    let mut generator = SchemaGenerator::default();
    od_core::json::BoundedObject::json_schema(&mut generator).to_value()
}

fn file(name: &str, schema: &Value) -> GeneratedFile {
    let mut root = json!({ "$schema": "https://json-schema.org/draft/2020-12/schema" });
    if let (Value::Object(root), Value::Object(schema)) = (&mut root, schema) {
        root.extend(schema.clone());
    }
    let bytes = od_core::json::pretty_bytes(&root);
    GeneratedFile {
        path: format!("docs/schemas/{name}.json"),
        text: String::from_utf8_lossy(&bytes).into_owned(),
    }
}
