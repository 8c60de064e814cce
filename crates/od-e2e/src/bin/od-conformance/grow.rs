//! Long, deep and many things where the files only name them, and the limits by their names.

use od_core::limits::{ALL, INTERNAL, Limit};
use serde_json::{Map, Value, json};

use crate::Outcome;

/// Finds a limit by the name that refusals print.
pub(crate) fn limit(name: &str) -> Outcome<&'static Limit> {
    ALL.iter()
        .chain(INTERNAL)
        .find(|limit| limit.name == name)
        .ok_or_else(|| format!("no limit is called `{name}`"))
}

/// Reads `12`, `json_depth`, `json_depth+1` or `json_depth-1`.
pub(crate) fn amount(text: &str) -> Outcome<usize> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let (name, change) = match text.find(['+', '-']) {
        Some(at) => {
            (&text[..at], text[at..].parse::<isize>().map_err(|err| format!("{text}: {err}"))?)
        }
        None => (text, 0),
    };
    limit(name)?.max().checked_add_signed(change).ok_or_else(|| format!("{text}: below nothing"))
}

/// Replaces what stands for something larger, everywhere in a value.
pub(crate) fn grow(value: &Value) -> Outcome<Value> {
    match value {
        Value::String(text) => whole(text).unwrap_or_else(|| grow_text(text).map(Value::String)),
        Value::Array(items) => items.iter().map(grow).collect(),
        Value::Object(fields) => match fields.iter().next() {
            Some((name, Value::Array(parts))) if fields.len() == 1 && parts.len() == 2 => {
                match name.as_str() {
                    "{{items}}" => Ok(Value::Array(numbered(&parts[0], &parts[1])?)),
                    "{{fields}}" => numbered(&parts[0], &parts[1])?
                        .into_iter()
                        .enumerate()
                        .map(|(at, item)| Ok((format!("k{at}"), item)))
                        .collect::<Outcome<Map<_, _>>>()
                        .map(Value::Object),
                    _ => each(fields),
                }
            }
            _ => each(fields),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(value.clone()),
    }
}

fn each(fields: &Map<String, Value>) -> Outcome<Value> {
    fields.iter().map(|(name, item)| Ok((name.clone(), grow(item)?))).collect()
}

/// Copies an item, `#` in its texts replaced by the number of the copy.
fn numbered(count: &Value, item: &Value) -> Outcome<Vec<Value>> {
    let item = grow(item)?;
    let count = crate::case::amount_of(count)?;
    Ok((0..count).map(|at| with_number(&item, at)).collect())
}

fn with_number(item: &Value, at: usize) -> Value {
    match item {
        Value::String(text) if text == "#" => json!(at),
        Value::String(text) => Value::String(text.replace('#', &at.to_string())),
        Value::Array(items) => items.iter().map(|item| with_number(item, at)).collect(),
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(name, item)| (name.clone(), with_number(item, at))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => item.clone(),
    }
}

/// Reads a text that is nothing but one `{{kind:amount}}`.
fn whole(text: &str) -> Option<Outcome<Value>> {
    let inner = text.strip_prefix("{{")?.strip_suffix("}}")?;
    let (kind, count) = inner.split_once(':')?;
    let of = |make: fn(usize) -> Value| Some(amount(count).map(make));
    match kind {
        "long" => of(|count| Value::String("x".repeat(count))),
        "deep" => of(|count| (0..count).fold(Value::Null, |inner, _| json!({ "a": inner }))),
        "many" => of(|count| (0..count).collect()),
        "number" => of(|count| json!(count)),
        _ => None,
    }
}

/// Replaces `{{times:N:TEXT}}`, `{{amount:N}}` and `{{want:LIMIT}}` inside a text.
pub(crate) fn grow_text(text: &str) -> Outcome<String> {
    let mut grown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let (before, after) = rest.split_at(start);
        let inner = after.find("}}").map(|end| (&after[2..end], &after[end + 2..]));
        let made = match inner {
            Some((inner, behind)) => repeated(inner)?.map(|made| (made, behind)),
            None => None,
        };
        grown.push_str(before);
        if let Some((made, behind)) = made {
            grown.push_str(&made);
            rest = behind;
        } else {
            // A binding of a template; it stays as it is.
            grown.push_str("{{");
            rest = &after[2..];
        }
    }
    grown.push_str(rest);
    Ok(grown)
}

fn repeated(inner: &str) -> Outcome<Option<String>> {
    if let Some(name) = inner.strip_prefix("want:") {
        return Ok(Some(limit(name)?.want()));
    }
    if let Some(count) = inner.strip_prefix("amount:") {
        return Ok(Some(amount(count)?.to_string()));
    }
    let Some((count, text)) = inner.strip_prefix("times:").and_then(|rest| rest.split_once(':'))
    else {
        return Ok(None);
    };
    let count = amount(count)?;
    if text.contains('#') {
        return Ok(Some((0..count).map(|at| text.replace('#', &at.to_string())).collect()));
    }
    Ok(Some(text.repeat(count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &Value, expected: &Value) {
        assert_eq!(grow(written).unwrap(), *expected);
    }

    #[test]
    fn what_a_file_names_becomes_as_large_as_it_says() {
        check(&json!("{{long:3}}"), &json!("xxx"));
        check(&json!("{{deep:2}}"), &json!({ "a": { "a": null } }));
        check(&json!("{{many:3}}"), &json!([0, 1, 2]));
        check(
            &json!({ "{{items}}": [2, { "n": "#", "t": "a#" }] }),
            &json!([{ "n": 0, "t": "a0" }, { "n": 1, "t": "a1" }]),
        );
        check(&json!({ "{{fields}}": [2, 1] }), &json!({ "k0": 1, "k1": 1 }));
        check(
            &json!("{{times:2:<b>}}{{data.n}}{{times:2:</b>}}"),
            &json!("<b><b>{{data.n}}</b></b>"),
        );
    }

    #[test]
    fn an_amount_is_a_number_or_a_limit_and_nothing_else() {
        assert_eq!(amount("json_depth").unwrap(), 8);
        assert_eq!(amount("json_depth+1").unwrap(), 9);
        assert_eq!(amount("12").unwrap(), 12);
        assert!(amount("json_dept").is_err());
        assert!(grow(&json!("{{long:nothing}}")).is_err());
    }
}
