//! Data that does not fit its schema, repaired: the value where it is only misspelt, the schema else.

use serde_json::json;

use super::change::{Change, parent_of};
use crate::error::{Issue, nearest_name};
use crate::json::Value;

const DATA: &str = "/input/document/dataJson";
const SCHEMA: &str = "/input/document/dataSchemaJson";

/// Repairs a fault of data against `dataSchemaJson`, or of a tool's input against its schema.
#[expect(clippy::too_many_lines, reason = "one arm for each keyword")]
pub(super) fn mend(issue: &Issue, body: &Value) -> Vec<Change> {
    let at = issue.path.as_str();
    let value = body.pointer(at);
    let write = |value: Value| vec![Change::Write { at: at.to_owned(), value }];
    let Some((parent, key)) = parent_of(at) else { return Vec::new() };
    let want = issue.want.as_deref().unwrap_or_default();
    match issue.code.as_str() {
        "schema_keyword" => {
            let known: Vec<&str> = crate::schema::SCHEMA_KEYWORDS.to_vec();
            match nearest_name(&key, known) {
                Some(near) => vec![Change::Rename { at: at.to_owned(), to: near.to_owned() }],
                None => vec![Change::Remove { at: at.to_owned() }],
            }
        }
        "schema_unknown_key" => {
            let known: Vec<&str> = want.split(", ").collect();
            if let Some(near) =
                nearest_name(&key, known.iter().copied()).or_else(|| meant(&key, &known))
                && body.pointer(&format!("{parent}/{near}")).is_none()
            {
                return vec![Change::Rename { at: at.to_owned(), to: near.to_owned() }];
            }
            match schema_of(parent).filter(|_| at.starts_with(DATA)) {
                Some(schema) => vec![Change::Write {
                    at: format!("{schema}/properties/{key}"),
                    value: json!({}),
                }],
                None => vec![Change::Remove { at: at.to_owned() }],
            }
        }
        "schema_required" => {
            // `acme/web` is an owner and a repository.
            let siblings = body.pointer(parent).and_then(Value::as_object);
            let whole = siblings.and_then(|map| {
                map.iter().find_map(|(name, value)| {
                    let (owner, repo) = value
                        .as_str()?
                        .trim_start_matches("https://github.com/")
                        .split_once('/')?;
                    (key == "owner").then(|| (name.clone(), owner.to_owned(), repo.to_owned()))
                })
            });
            if let Some((name, owner, repo)) = whole {
                return vec![
                    Change::Write { at: at.to_owned(), value: json!(owner) },
                    Change::Write { at: format!("{parent}/{name}"), value: json!(repo) },
                ];
            }
            if let Some(near) = siblings.and_then(|map| {
                let names = map.keys().map(String::as_str);
                nearest_name(&key, names.clone())
                    .or_else(|| names.clone().find(|name| meant(name, &[&key]).is_some()))
            }) {
                return vec![Change::Rename { at: format!("{parent}/{near}"), to: key }];
            }
            let Some(schema) = schema_of(parent).filter(|_| at.starts_with(DATA)) else {
                return Vec::new();
            };
            let list = body.pointer(&format!("{schema}/required")).and_then(Value::as_array);
            let index =
                list.and_then(|list| list.iter().position(|name| name.as_str() == Some(&key)));
            index.map_or_else(Vec::new, |index| {
                vec![Change::Remove { at: format!("{schema}/required/{index}") }]
            })
        }
        "schema_type" => {
            let number = value
                .and_then(Value::as_str)
                .and_then(|text| text.replace(',', "").parse::<f64>().ok());
            match (number, value) {
                (Some(number), _) if want.contains("number") || want.contains("integer") => {
                    let whole = number.fract() == 0.0 && number.abs() < 9e15;
                    write(if whole { json!(number as i64) } else { json!(number) })
                }
                (_, Some(value @ (Value::Number(_) | Value::Bool(_))))
                    if want.contains("string") =>
                {
                    write(json!(value.to_string()))
                }
                (_, Some(value)) if want.contains("array") => write(json!([value])),
                (_, Some(value)) if at.starts_with(DATA) => {
                    let schema = schema_of(at);
                    schema.map_or_else(Vec::new, |schema| {
                        vec![Change::Write {
                            at: format!("{schema}/type"),
                            value: json!(json_type(value)),
                        }]
                    })
                }
                _ => Vec::new(),
            }
        }
        "schema_enum" => {
            let words: Vec<&str> = want
                .trim_start_matches("one of ")
                .split(", ")
                .map(|word| word.trim_matches('"'))
                .collect();
            match (
                value
                    .and_then(Value::as_str)
                    .and_then(|text| nearest_name(text, words.iter().copied())),
                value,
            ) {
                (Some(near), _) => write(json!(near)),
                (None, Some(value)) if at.starts_with(DATA) => {
                    let Some(schema) = schema_of(at) else { return Vec::new() };
                    let known = body
                        .pointer(&format!("{schema}/enum"))
                        .and_then(Value::as_array)
                        .map_or(0, Vec::len);
                    vec![Change::Write {
                        at: format!("{schema}/enum/{known}"),
                        value: value.clone(),
                    }]
                }
                _ => Vec::new(),
            }
        }
        "schema_number" => {
            let bound = want.rsplit(' ').next().and_then(|text| text.parse::<f64>().ok());
            if at.starts_with(DATA) {
                let keyword = if want.starts_with("at least") { "minimum" } else { "maximum" };
                return schema_of(at).map_or_else(Vec::new, |schema| {
                    vec![Change::Remove { at: format!("{schema}/{keyword}") }]
                });
            }
            bound.map_or_else(Vec::new, |bound| write(json!(bound as i64)))
        }
        "schema_length" | "schema_items" if at.starts_with(DATA) => {
            let least = want.starts_with("at least");
            let keyword = match (issue.code.as_str(), least) {
                ("schema_length", true) => "minLength",
                ("schema_length", false) => "maxLength",
                (_, true) => "minItems",
                (_, false) => "maxItems",
            };
            schema_of(at).map_or_else(Vec::new, |schema| {
                vec![Change::Remove { at: format!("{schema}/{keyword}") }]
            })
        }
        _ => Vec::new(),
    }
}

/// Returns the pointer to the part of the schema that a place of the data has to fit.
fn schema_of(at: &str) -> Option<String> {
    let rest = at.strip_prefix(DATA)?;
    let steps = rest.split('/').skip(1).map(|step| match step.parse::<usize>() {
        Ok(_) => "/items".to_owned(),
        Err(_) => format!("/properties/{step}"),
    });
    Some(format!("{SCHEMA}{}", steps.collect::<String>()))
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns the input of a tool that another name stands for.
fn meant<'k>(given: &str, known: &[&'k str]) -> Option<&'k str> {
    let groups: &[&[&str]] = &[
        &["repo", "repository", "reponame"],
        &["owner", "org", "organization", "user", "account"],
        &["limit", "count", "perpage", "max", "maxresults", "first", "top"],
        &["path", "file", "filename", "filepath"],
        &["query", "pattern", "q", "search", "text", "regex"],
        &["glob", "files", "include"],
        &["sql", "query", "statement"],
        &["database", "db", "path", "file"],
    ];
    let folded = super::names::fold(given);
    let group = groups.iter().find(|group| {
        group.contains(&folded.as_str())
            && known.iter().any(|name| group.contains(&super::names::fold(name).as_str()))
    })?;
    known.iter().copied().find(|name| group.contains(&super::names::fold(name).as_str()))
}
