//! The faults of a source and its mapping, repaired: paths in our grammar, tools by their names.

use serde_json::json;

use super::change::{Change, parent_of};
use super::field_values::as_id;
use super::names;
use super::several::{self, source_id};
use crate::connector::LocalTool;
use crate::error::{Issue, nearest_name};
use crate::ids::{MappingPath, RelPath};
use crate::json::{Value, is_denied_key};

const SOURCE: &str = "/input/document/sourceJson";

/// Repairs the faults that only a source has.
pub(super) fn mend(issue: &Issue, body: &Value, at: &str, key: &str) -> Vec<Change> {
    let value = body.pointer(at);
    let write = |value: Value| vec![Change::Write { at: at.to_owned(), value }];
    let entry = || parent_of(at).map(|(entry, _)| entry.to_owned());
    match issue.code.as_str() {
        _ if key == "to"
            && value.and_then(Value::as_str).is_some_and(|to| below_data(to) != to) =>
        {
            target(at, value.and_then(Value::as_str).unwrap_or_default())
        }
        "two_kinds_of_source" | "duplicate_id" | "mapping_without_paths" => {
            several::mend(&issue.code, body, at)
        }
        "target_not_a_key" => {
            let entry = entry().unwrap_or_default();
            let from =
                body.pointer(&format!("{entry}/from")).and_then(Value::as_str).unwrap_or("$");
            match from
                .trim_start_matches(['$', '.'])
                .rsplit('.')
                .find(|step| step.parse::<usize>().is_err() && !step.is_empty())
            {
                Some(step) => write(json!(step)),
                None => vec![Change::Remove { at: format!("{SOURCE}/outputMapping/dataPaths") }],
            }
        }
        "target_blocked" => {
            let to = value.and_then(Value::as_str).unwrap_or_default();
            let Some((above, _)) = to.rsplit_once('.') else { return Vec::new() };
            let place = format!("/input/document/dataJson/{}", above.replace('.', "/"));
            match body.pointer(&place) {
                Some(found) if !found.is_array() => {
                    vec![Change::Move { from: place.clone(), to: format!("{place}/text") }]
                }
                _ => write(json!(to.replace('.', "_"))),
            }
        }
        "overlapping_target" => {
            let entry = entry().unwrap_or_default();
            let Some((list, index)) = parent_of(&entry) else { return Vec::new() };
            let entries =
                body.pointer(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let index: usize = index.parse().unwrap_or(0);
            if entries[..index.min(entries.len())]
                .contains(&entries[index.min(entries.len().saturating_sub(1))])
            {
                return vec![Change::Remove { at: entry }];
            }
            let to = value.and_then(Value::as_str).unwrap_or_default();
            write(json!(format!("{}{}", to.replace('.', "_"), index + 1)))
        }
        "file_not_named" => file_named(body, at),
        "field_of_another_type" => other_type(body, at, key, value),
        "tool_name_differs" => body
            .pointer(&format!("{SOURCE}/connector/toolName"))
            .cloned()
            .map_or_else(Vec::new, write),
        "unknown_tool" => unknown_tool(at, value),
        _ => Vec::new(),
    }
}

/// Makes a list of a mapping that was sent as its one pair: `outputMapping: { from, to }`.
pub(super) fn one_mapping(body: &Value, parent: &str) -> Option<Vec<Change>> {
    let map = body.pointer(parent)?.as_object().filter(|_| parent.ends_with("/outputMapping"))?;
    let (from, to) = (map.get("from")?.as_str()?, map.get("to")?.as_str()?);
    let place = format!("{parent}/dataPaths");
    let pair = json!([{ "from": mapping_path(from)?, "to": mapping_path(below_data(to))? }]);
    Some(vec![
        Change::Remove { at: format!("{parent}/from") },
        Change::Remove { at: format!("{parent}/to") },
        Change::Write { at: place, value: pair },
    ])
}

/// Returns whether a pair of a mapping names where its value comes from, beside its `output`.
pub(super) fn has_origin(body: &Value, entry: &str) -> bool {
    let of_origin = ["from", "input", "source", "path", "src", "in"];
    let entry = body.pointer(entry);
    of_origin.iter().any(|name| entry.is_some_and(|entry| entry.get(*name).is_some()))
}

/// Returns a target without the names of the data that stand before it.
fn below_data(to: &str) -> &str {
    let mut rest = to.trim().trim_start_matches("{{").trim_end_matches("}}").trim();
    let roots = ["$.", "input.", "document.", "dataJson.", "data."];
    while let Some(below) = roots.iter().find_map(|root| rest.strip_prefix(root)) {
        rest = below;
    }
    rest
}

/// Makes an entry of `outputMapping: { "rows": "$.items" }`, where the key is the target.
pub(super) fn target_as_key(
    body: &Value,
    at: &str,
    key: &str,
    value: &Value,
) -> Option<Vec<Change>> {
    let known = ["mapping", "mappings", "map", "paths", "fields", "rules", "entries", "transforms"];
    let from = match value {
        Value::String(from) if !known.contains(&key) => from.as_str(),
        Value::Object(map) => {
            ["from", "path", "source"].iter().find_map(|name| map.get(*name)?.as_str())?
        }
        Value::String(_) | Value::Array(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {
            return None;
        }
    };
    let (from, to) = (mapping_path(from)?, mapping_path(below_data(key))?);
    let place = format!("{SOURCE}/outputMapping/dataPaths");
    let mut entries = body.pointer(&place).and_then(Value::as_array).cloned().unwrap_or_default();
    entries.push(json!({ "from": from, "to": to }));
    Some(vec![
        Change::Remove { at: at.to_owned() },
        Change::Write { at: place, value: json!(entries) },
    ])
}

/// Returns the local tool that stands behind a source's type which is none.
pub(super) fn tool_of_type(given: &str) -> Option<&'static str> {
    match names::fold(given).as_str() {
        "git" | "gitrepo" | "gitlog" | "repository" | "gitrepository" => Some("git.summary"),
        "sqlite" | "database" | "sql" | "db" => Some("sqlite.query"),
        _ => None,
    }
}

/// Returns what an author should know of a path that was rewritten.
pub(super) fn note(issue: &Issue, body: &Value) -> Option<&'static str> {
    let text = body.pointer(&issue.path).and_then(Value::as_str)?;
    let is_path = issue.path.contains("/dataPaths/") && issue.code == "malformed";
    (is_path && text.contains("?("))
        .then_some("maps all rows: a mapping does not choose among them")
}

