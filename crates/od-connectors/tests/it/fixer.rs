//! Applies the fixes of a refusal to the letter, as a program would that knows their words only.

use od_core::error::Issue;
use od_core::json::Value;
use serde_json::Map;

/// Applies every fix of one answer.
pub(crate) fn mended(body: &Value, issues: &[Issue]) -> Value {
    let mut body = body.clone();
    let mut lines = String::new();
    for issue in issues {
        let mut rest = issue.fix.as_deref().unwrap_or_default();
        while let Some(behind) = change(&mut body, rest, &issue.path, &mut lines) {
            let Some(next) = behind.strip_prefix("; ") else { break };
            rest = next;
        }
    }
    if let Some(Value::String(html)) = body.get_mut("templateHtml") {
        *html = mended_text(html, &lines);
    }
    body
}

/// Applies one change of the body, or keeps one of the template; returns what stands behind it.
fn change<'f>(body: &mut Value, fix: &'f str, here: &str, lines: &mut String) -> Option<&'f str> {
    let of_text = fix.strip_prefix("template ").unwrap_or(fix);
    if of_text.starts_with("line") {
        let (_, behind) = line_edit(of_text)?;
        lines.push_str(&of_text[..of_text.len() - behind.len()]);
        lines.push_str("; ");
        return Some(behind);
    }
    if let Some(rest) = fix.strip_prefix("at ") {
        let (at, rest) = quoted(rest)?;
        let (value, behind) = quoted(rest.strip_prefix(" write ")?)?;
        set(body, at, serde_json::from_str(value).ok()?);
        return Some(behind);
    }
    if let Some(rest) = fix.strip_prefix("write ") {
        let (value, behind) = quoted(rest)?;
        set(body, here, serde_json::from_str(value).ok()?);
        return Some(behind);
    }
    let (verb, rest) = fix.split_once(' ')?;
    let (at, rest) = match rest.strip_prefix("it") {
        Some(rest) => (here, rest),
        None => quoted(rest)?,
    };
    match verb {
        "rename" => {
            let (to, behind) = quoted(rest.strip_prefix(" to ")?)?;
            let value = take(body, at)?;
            let parent = at.rsplit_once('/')?.0;
            set(body, &format!("{parent}/{to}"), value);
            Some(behind)
        }
        "move" => {
            let (to, behind) = quoted(rest.strip_prefix(" to ")?)?;
            let value = take(body, at)?;
            set(body, to, value);
            Some(behind)
        }
        "remove" => {
            take(body, at)?;
            Some(rest)
        }
        "unquote" => {
            let text = body.pointer(at)?.as_str()?.to_owned();
            set(body, at, serde_json::from_str(&text).ok()?);
            Some(rest.trim_start_matches(": send its JSON, not a string"))
        }
        "quote" => {
            let text = body.pointer(at)?.to_string();
            set(body, at, text.into());
            Some(rest.trim_start_matches(": send its JSON as a string"))
        }
        "cut" => {
            let rest = rest.strip_prefix(" to its first ")?;
            let (count, behind) = rest.split_once(" items")?;
            body.pointer_mut(at)?.as_array_mut()?.truncate(count.parse().ok()?);
            Some(behind)
        }
        _ => None,
    }
}

/// One change of a text: the lines it is about, and what becomes of them.
struct LineEdit<'f> {
    first: usize,
    last: usize,
    deed: Deed<'f>,
}

enum Deed<'f> {
    Write(&'f str),
    Delete,
    Replace(&'f str, &'f str),
    DeleteFrom(&'f str, &'f str),
}

