//! The values of a request's fields, repaired: what is missing, of another type, another word or too long.

use serde_json::json;

use super::change::{Change, parent_of, unquoted};
use super::json_text;
use super::names;
use super::source;
use crate::error::{Issue, nearest_name};
use crate::ids::Slug;
use crate::json::Value;
use crate::limits::utf16_len;

pub(super) fn required(body: &Value, at: &str, key: &str) -> Vec<Change> {
    let write = |value: Value| vec![Change::Write { at: at.to_owned(), value }];
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str);
    match at {
        "/input" => {
            // The fields that make an input are moved there by their own fixes.
            Vec::new()
        }
        "/input/title" => write(json!(title(body))),
        "/input/document/dataJson" => write(json!({})),
        "/artifactId" | "/connectorId" | "/toolName" => {
            let tool = text("/toolName").and_then(|tool| tool.split_once('.'));
            match (at, tool) {
                ("/connectorId", Some((connector, _))) => write(json!(connector)),
                _ => Vec::new(),
            }
        }
        _ if at.starts_with("/provenanceJson/sources/") => {
            let entry = parent_of(at).and_then(|(parent, _)| body.pointer(parent));
            let known = entry.and_then(|entry| {
                entry.as_object()?.values().find_map(Value::as_str).map(str::to_owned)
            });
            match key {
                "label" => write(json!(known.unwrap_or_else(|| "The data".to_owned()))),
                _ => write(json!(
                    names::word("type", at, &known.unwrap_or_default()).unwrap_or("derived")
                )),
            }
        }
        _ => source::required(body, at, key),
    }
}

/// Finds a title in the words of the author: of the page, of the data.
fn title(body: &Value) -> String {
    let html = body.get("templateHtml").and_then(Value::as_str).unwrap_or_default();
    let between = |open: &str, close: &str| {
        let start = html.find(open)? + open.len();
        let start =
            start + html[start..].find('>').filter(|_| !open.ends_with('>')).map_or(0, |at| at + 1);
        let text = html[start..].split(close).next()?.trim();
        let plain = !text.is_empty() && !text.contains(['{', '<']) && utf16_len(text) <= 100;
        plain.then(|| text.to_owned())
    };
    let data = body.pointer("/input/document/dataJson");
    let named = ["title", "name", "heading"].iter().find_map(|key| data?.get(key)?.as_str());
    let slug = body.pointer("/input/slug").and_then(Value::as_str);
    between("<title>", "</title>")
        .or_else(|| between("<h1", "</h1>"))
        .or_else(|| {
            named
                .filter(|name| !name.trim().is_empty() && utf16_len(name) <= 100)
                .map(str::to_owned)
        })
        .or_else(|| slug.map(|slug| slug.replace('-', " ")))
        .unwrap_or_else(|| "Live artifact".to_owned())
}

pub(super) fn wrong_type(
    body: &Value,
    at: &str,
    key: &str,
    value: &Value,
    issue: &Issue,
) -> Vec<Change> {
    let write = |value: Value| vec![Change::Write { at: at.to_owned(), value }];
    if value.is_null() {
        return vec![Change::Remove { at: at.to_owned() }];
    }
    if let Some(text) = value.as_str()
        && issue.want.as_deref() != Some("a string")
    {
        if unquoted(text).is_some() {
            return vec![Change::Unquote { at: at.to_owned() }];
        }
        if text.trim_start().starts_with(['{', '['])
            && let Some(read) = json_text::meant(text)
        {
            return write(read);
        }
    }
    if let Some(changes) = source::wrong_type(body, at, key, value) {
        return changes;
    }
    let into = |name: &str| vec![Change::Move { from: at.to_owned(), to: format!("{at}/{name}") }];
    match (at, value) {
        ("/input/document/dataJson", Value::Array(_)) => into(&list_name(body)),
        ("/input/document/dataJson", _) => into("value"),
        ("/input/document", Value::Array(items))
            if items.len() == 1
                && ["dataJson", "data", "sourceJson"]
                    .iter()
                    .any(|it| items[0].get(it).is_some()) =>
        {
            write(items[0].clone())
        }
        ("/input/document", Value::Array(_)) => vec![Change::Move {
            from: at.to_owned(),
            to: format!("{at}/dataJson/{}", list_name(body)),
        }],
        ("/input", Value::Array(items)) if items.len() == 1 => write(items[0].clone()),
        _ if at.starts_with("/provenanceJson") => provenance(at, value),
        ("/input/preview", _) => write(json!({ "type": "html", "entry": "index.html" })),
        ("/templateHtml", Value::Object(map)) => {
            let text = |names: &[&str]| names.iter().find_map(|name| map.get(*name)?.as_str());
            let html = text(&["html", "template", "content", "markup", "body"])
                .or_else(|| map.values().find_map(Value::as_str));
            let css = text(&["css", "style", "styles", "stylesheet"]);
            html.map_or_else(Vec::new, |html| write(json!(with_style(html, css))))
        }
        ("/templateHtml", Value::Array(lines)) => {
            let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
            write(json!(lines.join("\n")))
        }
        ("/ifRevision", Value::String(text)) => revision(at, text),
        (_, Value::Number(_) | Value::Bool(_)) if issue.want.as_deref() == Some("a string") => {
            write(json!(value.to_string()))
        }
        ("/artifactId" | "/connectorId" | "/toolName" | "/input/title", Value::Array(items))
            if items.len() == 1 && items[0].is_string() =>
        {
            write(items[0].clone())
        }
        ("/connectorId" | "/toolName" | "/artifactId", Value::Object(map)) => {
            let named = ["id", "name", "connectorId", "toolName", "artifactId"];
            let name = named.iter().find_map(|name| map.get(*name).filter(|it| it.is_string()));
            name.map_or_else(Vec::new, |name| write(name.clone()))
        }
        _ if issue.want.as_deref() == Some("true or false") => {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_ascii_lowercase);
            write(json!(matches!(text.as_str(), "true" | "yes" | "1" | "on")))
        }
        _ => Vec::new(),
    }
}