/// Repairs a target that names `data` itself, with the path that was meant.
fn target(at: &str, to: &str) -> Vec<Change> {
    let to = below_data(to);
    vec![Change::Write {
        at: at.to_owned(),
        value: json!(mapping_path(to).unwrap_or_else(|| to.to_owned())),
    }]
}

pub(super) fn denied_target(at: &str, value: Option<&Value>) -> Vec<Change> {
    let Some(to) = value.and_then(Value::as_str) else { return Vec::new() };
    let steps: Vec<&str> = to
        .split('.')
        .map(|step| if is_denied_key(step) { names::allowed_key(step) } else { step })
        .collect();
    vec![Change::Write { at: at.to_owned(), value: json!(steps.join(".")) }]
}

/// Rewrites names that are not in their grammar.
pub(super) fn malformed(at: &str, key: &str, value: Option<&Value>) -> Vec<Change> {
    let Some(text) = value.and_then(Value::as_str) else { return Vec::new() };
    let write = |value: Value| vec![Change::Write { at: at.to_owned(), value }];
    match key {
        "from" if at.contains("/dataPaths/") => {
            mapping_path(text).map_or_else(Vec::new, |path| write(json!(path)))
        }
        "to" if at.contains("/dataPaths/") => {
            mapping_path(below_data(text)).map_or_else(Vec::new, |path| write(json!(path)))
        }
        "path" | "file" | "name" if at.contains("/input/") => {
            rel_path(text).map_or_else(Vec::new, |path| write(json!(path)))
        }
        "generatedAt" => write(json!(timestamp(text)))
            .into_iter()
            .filter(|_| !timestamp(text).is_empty())
            .collect::<Vec<_>>(),
        "slug" | "attemptId" | "sessionId" => write(as_id(text)),
        "toolName" => {
            let dotted =
                text.trim().replace([':', '/', ' '], ".").replace("..", ".").to_ascii_lowercase();
            write(json!(dotted))
        }
        "connectorId" => write(json!(names::fold(text))),
        "artifactId" => Vec::new(),
        _ => Vec::new(),
    }
}

