//! The fields of a request, repaired: what is misplaced moves, what is misspelt is renamed.

use serde_json::json;

use super::change::{Change, parent_of, unquoted};
use super::checks;
use super::field_values::{denied_key, not_allowed, required, too_long, wrong_type};
use super::names::{self, Operation};
use super::schedule;
use super::source;
use super::wrapping;
use crate::error::{Issue, nearest_name};
use crate::json::{Value, is_denied_key};
use crate::limits;

/// The fields whose values are objects or arrays.
const HOLDS_JSON: &[&str] = &[
    "document",
    "preview",
    "dataJson",
    "dataSchemaJson",
    "sourceJson",
    "connector",
    "input",
    "outputMapping",
    "dataPaths",
    "sources",
    "provenanceJson",
];

/// The fields of a document that no page's data is called after.
const OF_DOCUMENT: &[&str] =
    &["dataJson", "sourceJson", "sources", "queries", "format", "dataSchemaJson", "refresh"];

const SCHEDULE: &str = "/input/document/refresh";

/// Returns the changes that repair one fault of the body; none if nobody but the author knows.
pub(super) fn mend(issue: &Issue, body: &Value, operation: Operation) -> Vec<Change> {
    let at = issue.path.as_str();
    let Some((parent, key)) = parent_of(at) else { return whole_body(issue, body) };
    let value = body.pointer(at);
    match issue.code.as_str() {
        code if at.starts_with(SCHEDULE) && !matches!(code, "unknown_field" | "required") => {
            schedule::mend(issue, at, &key, value)
        }
        code if at.starts_with(checks::CHECKS) && code != "unknown_field" => {
            checks::mend(code, body, at, &key, value)
        }
        "not_a_template" => vec![Change::Remove { at: at.to_owned() }],
        "unknown_field" => unknown_field(body, operation, parent, &key, at, issue),
        "daemon_owned" if !matches!(parent, "" | "/input") => {
            unknown_field(body, operation, parent, &key, at, issue)
        }
        "daemon_owned" => match names::place(operation, parent, &key) {
            Some(to)
                if operation == Operation::Update
                    && key != "projectId"
                    && body.pointer(&to).is_none() =>
            {
                vec![Change::Move { from: at.to_owned(), to }]
            }
            _ => vec![Change::Remove { at: at.to_owned() }],
        },
        // A fix before this one has put something there.
        "required" if value.is_some() => Vec::new(),
        "required" if at == "/artifactId" => wrapping::artifact_id(body),
        "malformed" if at == "/artifactId" => wrapping::artifact_id(body),
        "required"
            if operation == Operation::Execute && body.pointer("/input/toolName").is_some() =>
        {
            wrapping::unpack_execute(body)
        }
        "required" | "empty" => required(body, at, &key),
        "wrong_type" | "not_an_object" => {
            value.map_or_else(Vec::new, |value| wrong_type(body, at, &key, value, issue))
        }
        "not_allowed" => not_allowed(body, at, &key, value, issue),
        "too_long" => {
            value.and_then(Value::as_str).map_or_else(Vec::new, |text| too_long(at, &key, text))
        }
        "denied_key" if at.ends_with("/to") => source::denied_target(at, value),
        "denied_key" => denied_key(at, &key, value),
        "malformed" if key == "id" && names::named_source(at).is_some() => {
            let given = value.and_then(Value::as_str).unwrap_or_default();
            super::several::table_name(body, at, given)
        }
        "malformed" => source::malformed(at, &key, value),
        "inexact_number" | "nul_character" | "lone_surrogate" => unstorable(issue, at, value),
        "too_many_items" => {
            let count = if at.ends_with("dataPaths") {
                limits::MAPPING_PATHS.max()
            } else if at.ends_with("/sources") {
                limits::PROVENANCE_SOURCES.max()
            } else {
                limits::JSON_ITEMS.max()
            };
            vec![Change::KeepFirst { at: at.to_owned(), count }]
        }
        "too_deep" => vec![Change::Quote { at: at.to_owned() }],
        "REDACTION_REQUIRED" if value.is_some_and(Value::is_string) => {
            vec![Change::Write { at: at.to_owned(), value: json!("[removed]") }]
        }
        code if code.starts_with("schema_") => super::schema::mend(issue, body),
        _ => source::mend(issue, body, at, &key),
    }
}

