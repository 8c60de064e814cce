//! The part of an intake that a mapping takes, built no larger than the mapping can use it.

use super::compact_table::ROW_KEYS;
use super::transform::{TransformError, VALUE_KEYS, transform};
use crate::artifact::Transform;
use crate::ids::MappingPath;
use crate::intake::{Intake, JsonSlice, JsonText, Table};
use crate::json::{Map, Value, type_name};
use crate::limits::{JSON_DOCUMENT, TABLE_ROWS};

/// A part that is larger than this is never stored whole, whatever its canonical form takes.
pub(super) const WHOLE_MAX: usize = 4 * JSON_DOCUMENT.max();

/// The reason that no value comes of a part.
#[derive(Clone, Copy, Debug)]
pub(super) enum NotTaken {
    /// The path leads nowhere.
    Unresolved,
    /// It is far larger than what is stored.
    TooLarge { measured: usize },
    /// It does not have the form that the transform needs.
    Transform(TransformError),
}

/// Takes the value at a path, transformed. Of large rows only those are built that the transform keeps.
pub(super) fn take(
    output: &Intake,
    from: &MappingPath,
    how: Transform,
    source: &str,
) -> Result<Value, NotTaken> {
    let part = match output {
        Intake::Json(text) => json_part(text, from, how)?,
        Intake::Table(table) => table_part(output, table, from, how)?,
    };
    let mut value = transform(how, &part.value, source).map_err(NotTaken::Transform)?;
    if let (Some(rows), Transform::CompactTable, Value::Object(table)) =
        (part.rows, how, &mut value)
    {
        table.insert("count".to_owned(), rows.into());
        table.insert("truncated".to_owned(), (!TABLE_ROWS.allows(rows)).into());
    }
    Ok(value)
}

/// A part as a value, and how many rows it has where not all of them are built.
struct Part {
    value: Value,
    rows: Option<usize>,
}

fn json_part(text: &JsonText, from: &MappingPath, how: Transform) -> Result<Part, NotTaken> {
    let slice = text.resolve(from).or_else(|| below_json(text, from));
    let slice = slice.ok_or(NotTaken::Unresolved)?;
    let measured = slice.as_str().len();
    if measured <= WHOLE_MAX {
        return Ok(Part { value: slice.to_value(), rows: None });
    }
    let rows = if slice.is_array() {
        Some(slice)
    } else {
        ROW_KEYS.iter().find_map(|key| slice.get(key).filter(|rows| rows.is_array()))
    };
    match (how, rows) {
        (Transform::Identity, _) | (Transform::CompactTable, None) => {
            Err(NotTaken::TooLarge { measured })
        }
        (Transform::CompactTable, Some(rows)) => {
            let first = rows.items().take(TABLE_ROWS.max() + 1).map(JsonSlice::to_value);
            Ok(Part { value: first.collect(), rows: Some(rows.items().count()) })
        }
        (Transform::MetricSummary, rows) => {
            let count = rows.map(|rows| Value::from(rows.items().count()));
            let is_scalar = |value: &JsonSlice<'_>| !value.is_array() && !value.is_object();
            let members = slice.members().filter(|(_, value)| is_scalar(value));
            let mut scalars: Map =
                members.map(|(key, value)| (key.into_owned(), value.to_value())).collect();
            match count {
                Some(count) if slice.is_array() => return Ok(Part { value: count, rows: None }),
                Some(count) if !VALUE_KEYS.iter().any(|key| scalars.contains_key(*key)) => {
                    scalars.insert("count".to_owned(), count);
                }
                Some(_) | None => {}
            }
            Ok(Part { value: Value::Object(scalars), rows: None })
        }
    }
}

/// Finds the value of a path that begins with `json.`, as mappings of older artifacts do: reading a
/// file once gave `{ "json": … }`.
fn below_json<'t>(text: &'t JsonText, from: &MappingPath) -> Option<JsonSlice<'t>> {
    let below = from.as_str().trim_start_matches("$.").strip_prefix("json.")?;
    let is_new = text.root().get("json").is_none();
    let path: MappingPath = below.parse().ok().filter(|_| is_new)?;
    text.resolve(&path)
}

fn table_part(
    output: &Intake,
    table: &Table,
    from: &MappingPath,
    how: Transform,
) -> Result<Part, NotTaken> {
    let is_rows = from.is_root() || from.as_str().trim_start_matches("$.") == "rows";
    let measured = if is_rows { output.json_size() } else { 0 };
    if measured <= WHOLE_MAX {
        let value = output.resolve(from).ok_or(NotTaken::Unresolved)?;
        return Ok(Part { value, rows: None });
    }
    match how {
        Transform::Identity => Err(NotTaken::TooLarge { measured }),
        Transform::CompactTable => {
            let value = Value::Array(first_rows(table, TABLE_ROWS.max() + 1));
            Ok(Part { value, rows: Some(table.len()) })
        }
        Transform::MetricSummary => Ok(Part { value: table.len().into(), rows: None }),
    }
}

/// Builds the first rows of a table, at most so many.
#[must_use]
pub fn first_rows(table: &Table, most: usize) -> Vec<Value> {
    let row = |row: usize| {
        let cells = table.row(row).map(|cell| cell.to_value());
        Value::Object(table.columns().iter().cloned().zip(cells).collect())
    };
    (0..table.len().min(most)).map(row).collect()
}

/// Returns a table with its first row only, as a mapping sees it.
pub(super) fn table_head(output: &Intake) -> Option<Value> {
    let Intake::Table(table) = output else { return None };
    let rows = Value::Array(first_rows(table, 1));
    Some(serde_json::json!({ "rows": rows, "columns": table.columns(), "count": table.len() }))
}

/// Lists what exists where a path stops resolving: the deepest container's own paths, nearest
/// spelling first, at most five.
pub(super) fn nearest_paths(output: &Intake, from: &MappingPath) -> Vec<String> {
    let head;
    let text = match output {
        Intake::Json(text) => text,
        Intake::Table(_) => {
            head = JsonText::from_value(&table_head(output).unwrap_or_default());
            match &head {
                Ok(text) => text,
                Err(_) => return vec!["rows".to_owned(), "columns".to_owned(), "count".to_owned()],
            }
        }
    };
    let mut value = text.root();
    let mut prefix = String::new();
    let mut wanted = "";
    for segment in from.segments() {
        wanted = segment.key;
        let next = if value.is_object() {
            value.get(segment.key)
        } else {
            segment.index.and_then(|index| value.item(index))
        };
        let Some(next) = next else { break };
        value = next;
        prefix.push_str(segment.key);
        prefix.push('.');
    }
    let mut names: Vec<String> = if value.is_object() {
        value.members().map(|(key, _)| key.into_owned()).collect()
    } else if value.is_array() {
        let is_empty = value.items().next().is_none();
        vec![if is_empty { "an empty array" } else { "0" }.to_owned()]
    } else {
        let kind = type_name(&value.to_value());
        return vec![format!("{kind} at `{}`", prefix.trim_end_matches('.'))];
    };
    let near = crate::error::nearest_name(wanted, names.iter().map(String::as_str));
    let near = near.and_then(|near| names.iter().position(|name| name == near));
    if let Some(position) = near {
        names.swap(0, position);
    }
    let shown: Vec<_> = names.iter().take(5).map(|name| format!("{prefix}{name}")).collect();
    if shown.is_empty() { vec!["nothing".to_owned()] } else { shown }
}
