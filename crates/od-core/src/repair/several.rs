//! The faults of several sources, repaired: one list, and a name for each.

use serde_json::json;

use super::change::{Change, parent_of};
use crate::json::{Map, Value};

const SOURCE: &str = "/input/document/sourceJson";

/// Repairs the faults that only several sources have.
pub(super) fn mend(code: &str, body: &Value, at: &str) -> Vec<Change> {
    let write = |at: String, value: Value| vec![Change::Write { at, value }];
    let source = parent_of(at).map(|(source, _)| source).unwrap_or_default();
    let id = body.pointer(&format!("{source}/id")).and_then(Value::as_str).unwrap_or("source");
    match code {
        "two_kinds_of_source" => join_sources(body),
        "duplicate_id" => {
            let number = parent_of(source).and_then(|(_, index)| index.parse::<usize>().ok());
            let short: String = id.chars().take(28).collect();
            write(at.to_owned(), json!(format!("{short}_{}", number.unwrap_or(0) + 1)))
        }
        "mapping_without_paths" => {
            write(format!("{at}/dataPaths"), json!([{ "from": "$", "to": id }]))
        }
        _ => Vec::new(),
    }
}

/// Writes an object of parts as a list of them, each with its key as a field.
pub(super) fn listed(map: &Map, field: &str, of_one: &[&str]) -> Value {
    if of_one.iter().any(|name| map.contains_key(*name)) {
        return json!([map]);
    }
    let part = |(key, value): (&String, &Value)| match value {
        Value::Object(part) => {
            let mut part = part.clone();
            part.insert(field.to_owned(), json!(key));
            Value::Object(part)
        }
        Value::String(path) if field == "id" => {
            json!({ field: key, "type": "local_file", "input": { "path": path } })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            json!({ field: key, "sql": value })
        }
    };
    map.iter().map(part).collect()
}

/// Writes an object of queries as a list, each with the shape of what stands where it writes.
pub(super) fn queries(body: &Value, map: &Map) -> Value {
    let mut list = listed(map, "to", &["sql", "query", "to"]);
    for query in list.as_array_mut().into_iter().flatten() {
        let to = query["to"].as_str().unwrap_or_default().trim_start_matches("data.");
        let place = format!("/input/document/dataJson/{}", to.replace('.', "/"));
        let shape = match body.pointer(&place) {
            Some(Value::Array(_) | Value::Null) | None => continue,
            Some(Value::Object(_)) => "row",
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => "value",
        };
        if query.get("shape").is_none() {
            query["shape"] = json!(shape);
        }
    }
    list
}

/// Returns where the result of a query belongs by the query itself, and its shape: `total` and a value for
/// `SELECT count(*) AS total FROM t`, `rows` for any other.
pub(super) fn target_of(sql: &str) -> (String, &'static str) {
    let sql = sql.trim();
    // Of the same length, so that places in it are places in the query.
    let lower = sql.to_ascii_lowercase();
    let rows = || ("rows".to_owned(), "rows");
    let sums = ["count(", "sum(", "avg(", "min(", "max(", "total("];
    let is_one = sums.iter().any(|sum| lower.starts_with(&format!("select {sum}")))
        && !lower.contains(" group by ");
    let Some(end) = lower.find(" from ").filter(|_| is_one) else { return rows() };
    let Some(name) = lower[..end].rfind(" as ").map(|at| sql[at + 4..end].trim()) else {
        return rows();
    };
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_plain && !sql[..end].contains(',') { (name.to_owned(), "value") } else { rows() }
}

/// Makes a query of its text alone.
pub(super) fn query_of(sql: &str) -> Value {
    let (to, shape) = target_of(sql);
    json!({ "to": to, "sql": sql, "shape": shape })
}

/// Writes the id of a source so that it can name a table, and follows it into the queries.
pub(super) fn table_name(body: &Value, at: &str, given: &str) -> Vec<Change> {
    let plain: String = given
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .skip_while(|c| !c.is_ascii_lowercase())
        .take(31)
        .collect();
    if plain.is_empty() {
        return Vec::new();
    }
    let mut changes = vec![Change::Write { at: at.to_owned(), value: json!(plain) }];
    let queries = body.pointer("/input/document/queries").and_then(Value::as_array);
    for (index, query) in queries.into_iter().flatten().enumerate() {
        let Some(sql) = query["sql"].as_str() else { continue };
        let mut followed = sql.to_owned();
        for quoted in [format!("\"{given}\""), format!("`{given}`"), format!("[{given}]")] {
            followed = followed.replace(&quoted, &plain);
        }
        followed = followed.replace(given, &plain);
        if followed != sql {
            let at = format!("/input/document/queries/{index}/sql");
            changes.push(Change::Write { at, value: json!(followed) });
        }
    }
    changes
}

/// Puts the source of `sourceJson` among `sources`, with its permission beside them.
fn join_sources(body: &Value) -> Vec<Change> {
    let several = body.pointer("/input/document/sources").and_then(Value::as_array);
    let one = body.pointer(SOURCE).and_then(Value::as_object);
    let (Some(several), Some(one)) = (several, one) else { return Vec::new() };
    let mut one = one.clone();
    let permission = one.remove("refreshPermission");
    let is_taken = |id: &str| several.iter().any(|source| source["id"] == id);
    let id = if is_taken("source") { "first_source" } else { "source" };
    one.insert("id".to_owned(), id.into());
    let mut all = several.clone();
    all.insert(0, Value::Object(one));
    let mut changes = vec![
        Change::Write { at: "/input/document/sources".to_owned(), value: Value::Array(all) },
        Change::Remove { at: SOURCE.to_owned() },
    ];
    if let Some(value) = permission
        && body.pointer("/input/document/refreshPermission").is_none()
    {
        let at = "/input/document/refreshPermission".to_owned();
        changes.push(Change::Write { at, value });
    }
    changes
}

/// Makes an id for a source of its file's or tool's name.
pub(super) fn source_id(body: &Value, source: &str) -> String {
    let text = |place: &str| body.pointer(&format!("{source}/{place}")).and_then(Value::as_str);
    let name =
        text("input/path").or_else(|| text("connector/toolName")).or_else(|| text("toolName"));
    let name = name.unwrap_or("source");
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.split_once('.').map_or(name, |(first, rest)| match text("input/path") {
        Some(_) => first,
        None => rest,
    });
    let id: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .skip_while(|c| !c.is_ascii_lowercase())
        .take(28)
        .collect();
    if id.is_empty() { "source".to_owned() } else { id }
}
