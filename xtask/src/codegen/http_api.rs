//! docs/http-api.md and docs/openapi.json, from the route table and the wire types.

use super::table::GeneratedFile;

/// Renders the reference of the HTTP API.
pub(super) fn render() -> Result<Vec<GeneratedFile>, String> {
    let openapi = od_wire::schema::openapi();
    let mut text = serde_json::to_string_pretty(&openapi).map_err(|error| error.to_string())?;
    text.push('\n');
    Ok(vec![
        GeneratedFile { path: "docs/http-api.md".to_owned(), text: od_wire::reference::markdown() },
        GeneratedFile { path: "docs/openapi.json".to_owned(), text },
    ])
}