/// Reads `"r12"` as a revision; `"latest"` asks for none in particular.
fn revision(at: &str, text: &str) -> Vec<Change> {
    let at = at.to_owned();
    vec![match text.trim_start_matches('r').parse::<u64>() {
        Ok(number) => Change::Write { at, value: json!(number) },
        Err(_) => Change::Remove { at },
    }]
}

/// Rewrites a part of provenance that is of another type than it should be.
fn provenance(at: &str, value: &Value) -> Vec<Change> {
    let write = |value: Value| vec![Change::Write { at: at.to_owned(), value }];
    let into = |name: &str| vec![Change::Move { from: at.to_owned(), to: format!("{at}/{name}") }];
    match (at, value) {
        ("/provenanceJson", Value::String(_)) => into("notes"),
        ("/provenanceJson", Value::Array(_)) => into("sources"),
        ("/provenanceJson/sources", Value::Object(_)) => write(json!([value])),
        ("/provenanceJson/sources", Value::String(text)) => {
            write(json!([{ "label": text, "type": "derived" }]))
        }
        ("/provenanceJson/notes", Value::Array(items)) => {
            let lines: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            write(json!(lines.join("\n")))
        }
        (_, Value::String(text)) if at.starts_with("/provenanceJson/sources/") => {
            write(json!({ "label": text, "type": "derived" }))
        }
        (_, Value::Number(_) | Value::Bool(_)) => write(json!(value.to_string())),
        _ => Vec::new(),
    }
}

/// Puts a style sheet into the head of a page, or before it.
fn with_style(html: &str, css: Option<&str>) -> String {
    let Some(css) = css.filter(|css| !html.contains(*css)) else { return html.to_owned() };
    let at = super::template::style_place(html);
    format!("{}<style>{css}</style>{}", &html[..at], &html[at..])
}

/// Returns the name of the list that the template repeats over, for data that is a bare list.
fn list_name(body: &Value) -> String {
    let html = body.get("templateHtml").and_then(Value::as_str).unwrap_or_default();
    let after = html.find("data-od-repeat").map(|at| &html[at..]);
    let path = after.and_then(|rest| rest.split(" in data.").nth(1));
    let name: String = path
        .unwrap_or_default()
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    if name.is_empty() { "rows".to_owned() } else { name }
}

pub(super) fn not_allowed(
    body: &Value,
    at: &str,
    key: &str,
    value: Option<&Value>,
    issue: &Issue,
) -> Vec<Change> {
    let write = |value: &str| vec![Change::Write { at: at.to_owned(), value: json!(value) }];
    let words: Vec<&str> = issue.want.as_deref().unwrap_or_default().split(", ").collect();
    let given = match value {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => return Vec::new(),
    };
    if let [only] = words[..] {
        return write(only);
    }
    if let Some(near) = nearest_name(&given, words.iter().copied()) {
        return write(near);
    }
    let mut changes = names::word(key, at, &given).map_or_else(Vec::new, write);
    // `"type": "git"` names its tool.
    if at == "/input/document/sourceJson/type"
        && body.pointer("/input/document/sourceJson/toolName").is_none()
        && body.pointer("/input/document/sourceJson/connector").is_none()
        && let Some(tool) = source::tool_of_type(&given)
    {
        let at = "/input/document/sourceJson/toolName".to_owned();
        changes.push(Change::Write { at, value: json!(tool) });
    }
    changes
}

pub(super) fn too_long(at: &str, key: &str, text: &str) -> Vec<Change> {
    let cut = |most: usize| {
        let mut short = String::new();
        for c in text.chars() {
            if utf16_len(&short) + c.len_utf16() >= most {
                break;
            }
            short.push(c);
        }
        json!(format!("{short}…"))
    };
    match key {
        // The whole of it goes where there is room.
        "title" => vec![
            Change::Write { at: "/input/description".to_owned(), value: json!(text) },
            Change::Write { at: at.to_owned(), value: cut(120) },
        ],
        "description" => vec![
            Change::Write { at: "/provenanceJson/notes".to_owned(), value: json!(text) },
            Change::Write { at: at.to_owned(), value: cut(300) },
        ],
        _ => Vec::new(),
    }
}

pub(super) fn denied_key(at: &str, key: &str, value: Option<&Value>) -> Vec<Change> {
    // `none` and `enabled` under such a key are words; a secret has digits, or is long.
    let is_opaque = |text: &str| {
        !text.contains(char::is_whitespace)
            && text.len() >= 6
            && (text.len() >= 16 || text.contains(|c: char| c.is_ascii_digit()))
    };
    let is_secret = value.and_then(Value::as_str).is_some_and(|text| is_opaque(text.trim()))
        && !matches!(
            names::fold(key).as_str(),
            "body" | "raw" | "payload" | "headers" | "rawresponse"
        );
    if is_secret {
        return vec![Change::Remove { at: at.to_owned() }];
    }
    vec![Change::Rename { at: at.to_owned(), to: names::allowed_key(key).to_owned() }]
}

/// Returns a text as a slug or an id may be written.
pub(super) fn as_id(text: &str) -> Value {
    json!(Slug::from_title(text).as_str())
}
