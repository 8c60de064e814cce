//! The catalogue entry of the `project_files` connector.

use od_core::connector::{Category, LocalTool};
use od_core::json::Value;
use od_ports::connector_provider::{CatalogEntry, ConnectorAccess};
use serde_json::json;

use super::provider::MATCHES_MAX;
use crate::catalog::{connector_id, names, read_only};

/// Describes the connector.
pub(super) fn entry() -> CatalogEntry {
    let search = read_only(
        LocalTool::SearchFiles.as_str(),
        "Search project files",
        "Finds lines in the project's text files. Ignored, hidden and binary files and files of \
         secrets are skipped; globs only narrow.",
        search_schema(),
        "reads files of the project",
    );
    let read = read_only(
        LocalTool::ReadJson.as_str(),
        "Read a JSON file",
        "Reads one JSON file of the project.",
        object(&[("path", path("file"))], &["path"]),
        "reads one file of the project",
    );
    let read_folder = read_only(
        LocalTool::ReadJsonFolder.as_str(),
        "Read the JSON files of a folder",
        "Reads every JSON file directly in one folder of the project, by name, at most 100.",
        object(&[("folder", path("folder"))], &["folder"]),
        "reads files of the project",
    );
    let mut read_table = read_only(
        LocalTool::ReadTable.as_str(),
        "Read a table",
        "Reads the rows of a CSV, TSV, JSON or JSON Lines file of the project, told by extension and \
         content. Columns of plain numbers hold numbers; an empty cell is null.",
        table_schema(),
        "reads one file of the project",
    );
    // As it was before a decimal comma could be named: a pin of that contract stays good.
    let mut former = table_schema();
    if let Some(properties) = former.get_mut("properties").and_then(Value::as_object_mut) {
        properties.shift_remove("decimal");
    }
    read_table.former_input_schemas = vec![former];
    let read_data = read_only(
        LocalTool::ReadData.as_str(),
        "Read a data file",
        "Reads one JSON, YAML or TOML file of the project, told by its extension.",
        object(&[("path", path("file"))], &["path"]),
        "reads one file of the project",
    );
    let tools = [search, read, read_folder, read_table, read_data];
    let [search, read, _, read_table, _] = &tools;
    CatalogEntry {
        id: connector_id(LocalTool::ReadJson.connector()),
        name: "Project files",
        provider: "local",
        category: Category::Files,
        description: "Text search, tables and documents of the project's own directory.",
        access: ConnectorAccess::Local,
        anonymous_label: None,
        allowed_tool_names: names(&tools.each_ref()),
        featured_tool_names: names(&[read, read_table, search]),
        tools: tools.to_vec(),
    }
}

fn object(properties: &[(&str, Value)], required: &[&str]) -> Value {
    let properties: od_core::json::Map =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn path(what: &str) -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": 260,
        "description": format!("Path of the {what}, from the project's root."),
    })
}

fn table_schema() -> Value {
    object(
        &[
            ("path", path("file")),
            (
                "delimiter",
                json!({
                    "type": "string", "minLength": 1, "maxLength": 3,
                    "description": "The character between two cells, or `tab`; found from the first line if left out.",
                }),
            ),
            (
                "decimal",
                json!({
                    "type": "string", "enum": [".", ","],
                    "description": "The mark before the fraction of a number: with `,` `1.234,50` is 1234.5; `.` if left out.",
                }),
            ),
            (
                "header",
                json!({
                    "type": "boolean",
                    "description": "Whether the first line names the columns; true if left out.",
                }),
            ),
        ],
        &["path"],
    )
}

fn search_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": {
                "type": "string", "minLength": 1, "maxLength": 500,
                "description": "Text to find, or a regular expression with `regex`.",
            },
            "regex": { "type": "boolean", "description": "Read `query` as a regular expression." },
            "caseSensitive": { "type": "boolean", "description": "Tell upper from lower case." },
            "globs": {
                "type": "array", "maxItems": 20,
                "items": { "type": "string", "minLength": 1, "maxLength": 260 },
                "description": "Only files that match, such as `src/**/*.rs`; `!` excludes.",
            },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": MATCHES_MAX,
                "description": "Matches to return; 50 if left out.",
            },
        },
        "required": ["query"],
        "additionalProperties": false,
    })
}