/// Rewrites a path of another grammar: `$.items[0].name`, `items[*]`, `/items/0`, `data["x"]`.
fn mapping_path(text: &str) -> Option<String> {
    let text = text.trim().trim_matches(['{', '}']);
    // `metrics.json#/items`: the file is named by the source.
    let text = text.split_once('#').map_or(text, |(_, inside)| inside);
    let text = text.replace("['", ".").replace("[\"", ".").replace("']", "").replace("\"]", "");
    // What a list is mapped from is the list itself.
    let all = ["[*]", "[]", ".*", "[?", " | "].iter().filter_map(|mark| text.find(mark)).min();
    let text = match all {
        Some(star) => text[..star].to_owned(),
        None => text,
    };
    let text = text.replace('[', ".").replace(']', "").replace('/', ".");
    let steps: Vec<&str> = text
        .split('.')
        .map(|step| step.trim())
        .filter(|step| !step.is_empty() && *step != "$" && *step != "@")
        .collect();
    if steps.is_empty() {
        return Some("$".to_owned());
    }
    let path = steps.join(".");
    path.parse::<MappingPath>().ok().map(|_| path)
}

/// Rewrites a file's path so that it lies inside the project.
fn rel_path(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches("file://").replace('\\', "/");
    let steps: Vec<&str> = text
        .split('/')
        .filter(|step| !matches!(*step, "" | "." | "~") && !step.ends_with(':'))
        .collect();
    if steps.contains(&"..") {
        return None;
    }
    let joined = steps.join("/");
    if text.starts_with('/') {
        // Of an absolute path only the name is sure to be one of the project.
        let name = steps.last()?.to_string();
        return name.parse::<RelPath>().ok().map(|_| name);
    }
    joined.parse::<RelPath>().ok().map(|_| joined)
}