/// Writes a number or a text that cannot be stored as one that can.
fn unstorable(issue: &Issue, at: &str, value: Option<&Value>) -> Vec<Change> {
    let write = |text: String| vec![Change::Write { at: at.to_owned(), value: json!(text) }];
    if issue.code != "inexact_number" {
        let text = value.and_then(Value::as_str);
        return text.map_or_else(Vec::new, |text| write(text.replace(['\0', '\u{fffd}'], "")));
    }
    let digits = issue.got.as_deref().and_then(|got| got.split_whitespace().next());
    let digits = digits.unwrap_or_default().trim_matches('`');
    let is_number = digits.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    // Only what is stored may be a text in place of a number.
    let is_stored = at.starts_with("/input/") && is_number && !digits.is_empty();
    if is_stored { write(digits.to_owned()) } else { Vec::new() }
}

fn whole_body(issue: &Issue, body: &Value) -> Vec<Change> {
    if body.as_str().is_some_and(|text| unquoted(text).is_some()) {
        return vec![Change::Unquote { at: String::new() }];
    }
    match body.get(0).filter(|first| issue.code == "wrong_type" && first.is_object()) {
        Some(first) => vec![Change::Write { at: String::new(), value: first.clone() }],
        None => Vec::new(),
    }
}

fn unknown_field(
    body: &Value,
    operation: Operation,
    parent: &str,
    key: &str,
    at: &str,
    issue: &Issue,
) -> Vec<Change> {
    let Some(value) = body.pointer(at) else { return Vec::new() };
    if parent.is_empty()
        && let Some(changes) = wrapping::envelope(body, operation)
    {
        return changes;
    }
    if parent.starts_with(checks::CHECKS) {
        return checks::unknown_field(body, parent, key, at, value);
    }
    if let Some(changes) = source::one_mapping(body, parent) {
        return changes;
    }
    if operation != Operation::Execute
        && let Some(changes) = schedule::misplaced(body, parent, key, at, value)
    {
        return changes;
    }
    if parent == "/input/document" && is_data(body) {
        let to = "/input/document/dataJson".to_owned();
        return vec![Change::Move { from: parent.to_owned(), to }];
    }
    if let Some(changes) = packed_or_misplaced(body, operation, at, value) {
        return changes;
    }
    if let Some(changes) = wrapper(body, operation, at, value) {
        return changes;
    }
    // `{ "input": "items", "output": "rows" }`: what is not the one end is the other.
    let to = match names::fold(key).as_str() {
        "output" | "out" if parent.contains("/dataPaths/") && source::has_origin(body, parent) => {
            Some(format!("{parent}/to"))
        }
        _ => names::place(operation, parent, key),
    };
    if let Some(to) = to
        && to != at
        && body.pointer(&to).is_none()
        && fits(&to, value)
    {
        let same_parent = parent_of(&to).is_some_and(|(above, _)| above == parent);
        return vec![match parent_of(&to) {
            Some((_, name)) if same_parent => Change::Rename { at: at.to_owned(), to: name },
            _ => Change::Move { from: at.to_owned(), to },
        }];
    }
    if parent.starts_with("/input/document/sourceJson/outputMapping") {
        return vec![Change::Remove { at: at.to_owned() }];
    }
    let known: Vec<&str> = issue
        .want
        .as_deref()
        .and_then(|want| want.strip_prefix("one of "))
        .map(|want| want.split(", ").collect())
        .unwrap_or_default();
    if let Some(near) = nearest_name(key, known.iter().copied())
        && body.pointer(&format!("{parent}/{near}")).is_none()
        && (!(value.is_array() || value.is_object()) || HOLDS_JSON.contains(&near))
    {
        return vec![Change::Rename { at: at.to_owned(), to: near.to_owned() }];
    }
    below_data(body, operation, parent, key, at)
}

/// Moves what no field means to the input or the data, or takes it out where there is no such place.
fn below_data(
    body: &Value,
    operation: Operation,
    parent: &str,
    key: &str,
    at: &str,
) -> Vec<Change> {
    let name = if is_denied_key(key) { names::allowed_key(key) } else { key };
    let to = match operation {
        Operation::Execute => format!("/input/{name}"),
        _ if parent.starts_with("/input/document/sourceJson") => {
            format!("/input/document/sourceJson/input/{name}")
        }
        _ if names::named_source(parent).is_some() => {
            format!("{}/input/{name}", names::named_source(parent).unwrap_or_default())
        }
        _ if parent.starts_with("/input/document/queries") => {
            return vec![Change::Remove { at: at.to_owned() }];
        }
        _ if parent.starts_with("/provenanceJson") => {
            return vec![Change::Remove { at: at.to_owned() }];
        }
        Operation::Create => format!("/input/document/dataJson/{name}"),
        // Data in an update replaces data: what is moved there would cost the rest.
        Operation::Update => return vec![Change::Remove { at: at.to_owned() }],
    };
    let to = if body.pointer(&to).is_some() { format!("{to}Given") } else { to };
    vec![Change::Move { from: at.to_owned(), to }]
}

