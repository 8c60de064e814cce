//! The data of an artifact as Markdown: a list of its values, and its tables.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::csv::{DataTable, cell};
use crate::artifact::ArtifactState;
use crate::ids::Digest;

/// Returns title, values, tables and sources.
pub(super) fn document(state: &ArtifactState) -> String {
    let mut out = String::new();
    let heading = &state.artifact.heading;
    let _ = writeln!(out, "# {}\n", inline(&heading.title));
    if let Some(description) = &heading.description {
        let _ = writeln!(out, "{}\n", inline(description));
    }
    let data = state.data.value();
    if let Some(map) = data.as_object() {
        write_object(map, "", &mut out);
    }
    let provenance = &state.provenance;
    let _ = writeln!(out, "---\n\nAs of {}.", provenance.generated_at);
    for source in &provenance.sources {
        let _ = writeln!(out, "Source: {}.", inline(&source.label));
    }
    let _ = writeln!(out, "Data {}.", Digest::of_json(data));
    out
}

fn write_object(map: &Map<String, Value>, path: &str, out: &mut String) {
    let is_part = |value: &Value| value.is_array() || value.is_object();
    let values: Vec<_> = map.iter().filter(|(_, value)| !is_part(value)).collect();
    for (key, value) in &values {
        let _ = writeln!(out, "- **{}**: {}", inline(key), inline(&cell(value)));
    }
    if !values.is_empty() {
        out.push('\n');
    }
    for (key, value) in map.iter().filter(|(_, value)| is_part(value)) {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if let Some(inner) = value.as_object() {
            let _ = writeln!(out, "## {}\n", inline(&path));
            write_object(inner, &path, out);
        } else {
            write_table(&path, value, out);
        }
    }
}

fn write_table(path: &str, value: &Value, out: &mut String) {
    let Some(table) = DataTable::of(value) else { return };
    let _ = writeln!(out, "## {}\n", inline(path));
    if table.rows.is_empty() {
        out.push_str("No rows.\n\n");
        return;
    }
    write_row(&table.columns, out);
    out.push_str(&"| --- ".repeat(table.columns.len()));
    out.push_str("|\n");
    table.rows.iter().for_each(|row| write_row(row, out));
    out.push('\n');
}

fn write_row(cells: &[String], out: &mut String) {
    for text in cells {
        let _ = write!(out, "| {} ", inline(text));
    }
    out.push_str("|\n");
}

/// Escapes a text so that Markdown shows it as it is, on one line.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '!' | '&' => {
                out.push('\\');
                out.push(character);
            }
            '\n' | '\r' | '\t' => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_a_list_and_lists_are_tables() {
        let data = json!({
            "total": 3, "note": "a|b\n<script>", "rows": [{ "n": 1 }, { "n": "*x*" }],
            "deep": { "ok": true, "none": [] }
        });
        let mut out = String::new();
        write_object(data.as_object().unwrap(), "", &mut out);
        assert_eq!(
            out,
            "- **total**: 3\n- **note**: a\\|b \\<script\\>\n\n## rows\n\n| n |\n| --- |\n| 1 |\n| \\*x\\* |\n\n\
             ## deep\n\n- **ok**: true\n\n## deep.none\n\nNo rows.\n\n"
        );
    }
}
