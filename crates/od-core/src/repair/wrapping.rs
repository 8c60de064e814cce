//! Requests that are packed: a call around its arguments, files in a list, a JSON patch.

use serde_json::json;

use super::change::{Change, unquoted};
use super::names::{self, Operation};
use crate::json::Value;

/// Returns the changes that unpack a field; none if it is no packing.
pub(super) fn unpack(
    body: &Value,
    operation: Operation,
    at: &str,
    key: &str,
    value: &Value,
) -> Vec<Change> {
    let name = names::fold(key);
    let is_top = at.matches('/').count() == 1;
    if is_top && value.as_str().is_some_and(names::is_tool_name) {
        return vec![Change::Remove { at: at.to_owned() }];
    }
    if is_top && operation != Operation::Execute && is_call(&name) {
        if value.as_str().is_some_and(|text| unquoted(text).is_some()) {
            return vec![Change::Unquote { at: at.to_owned() }];
        }
        if let Some(inner) = value.as_object()
            && inner.keys().any(|key| is_part_of_a_request(operation, key))
        {
            let up = |inner: &String| {
                let from = format!("{at}/{}", inner.replace('~', "~0").replace('/', "~1"));
                Change::Move { from, to: format!("/{inner}") }
            };
            let mut changes: Vec<Change> =
                inner.keys().filter(|key| body.get(key.as_str()).is_none()).map(up).collect();
            changes.push(Change::Remove { at: at.to_owned() });
            return changes;
        }
    }
    if let (true, Value::Array(items), "artifacts" | "items" | "requests" | "documents") =
        (is_top && operation != Operation::Execute, value, name.as_str())
        && let [Value::Object(only)] = items.as_slice()
        && body.get("input").is_none()
    {
        let put = |(key, value): (&String, &Value)| Change::Write {
            at: format!("/{}", key.replace('~', "~0").replace('/', "~1")),
            value: value.clone(),
        };
        let mut changes = vec![Change::Remove { at: at.to_owned() }];
        changes.extend(only.iter().map(put));
        return changes;
    }
    if operation != Operation::Execute && (is_top || at.matches('/').count() == 2) {
        let page = page_inside(body, at, value);
        if !page.is_empty() {
            return page;
        }
    }
    match (name.as_str(), value) {
        ("files", _) if operation != Operation::Execute => files(at, value),
        ("patch" | "operations" | "ops" | "changes" | "edits", Value::Array(steps)) => {
            patch(operation, at, steps)
        }
        ("sources", Value::Array(items)) => sources(at, items),
        _ => Vec::new(),
    }
}

/// The deepest level that a request is looked for at.
const ENVELOPES_MAX: usize = 4;

/// Takes a request out of whatever was put around it, such as a call of a protocol; `None` if the body
/// has a field of a request itself, or holds none.
pub(super) fn envelope(body: &Value, operation: Operation) -> Option<Vec<Change>> {
    let outer = body.as_object()?;
    // A page beside it is the author's, whatever it is called: `TemplateHTML`.
    let is_page = |(key, value): (&String, &Value)| {
        value.is_string()
            && names::place(operation, "", key).is_some_and(|place| place == "/templateHtml")
    };
    if outer.keys().any(|key| is_own(operation, key)) || outer.iter().any(is_page) {
        return None;
    }
    let at = request_in(body, operation, 0)?;
    let inner = body.pointer(&at)?;
    if inner.is_string() {
        return Some(vec![Change::Unquote { at }]);
    }
    let names: Vec<&String> = inner.as_object()?.keys().collect();
    if names.iter().any(|name| outer.contains_key(name.as_str())) {
        return None;
    }
    let up = |name: &&String| {
        let name = name.replace('~', "~0").replace('/', "~1");
        Change::Move { from: format!("{at}/{name}"), to: format!("/{name}") }
    };
    let mut changes: Vec<Change> = names.iter().map(up).collect();
    let around = at.split('/').nth(1).unwrap_or_default();
    // Names, numbers and versions of the protocol go; words that somebody wrote are for other rules.
    let is_rest = |(key, value): &(&String, &Value)| {
        key.as_str() == around
            || match value {
                Value::String(text) => !text.contains(char::is_whitespace),
                Value::Null | Value::Bool(_) | Value::Number(_) => true,
                Value::Array(_) | Value::Object(_) => false,
            }
    };
    let gone = outer.iter().filter(is_rest);
    changes.extend(gone.map(|(key, _)| Change::Remove { at: format!("/{key}") }));
    Some(changes)
}

/// Returns whether a name is one that a request has.
fn is_own(operation: Operation, key: &str) -> bool {
    match operation {
        Operation::Create => matches!(key, "input" | "templateHtml" | "title" | "document"),
        Operation::Update => {
            matches!(key, "input" | "templateHtml" | "title" | "document" | "artifactId")
        }
        Operation::Execute => matches!(key, "connectorId" | "toolName" | "connector" | "tool"),
    }
}