/// Opens a wrapper around the whole request, or around its input.
fn wrapper(body: &Value, operation: Operation, at: &str, value: &Value) -> Option<Vec<Change>> {
    let (parent, key) = parent_of(at)?;
    let inner = value.as_object()?;
    if !parent.is_empty() || operation == Operation::Execute || body.get("input").is_some() {
        return None;
    }
    if inner.contains_key("input") {
        let up =
            |name: &String| Change::Move { from: format!("{at}/{name}"), to: format!("/{name}") };
        let mut changes: Vec<Change> = inner.keys().map(up).collect();
        changes.push(Change::Remove { at: at.to_owned() });
        return Some(changes);
    }
    let whole = ["title", "document", "dataJson"].iter().any(|name| inner.contains_key(*name));
    let is_data = names::place(operation, parent, &key).is_some_and(|to| to.contains("/document"));
    (whole && !is_data).then(|| vec![Change::Rename { at: at.to_owned(), to: "input".to_owned() }])
}

/// Returns whether a document is the data itself: nothing in it is a document's, and the page binds it.
fn is_data(body: &Value) -> bool {
    let html = body.get("templateHtml").and_then(Value::as_str).unwrap_or_default();
    let document = body.pointer("/input/document").and_then(Value::as_object);
    document.is_some_and(|document| {
        !OF_DOCUMENT.iter().any(|field| document.contains_key(*field))
            && document.keys().any(|key| html.contains(&format!("data.{key}")))
    })
}

/// Unpacks a field that holds others, leaves out what no request can set, and follows a path that was
/// written as a key; `None` if the field is none of that.
fn packed_or_misplaced(
    body: &Value,
    operation: Operation,
    at: &str,
    value: &Value,
) -> Option<Vec<Change>> {
    let (parent, key) = parent_of(at)?;
    let key = key.as_str();
    let unpacked = wrapping::unpack(body, operation, at, key, value);
    if !unpacked.is_empty() {
        return Some(unpacked);
    }
    if is_left_out(body, operation, parent, key, value) {
        return Some(vec![Change::Remove { at: at.to_owned() }]);
    }
    // `"document.dataJson"`: a path for a key.
    if let Some((_, last)) = key.rsplit_once('.')
        && !matches!(last, "json" | "html")
        && let Some(to) = names::place(operation, "", last)
        && body.pointer(&to).is_none()
    {
        return Some(vec![Change::Move { from: at.to_owned(), to }]);
    }
    if parent.ends_with("/outputMapping") {
        return source::target_as_key(body, at, key, value);
    }
    None
}

/// Returns whether a field asks for what no request can set, or says nothing that is stored.
fn is_left_out(body: &Value, operation: Operation, parent: &str, key: &str, value: &Value) -> bool {
    let is_source = parent.starts_with("/input/document/sourceJson");
    match names::fold(key).as_str() {
        name if schedule::says_when(name) => operation != Operation::Execute,
        // Of a request that is a document of its own kind.
        _ if key.starts_with('$') => parent.is_empty() || parent == "/input",
        "version" => operation == Operation::Create && !value.is_object() && !value.is_array(),
        "format" | "timeout" | "timeoutms" | "verbose" | "dryrun" => {
            operation == Operation::Execute
        }
        // Whether a page can be refreshed is for its source to say.
        "refresh" | "refreshable" => {
            !is_source
                && operation != Operation::Execute
                && body.pointer("/input/document/sourceJson").is_none()
                && body.pointer("/input/sourceJson").is_none()
                && (value.is_boolean() || value.is_string())
        }
        _ => false,
    }
}

/// Returns what an author should know of a change that leaves something out.
pub(super) fn note(issue: &Issue, body: &Value) -> Option<&'static str> {
    let (parent, key) = parent_of(&issue.path)?;
    match names::fold(&key).as_str() {
        _ if issue.code != "unknown_field" => source::note(issue, body),
        name if schedule::says_when(name) => Some(
            "a page with a source is refreshed by itself by `document.refresh`, such as {\"every\": \"1h\"}",
        ),
        "refresh" | "refreshable" if !parent.starts_with("/input/document/sourceJson") => Some(
            "a page can be refreshed if it has `document.sourceJson`; refreshing is a call of its own",
        ),
        _ if parent.starts_with("/input/document/sourceJson/outputMapping") => {
            Some("a mapping only moves values: choosing and counting rows is for the source")
        }
        _ => None,
    }
}

/// Returns whether a value can be what stands at a place.
fn fits(to: &str, value: &Value) -> bool {
    match to {
        "/templateHtml" => value.is_string(),
        "/input/title" | "/input/description" => value.is_string(),
        _ if to.ends_with("/refreshPermission") => value.is_string() || value.is_boolean(),
        _ => true,
    }
}