fn timestamp(text: &str) -> String {
    let (day, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
    let clock: String = time.chars().take_while(|c| c.is_ascii_digit() || *c == ':').collect();
    let clock = if clock.len() == 5 { format!("{clock}:00") } else { clock };
    let stamp = format!("{day}T{clock}.000Z");
    stamp.parse::<crate::ids::Timestamp>().map(|_| stamp).unwrap_or_default()
}

/// Adds what a source lacks, as far as the rest of it says.
pub(super) fn required(body: &Value, at: &str, key: &str) -> Vec<Change> {
    let write = |value: Value| vec![Change::Write { at: at.to_owned(), value }];
    let field = |name: &str| body.pointer(&format!("{SOURCE}/{name}"));
    let text = |name: &str| field(name).and_then(Value::as_str);
    let tool = text("toolName").or_else(|| text("connector/toolName"));
    let near = |name: &str| {
        let entry = parent_of(at).and_then(|(entry, _)| body.pointer(entry))?;
        entry.get(name).and_then(Value::as_str).map(str::to_owned)
    };
    match (key, at) {
        ("type", _) if field("connector").is_some() => write(json!("connector_tool")),
        ("type", _) => match tool {
            Some(tool) if LocalTool::from_word(tool).is_some() => write(json!("daemon_tool")),
            Some(_) => write(json!("connector_tool")),
            None => write(json!("local_file")),
        },
        ("connector", _) => match tool.and_then(|tool| tool.split_once('.').map(|it| (it.0, tool)))
        {
            Some((connector, tool)) => write(json!({ "connectorId": connector, "toolName": tool })),
            None => Vec::new(),
        },
        ("connectorId", _) => tool
            .and_then(|tool| tool.split_once('.'))
            .map_or_else(Vec::new, |(id, _)| write(json!(id))),
        ("id", _) if names::named_source(at).is_some() => {
            let source = names::named_source(at).unwrap_or_default();
            write(json!(source_id(body, source)))
        }
        ("toolName", _) => tool.map_or_else(
            || match field("input/path").or_else(|| field("input/file")) {
                Some(_) => write(json!("project_files.read_json")),
                None => Vec::new(),
            },
            |tool| write(json!(tool)),
        ),
        ("to", _) if at.starts_with("/input/document/queries/") => {
            let sql = near("sql").or_else(|| near("query")).unwrap_or_default();
            write(json!(several::target_of(&sql).0))
        }
        ("to", _) => near("from")
            .and_then(|from| mapping_path(&from))
            .and_then(|from| {
                from.rsplit('.')
                    .find(|step| step.parse::<usize>().is_err() && *step != "$")
                    .map(str::to_owned)
            })
            .map_or_else(Vec::new, |to| write(json!(to))),
        ("from", _) => {
            near("to").map_or_else(Vec::new, |to| write(json!(to.trim_start_matches("data."))))
        }
        ("dataPaths", _) => vec![Change::Remove { at: at.to_owned() }],
        _ => Vec::new(),
    }
}

/// Rewrites a part of a source that is of another type than it should be.
pub(super) fn wrong_type(body: &Value, at: &str, key: &str, value: &Value) -> Option<Vec<Change>> {
    let write = |value: Value| Some(vec![Change::Write { at: at.to_owned(), value }]);
    let into =
        |name: &str| Some(vec![Change::Move { from: at.to_owned(), to: format!("{at}/{name}") }]);
    if !at.starts_with(SOURCE) {
        return wrong_type_elsewhere(body, at, key, value);
    }
    let outer = body.pointer(&format!("{SOURCE}/toolName")).and_then(Value::as_str);
    match (key, value) {
        ("sourceJson", Value::Array(items)) if items.len() == 1 => write(items[0].clone()),
        ("sourceJson", Value::String(text)) => match text.split_once('.') {
            Some((connector, _))
                if LocalTool::from_word(text).is_some() || connector == "github" =>
            {
                write(
                    json!({ "type": "connector_tool", "connector": { "connectorId": connector, "toolName": text } }),
                )
            }
            _ => write(json!({ "type": "local_file", "input": { "path": text } })),
        },
        ("connector", Value::String(id)) => {
            let tool = outer.unwrap_or(id);
            let id = id.split('.').next().unwrap_or(id);
            write(json!({ "connectorId": id, "toolName": tool }))
        }
        ("from" | "to", Value::Array(steps)) if at.contains("/dataPaths/") => {
            let step = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
            let path: Vec<String> = steps.iter().map(step).collect();
            write(json!(mapping_path(&path.join("."))?))
        }
        ("outputMapping", Value::Array(_)) => into("dataPaths"),
        (_, Value::Array(items)) if is_path_of_input(at, key) => one_path(items, write),
        ("input", Value::String(_)) => into("path"),
        ("dataPaths", Value::Object(map)) if map.contains_key("from") || map.contains_key("to") => {
            write(json!([value]))
        }
        ("dataPaths", Value::Object(map)) => {
            let pairs: Vec<Value> = map
                .iter()
                .map(|(key, value)| json!({ "from": value.as_str().unwrap_or(key), "to": key }))
                .collect();
            write(json!(pairs))
        }
        (_, Value::String(text)) if at.contains("/dataPaths/") && key.parse::<usize>().is_ok() => {
            let (from, to) = ["->", "=>", ":", "="]
                .iter()
                .find_map(|sign| text.split_once(sign))
                .unwrap_or((text, text));
            let path = |text: &str| mapping_path(text.trim().trim_start_matches("data."));
            let last = |text: String| text.rsplit('.').next().unwrap_or_default().to_owned();
            let (from, to) = (
                mapping_path(from)?,
                path(to).map(|to| if text.contains(['>', ':', '=']) { to } else { last(to) })?,
            );
            write(json!({ "from": from, "to": to }))
        }
        (_, Value::Array(pair)) if at.contains("/dataPaths/") && pair.len() == 2 => {
            write(json!({ "from": pair[0], "to": pair[1] }))
        }
        _ => None,
    }
}

fn wrong_type_elsewhere(body: &Value, at: &str, key: &str, value: &Value) -> Option<Vec<Change>> {
    let write = |value: Value| Some(vec![Change::Write { at: at.to_owned(), value }]);
    let into =
        |name: &str| Some(vec![Change::Move { from: at.to_owned(), to: format!("{at}/{name}") }]);
    match (at, value) {
        ("/input/document/sources", Value::Object(map)) => {
            write(several::listed(map, "id", &["type", "input", "connector", "toolName"]))
        }
        ("/input/document/queries", Value::Object(map)) => write(several::queries(body, map)),
        ("/input/document/queries", Value::String(sql)) => write(json!([several::query_of(sql)])),
        (_, Value::String(sql))
            if parent_of(at).is_some_and(|it| it.0 == "/input/document/queries") =>
        {
            write(several::query_of(sql))
        }
        ("/input", Value::String(_)) => into("path"),
        (_, Value::Array(items)) if is_path_of_input(at, key) => one_path(items, write),
        _ => None,
    }
}

fn is_path_of_input(at: &str, key: &str) -> bool {
    matches!(key, "path" | "file" | "name") && at.ends_with(&format!("/input/{key}"))
}

/// A list of one file is that file; of several, each would be a source of its own.
fn one_path(items: &[Value], write: impl Fn(Value) -> Option<Vec<Change>>) -> Option<Vec<Change>> {
    match items {
        [Value::String(path)] => write(json!(path)),
        _ => None,
    }
}

/// Finds the file in an input that names it otherwise.
fn file_named(body: &Value, at: &str) -> Vec<Change> {
    let Some(input) = body.pointer(at).and_then(Value::as_object) else { return Vec::new() };
    let is_file = |text: &str| {
        let name = text.rsplit('/').next().unwrap_or_default();
        name.contains('.') && !text.contains(' ')
    };
    let named = input.iter().find(|(_, value)| value.as_str().is_some_and(is_file));
    if let Some((key, _)) = named {
        return vec![Change::Rename { at: format!("{at}/{key}"), to: "path".to_owned() }];
    }
    Vec::new()
}

fn other_type(body: &Value, at: &str, key: &str, value: Option<&Value>) -> Vec<Change> {
    let input = body.pointer(&format!("{SOURCE}/input"));
    let names_file =
        ["path", "file", "name"].iter().any(|name| input.and_then(|it| it.get(name)).is_some());
    let kind = |word: &str| Change::Write { at: format!("{SOURCE}/type"), value: json!(word) };
    let tool = match key {
        "connector" => value.and_then(|it| it.get("toolName")).and_then(Value::as_str),
        _ => value.and_then(Value::as_str),
    };
    let is_file_tool =
        tool.is_some_and(|tool| tool.starts_with("project_files") || tool.contains("read"));
    match key {
        "connector" if names_file && is_file_tool => vec![Change::Remove { at: at.to_owned() }],
        "connector" => vec![kind("connector_tool")],
        _ if names_file && tool.is_none_or(|tool| !tool.contains('.') || is_file_tool) => {
            vec![Change::Remove { at: at.to_owned() }]
        }
        _ if body.pointer(&format!("{SOURCE}/connector")).is_some() => vec![kind("connector_tool")],
        _ if tool.is_some_and(|tool| LocalTool::from_word(tool).is_some()) => {
            vec![kind("daemon_tool")]
        }
        _ => vec![kind("connector_tool")],
    }
}

fn unknown_tool(at: &str, value: Option<&Value>) -> Vec<Change> {
    let Some(tool) = value.and_then(Value::as_str) else { return Vec::new() };
    let write = |tool: &str| vec![Change::Write { at: at.to_owned(), value: json!(tool) }];
    let known: Vec<&str> = LocalTool::ALL.iter().map(|tool| tool.as_str()).collect();
    if let Some(near) = nearest_name(tool, known.iter().copied()) {
        return write(near);
    }
    if let Some(whole) = known.iter().find(|known| known.ends_with(&format!(".{tool}"))) {
        return write(whole);
    }
    let folded = names::fold(tool);
    let means = |words: &[&str]| words.iter().any(|word| folded.contains(word));
    if let Some((connector, _)) = tool.split_once('.').filter(|(id, _)| *id == "github") {
        let at = |field: &str| format!("{SOURCE}/{field}");
        return vec![
            Change::Write { at: at("type"), value: json!("connector_tool") },
            Change::Write {
                at: at("connector"),
                value: json!({ "connectorId": connector, "toolName": tool }),
            },
        ];
    }
    match folded {
        _ if means(&["git", "commit", "log"]) => write("git.summary"),
        _ if means(&["sqlite", "sql"]) => write("sqlite.query"),
        _ if means(&["search", "grep", "find"]) => write("project_files.search"),
        _ if means(&["csv", "table"]) => write("project_files.read_table"),
        _ if means(&["json", "file", "read"]) => write("project_files.read_json"),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_rewritten_in_our_grammar() {
        let check = |text: &str, path: Option<&str>| {
            assert_eq!(mapping_path(text).as_deref(), path, "{text}");
        };
        check("$.items[0].name", Some("items.0.name"));
        check("items[*]", Some("items"));
        check("$.items[*].name", Some("items"));
        check("items[]", Some("items"));
        check("/items/0", Some("items.0"));
        check("$['a']['b']", Some("a.b"));
        check("$", Some("$"));
        check("a b", None);
        assert_eq!(rel_path("./data/x.json").as_deref(), Some("data/x.json"));
        assert_eq!(rel_path("/work/p/x.json").as_deref(), Some("x.json"));
        assert_eq!(rel_path("../x.json"), None);
        assert_eq!(timestamp("2026-04-30"), "2026-04-30T00:00:00.000Z");
        assert_eq!(timestamp("2026-04-30T10:00:00Z"), "2026-04-30T10:00:00.000Z");
    }
}