/// Finds the place of a request below a value, also where it was sent as text.
fn request_in(value: &Value, operation: Operation, depth: usize) -> Option<String> {
    let map = value.as_object().filter(|_| depth < ENVELOPES_MAX)?;
    map.iter().find_map(|(key, value)| {
        if matches!(key.as_str(), "data" | "dataJson" | "document" | "files") {
            return None;
        }
        let at = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
        let read = value.as_str().and_then(unquoted);
        match value.as_object().or_else(|| read.as_ref()?.as_object()) {
            Some(inner) if is_request(operation, inner) => Some(at),
            Some(_) => request_in(value, operation, depth + 1).map(|below| format!("{at}{below}")),
            None => None,
        }
    })
}

fn is_request(operation: Operation, map: &crate::json::Map) -> bool {
    if operation == Operation::Execute {
        return map.contains_key("toolName")
            || map.contains_key("tool") && map.contains_key("input");
    }
    let places: std::collections::BTreeSet<String> =
        map.keys().filter_map(|key| names::place(operation, "", key)).collect();
    let of_page = |place: &String| {
        let document = "/input/document";
        let below = place.strip_prefix(document).unwrap_or("/other");
        matches!(place.as_str(), "/templateHtml" | "/input/title")
            || matches!(below, "" | "/dataJson" | "/sourceJson")
    };
    let input = map.get("input").and_then(Value::as_object);
    let is_input = input.is_some_and(|input| {
        ["title", "document", "description", "dataJson"].iter().any(|it| input.contains_key(*it))
    });
    is_input || places.iter().filter(|place| of_page(place)).count() >= 2
}

/// Takes a page out of an object that holds it: `"design": { "html": "<…" }`.
fn page_inside(body: &Value, at: &str, value: &Value) -> Vec<Change> {
    let is_page = |(key, value): &(&String, &Value)| {
        matches!(
            names::fold(key).as_str(),
            "html" | "template" | "templatehtml" | "markup" | "content" | "body" | "page"
        ) && value.as_str().is_some_and(|text| text.trim_start().starts_with('<'))
    };
    let found = value.as_object().and_then(|map| map.iter().find(is_page).map(|it| (map, it.0)));
    // A sheet beside the page goes into it, which is for whoever takes the object as a template.
    let is_alone = |(map, _): &(&crate::json::Map, &String)| {
        !["css", "style", "styles"].iter().any(|name| map.contains_key(*name))
    };
    let found = found.filter(is_alone).filter(|_| body.get("templateHtml").is_none());
    let Some((map, key)) = found else { return Vec::new() };
    let from = format!("{at}/{key}");
    let mut changes = vec![Change::Move { from, to: "/templateHtml".to_owned() }];
    if map.len() == 1 {
        changes.push(Change::Remove { at: at.to_owned() });
    }
    changes
}

fn is_call(name: &str) -> bool {
    matches!(
        name,
        "arguments"
            | "args"
            | "params"
            | "parameters"
            | "body"
            | "request"
            | "requestbody"
            | "toolinput"
    )
}

fn is_part_of_a_request(operation: Operation, key: &str) -> bool {
    matches!(key, "input" | "templateHtml" | "artifactId")
        || names::place(operation, "", key).is_some_and(|place| !place.contains("sourceJson"))
}