fn line_edit(fix: &str) -> Option<(LineEdit<'_>, &str)> {
    let (place, rest) =
        fix.strip_prefix("lines ").or_else(|| fix.strip_prefix("line "))?.split_once(": ")?;
    let (first, last) = place.split_once('-').unwrap_or((place, place));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    let (deed, behind) = if let Some(rest) = rest.strip_prefix("write ") {
        let (text, behind) = quoted(rest)?;
        (Deed::Write(text), behind)
    } else if let Some(rest) = rest.strip_prefix("replace ") {
        let (old, rest) = quoted(rest)?;
        let (new, behind) = quoted(rest.strip_prefix(" with ")?)?;
        (Deed::Replace(old, new), behind)
    } else if let Some(rest) = rest.strip_prefix("delete from ") {
        let (from, rest) = quoted(rest)?;
        let (to, behind) = quoted(rest.strip_prefix(" to ")?)?;
        (Deed::DeleteFrom(from, to), behind)
    } else {
        (Deed::Delete, rest.strip_prefix("delete")?)
    };
    Some((LineEdit { first, last, deed }, behind))
}

/// Applies the changes of a text; their lines are those of the text as it was.
pub(crate) fn mended_text(text: &str, fixes: &str) -> String {
    if let Some((whole, "")) = fixes.strip_prefix("write ").and_then(quoted) {
        return whole.to_owned();
    }
    let starts: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let end_of = |line: usize| starts.get(line).map_or(text.len(), |next| next - 1);
    let mut edits: Vec<(std::ops::Range<usize>, &str)> = Vec::new();
    let mut rest = fixes;
    while let Some((edit, behind)) = line_edit(rest) {
        let start = starts[edit.first - 1];
        let whole = start..end_of(edit.last);
        edits.push(match edit.deed {
            // The indentation stays.
            Deed::Write(new) => {
                let old = &text[whole.clone()];
                let from = start + (old.len() - old.trim_start().len());
                (from..start + old.trim_end().len().max(from - start), new)
            }
            Deed::Delete => (whole, ""),
            Deed::Replace(old, new) => {
                let at = start
                    + text[start..]
                        .find(old)
                        .unwrap_or_else(|| panic!("no {old:?} in line {}", edit.first));
                (at..at + old.len(), new)
            }
            Deed::DeleteFrom(from, to) => {
                let at = start + text[start..].find(from).unwrap();
                let end = at + text[at..].find(to).unwrap() + to.len();
                (at..end, "")
            }
        });
        rest = behind.strip_prefix("; ").unwrap_or_default();
    }
    edits.sort_by_key(|(span, _)| std::cmp::Reverse((span.start, span.end)));
    let mut mended = text.to_owned();
    for (span, new) in edits {
        mended.replace_range(span, new);
    }
    mended
}

/// Reads a text between backticks, as many on either side.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let ticks = text.bytes().take_while(|byte| *byte == b'`').count();
    let fence = &text[..ticks];
    let inner = &text[ticks..];
    let end = (0..inner.len()).find(|at| {
        inner.is_char_boundary(*at)
            && inner[*at..].starts_with(fence)
            && !inner[*at + ticks..].starts_with('`')
            && !inner[..*at].ends_with('`')
    })?;
    let (found, behind) = (&inner[..end], &inner[end + ticks..]);
    let padded = found.strip_prefix(' ').and_then(|it| it.strip_suffix(' '));
    let needs_pad = |it: &&str| it.starts_with('`') || it.ends_with('`') || it.is_empty();
    (ticks > 0).then_some((padded.filter(needs_pad).unwrap_or(found), behind))
}

fn take(body: &mut Value, at: &str) -> Option<Value> {
    let (parent, key) = at.rsplit_once('/')?;
    let key = key.replace("~1", "/").replace("~0", "~");
    match body.pointer_mut(parent)? {
        Value::Object(map) => map.shift_remove(&key),
        Value::Array(items) => Some(items.remove(key.parse().ok()?)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn set(body: &mut Value, at: &str, value: Value) {
    let Some((parent, key)) = at.rsplit_once('/') else {
        *body = value;
        return;
    };
    if body.pointer(parent).is_none() {
        set(body, parent, Value::Object(Map::new()));
    }
    match body.pointer_mut(parent) {
        Some(Value::Object(map)) => {
            map.insert(key.replace("~1", "/").replace("~0", "~"), value);
        }
        Some(Value::Array(items)) => {
            let index: usize = key.parse().unwrap();
            if index < items.len() { items[index] = value } else { items.push(value) }
        }
        other => panic!("{at}: {other:?}"),
    }
}
