//! The faults of checks, repaired: comparisons in other words, conditions as one text.

use serde_json::json;

use super::change::{Change, parent_of};
use super::names;
use crate::json::Value;

pub(super) const CHECKS: &str = "/input/document/checks/";

/// Every comparison with the words that stand for it; the longer signs first.
const OPERATORS: [(&str, &[&str]); 6] = [
    ("gte", &[">=", "≥", "atleast", "greaterthanorequal", "ge", "minimum", "min"]),
    ("lte", &["<=", "≤", "atmost", "lessthanorequal", "le", "maximum", "max"]),
    ("ne", &["!==", "!=", "<>", "not", "notequal", "notequals", "neq", "isnot", "differs"]),
    ("eq", &["===", "==", "=", "equal", "equals", "is"]),
    ("gt", &[">", "greaterthan", "greater", "above", "over", "more", "morethan", "exceeds"]),
    ("lt", &["<", "lessthan", "less", "below", "under", "fewer", "fewerthan"]),
];

/// Renames a field of a check by its meaning, or takes a condition apart.
pub(super) fn unknown_field(
    body: &Value,
    parent: &str,
    key: &str,
    at: &str,
    value: &Value,
) -> Vec<Change> {
    let name = names::fold(key);
    if let Some((path, op, than)) = value.as_str().and_then(condition) {
        let write =
            |field: &str, value: Value| Change::Write { at: format!("{parent}/{field}"), value };
        return vec![
            Change::Remove { at: at.to_owned() },
            write("path", json!(path)),
            write("op", json!(op)),
            write("value", than),
        ];
    }
    let field = match name.as_str() {
        "name" | "key" | "check" => "id",
        "operator" | "comparison" | "comparator" | "compare" | "operation" | "condition" => "op",
        "threshold" | "limit" | "expected" | "target" | "than" | "against" | "equals" => "value",
        "level" | "priority" | "weight" | "kind" | "type" => "severity",
        "text" | "description" | "title" | "label" | "alert" => "message",
        "field" | "metric" | "datapath" | "subject" => "path",
        _ => return vec![Change::Remove { at: at.to_owned() }],
    };
    if body.pointer(&format!("{parent}/{field}")).is_some() {
        return vec![Change::Remove { at: at.to_owned() }];
    }
    vec![Change::Rename { at: at.to_owned(), to: field.to_owned() }]
}

/// Rewrites a value of a check, or adds what the rest of it says.
pub(super) fn mend(
    code: &str,
    body: &Value,
    at: &str,
    key: &str,
    value: Option<&Value>,
) -> Vec<Change> {
    let write = |value: Value| vec![Change::Write { at: at.to_owned(), value }];
    let text = value.and_then(Value::as_str).unwrap_or_default();
    match (code, key) {
        ("required", "id") => {
            let check = parent_of(at).and_then(|(check, _)| body.pointer(check));
            let path = check.and_then(|check| check.get("path")?.as_str()).unwrap_or("check");
            write(json!(path.trim_start_matches("data.").replace('.', "-").to_lowercase()))
        }
        ("required", "severity") => write(json!("warning")),
        ("not_allowed", "op") => operator(text).map_or_else(Vec::new, |op| write(json!(op))),
        ("not_allowed", "severity") => write(json!(severity(text))),
        ("not_allowed", "value") => text.parse::<f64>().map_or_else(
            |_| Vec::new(),
            |_| {
                serde_json::from_str(text)
                    .map_or_else(|_| Vec::new(), |number: Value| write(number))
            },
        ),
        ("duplicate_id", _) => {
            let number = parent_of(at).and_then(|(check, _)| parent_of(check)).map(|(_, it)| it);
            write(json!(format!("{text}-{}", number.unwrap_or_default())))
        }
        (_, "path") if text.starts_with("data.") || text.contains(['$', '[', '{', '/']) => {
            let path = text.trim_matches(['{', '}', ' ']).trim_start_matches(['$', '.', '/']);
            let path = path.replace('[', ".").replace(']', "").replace('/', ".");
            let path = path.strip_prefix("data.").unwrap_or(&path);
            write(json!(path.strip_suffix(".length").unwrap_or(path)))
        }
        (_, "id") => {
            let plain = super::field_values::as_id(text);
            write(plain)
        }
        _ => Vec::new(),
    }
}

/// Reads `data.total > 100`.
fn condition(text: &str) -> Option<(String, &'static str, Value)> {
    let signs = [">=", "<=", "===", "!==", "==", "!=", "<>", ">", "<", "="];
    let (at, sign) =
        signs.iter().filter_map(|sign| Some((text.find(sign)?, *sign))).min_by_key(|it| {
            // Of signs at one place the longest.
            (it.0, std::cmp::Reverse(it.1.len()))
        })?;
    let path = text[..at].trim().trim_matches(['{', '}', ' ']);
    let path = path.strip_prefix("data.").unwrap_or(path);
    let path = path.strip_suffix(".length").unwrap_or(path);
    let than = text[at + sign.len()..].trim().trim_matches(['{', '}', ' ']);
    let is_path = !path.is_empty()
        && path.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let than = than.trim_matches(['\'', '"']);
    let value = serde_json::from_str::<Value>(than)
        .ok()
        .filter(|value| value.is_number() || value.is_boolean())
        .unwrap_or_else(|| json!(than));
    is_path.then(|| Some((path.to_owned(), operator(sign)?, value))).flatten()
}

fn operator(text: &str) -> Option<&'static str> {
    let text = text.trim();
    let folded = names::fold(text);
    let is_meant = |words: &[&str]| {
        words.iter().any(|word| *word == text || (!folded.is_empty() && *word == folded))
    };
    OPERATORS.iter().find(|(op, words)| *op == folded || is_meant(words)).map(|(op, _)| *op)
}

fn severity(text: &str) -> &'static str {
    let folded = names::fold(text);
    let has = |words: &[&str]| words.iter().any(|word| folded.contains(word));
    match folded.as_str() {
        _ if has(&["crit", "err", "fatal", "high", "sev", "urgent", "danger"]) => "critical",
        _ if has(&["info", "low", "note", "minor"]) => "info",
        _ => "warning",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_and_comparisons_are_read_in_other_words() {
        assert_eq!(condition("data.total > 100"), Some(("total".to_owned(), "gt", json!(100))));
        assert_eq!(
            condition("{{data.status}} != 'ok'"),
            Some(("status".to_owned(), "ne", json!("ok")))
        );
        assert_eq!(condition("rows.length>=1"), Some(("rows".to_owned(), "gte", json!(1))));
        assert_eq!(condition("all good"), None);
        for (word, meant) in
            [("greater_than", "gt"), ("<=", "lte"), ("equals", "eq"), ("NEQ", "ne")]
        {
            assert_eq!(operator(word), Some(meant), "{word}");
        }
        assert_eq!((severity("warn"), severity("error")), ("warning", "critical"));
    }
}