/// Takes the files of an artifact out of a list or an object of them.
fn files(at: &str, value: &Value) -> Vec<Change> {
    let text = |entry: &Value, names: &[&str]| {
        names.iter().find_map(|name| entry.get(name)?.as_str()).map(str::to_owned)
    };
    let files: Vec<(String, Value)> = match value {
        Value::Object(map) => map.iter().map(|(name, it)| (name.clone(), it.clone())).collect(),
        Value::Array(items) => items
            .iter()
            .filter_map(|entry| {
                let name = text(entry, &["path", "name", "filename", "file"])?;
                let content = ["content", "contents", "text", "data", "body"];
                let content = content.iter().find_map(|field| entry.get(field))?;
                Some((name, content.clone()))
            })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    let mut changes = Vec::new();
    for (name, content) in files {
        let name = name.rsplit('/').next().unwrap_or(&name).to_ascii_lowercase();
        let to = match name.as_str() {
            "artifact.json" => "/input",
            "data.json" => "/input/document/dataJson",
            "provenance.json" => "/provenanceJson",
            _ if name.ends_with(".html") => "/templateHtml",
            _ => continue,
        };
        let read = content.as_str().filter(|_| to != "/templateHtml").and_then(unquoted);
        changes.push((to, read.unwrap_or(content)));
    }
    // The input first: what the other files hold goes into it.
    changes.sort_by_key(|(to, _): &(&str, Value)| to.len());
    if changes.is_empty() {
        return Vec::new();
    }
    let write = |(to, value): (&str, Value)| Change::Write { at: to.to_owned(), value };
    let mut changes: Vec<Change> = changes.into_iter().map(write).collect();
    changes.push(Change::Remove { at: at.to_owned() });
    changes
}

/// Writes what a JSON patch would write, each value at the place of its field.
fn patch(operation: Operation, at: &str, steps: &[Value]) -> Vec<Change> {
    let mut changes = Vec::new();
    for step in steps {
        let path = step.get("path").and_then(Value::as_str);
        let (Some(path), Some(value)) = (path, step.get("value")) else { return Vec::new() };
        let path = path.replace('.', "/");
        let path = path.trim_start_matches('/');
        let rest = ["input/document/dataJson/", "document/dataJson/", "dataJson/", "data/"]
            .iter()
            .find_map(|root| path.strip_prefix(root));
        let to = match (rest, path.rsplit('/').next()) {
            // Data in an update replaces data: a part of it cannot be sent alone.
            (Some(_), _) => return Vec::new(),
            (None, Some(last)) => names::place(operation, "", last),
            (None, None) => None,
        };
        let Some(to) = to else { return Vec::new() };
        changes.push(Change::Write { at: to, value: value.clone() });
    }
    changes.push(Change::Remove { at: at.to_owned() });
    changes
}

/// Moves a source that stands in a list of them.
fn sources(at: &str, items: &[Value]) -> Vec<Change> {
    let runs = ["input", "outputMapping", "toolName", "connector", "refreshPermission"];
    let [source] = items else { return Vec::new() };
    if !runs.iter().any(|field| source.get(field).is_some()) {
        return Vec::new();
    }
    let to = "/input/document/sourceJson".to_owned();
    vec![Change::Write { at: to, value: source.clone() }, Change::Remove { at: at.to_owned() }]
}

/// Unpacks an execute request that stands inside its own input.
pub(super) fn unpack_execute(body: &Value) -> Vec<Change> {
    let Some(inner) = body.get("input").and_then(Value::as_object) else { return Vec::new() };
    let parts = ["connectorId", "toolName", "purpose"];
    let named = |name: &&&str| inner.contains_key(**name) && body.get(**name).is_none();
    let mut changes: Vec<Change> = parts
        .iter()
        .filter(named)
        .map(|name| Change::Move { from: format!("/input/{name}"), to: format!("/{name}") })
        .collect();
    if !changes.is_empty()
        && let Some(input) = inner.get("input")
    {
        changes.push(Change::Write { at: "/input".to_owned(), value: input.clone() });
    }
    changes
}

/// Finds the id of an artifact in the texts of a request: under another name, in an address.
#[must_use]
pub fn named_artifact(body: &Value) -> Option<String> {
    id_in(body, 0).map(|(_, id)| id)
}

/// Returns the change that puts the id of the artifact where it belongs.
pub(super) fn artifact_id(body: &Value) -> Vec<Change> {
    match id_in(body, 0) {
        Some((at, id)) if at == "/artifactId" => vec![Change::Write { at, value: json!(id) }],
        Some((at, id)) if body.pointer(&at).and_then(Value::as_str) == Some(id.as_str()) => {
            vec![Change::Move { from: at, to: "/artifactId".to_owned() }]
        }
        Some((_, id)) => vec![Change::Write { at: "/artifactId".to_owned(), value: json!(id) }],
        None => Vec::new(),
    }
}

fn id_in(value: &Value, depth: usize) -> Option<(String, String)> {
    let map = value.as_object()?;
    let of_text = map.iter().find_map(|(key, value)| {
        let is_name = names::fold(key).contains("artifact")
            || matches!(
                names::fold(key).as_str(),
                "id" | "url" | "consoleurl" | "uri" | "target" | "ref" | "item" | "page" | "on"
            );
        let id = value.as_str().filter(|_| is_name).and_then(id_of)?;
        Some((format!("/{key}"), id))
    });
    of_text.or_else(|| {
        let inner = map.iter().filter(|_| depth < 2);
        inner.filter(|(key, _)| names::fold(key) != "datajson").find_map(|(key, value)| {
            id_in(value, depth + 1).map(|(at, id)| (format!("/{key}{at}"), id))
        })
    })
}

/// Reads `la-<slug>-<12 hex>` out of a text.
fn id_of(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let words = text.split(|c| !is_part(c));
    let is_id = |word: &&str| {
        word.starts_with("la-")
            && word.rsplit('-').next().is_some_and(|hex| {
                hex.len() == 12 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
    };
    words.into_iter().find(is_id).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_artifact_is_found_under_any_name_and_in_an_address() {
        let id = "la-t-0123456789ab";
        let check = |body: Value, found: Option<&str>| {
            assert_eq!(named_artifact(&body).as_deref(), found, "{body}");
        };
        check(json!({ "artifact_id": id }), Some(id));
        check(json!({ "id": id, "title": "x" }), Some(id));
        check(json!({ "arguments": { "artifactId": id } }), Some(id));
        check(json!({ "artifactId": format!("http://127.0.0.1:7456/#/p/{id}?x=1") }), Some(id));
        check(json!({ "title": id }), None);
    }
}
