//! Text that is almost JSON, rewritten: quotes, commas, comments, brackets.

use super::json_strings::{escape, string};
use super::text_edits::{TextEdit, TextEdits, quoted};
use crate::error::Issue;
use crate::json::{Message, Value};

/// The most rounds of repair of one text.
const ROUNDS: usize = 400;
/// The longest fix of one text, in bytes.
const FIX_BYTES_MAX: usize = 3_000;

/// Returns the issue of a text that is not JSON: the line, what was expected there, and the lines
/// rewritten where that can be worked out. `None` if it is JSON.
#[must_use]
pub fn explain_syntax(path: &str, text: &str) -> Option<Issue> {
    let error = serde_json::from_str::<serde::de::IgnoredAny>(text).err()?;
    let (line, column) = (error.line(), error.column());
    let words = error.to_string();
    let what = words.split(" at line ").next().unwrap_or_default();
    let shown = text.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim();
    let message = format!("not JSON at line {line}, column {column}: {what}");
    let issue = Issue::new(path, "json_syntax", message).got(shown);
    Some(match repaired(text).and_then(|it| told(&it)) {
        Some(fix) => issue.fix(fix),
        None => issue
            .want("JSON as RFC 8259 defines it")
            .fix(format!("correct line {line}, column {column}: {what}")),
    })
}

/// Words a repair: its lines, or the whole text where that is shorter.
fn told(patched: &TextEdits) -> Option<String> {
    let words: Vec<String> = patched.instructions().into_iter().map(|it| it.words).collect();
    let lines = words.join("; ");
    let whole = format!("write {}", quoted(patched.text().trim()));
    let shorter = if lines.len() <= whole.len() { lines } else { whole };
    Some(shorter).filter(|fix| !fix.is_empty() && fix.len() <= FIX_BYTES_MAX)
}

/// Returns the object or list that a text is nearly the JSON of.
pub(super) fn meant(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(repaired(text)?.text().trim()).ok()?;
    (value.is_object() || value.is_array()).then_some(value)
}

/// Rewrites a text until it is JSON; `None` if that does not come about.
fn repaired(text: &str) -> Option<TextEdits> {
    let mut patched = TextEdits::new(text.to_owned());
    patched.apply(entities(text));
    patched.apply(fences(&patched.text()));
    patched.apply(spelling(&patched.text()));
    for _ in 0..ROUNDS {
        let now = patched.text();
        let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(&now) else {
            return Message::read(now.as_bytes()).ok().map(|_| patched);
        };
        let at = offset(&now, error.line(), error.column());
        let edit = mend_at(&now, at, &error.to_string())?;
        if !patched.apply(vec![edit]) {
            return None;
        }
    }
    None
}

/// Puts the quotation marks back that were written as references, if there are no others.
fn entities(text: &str) -> Vec<TextEdit> {
    if text.contains('"') || !text.contains("&quot;") {
        return Vec::new();
    }
    let edit = |(at, written): (usize, &str), mark: &str| TextEdit {
        span: at..at + written.len(),
        text: mark.to_owned(),
        owner: 0,
    };
    let marks = [("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&#39;", "'"), ("&amp;", "&")];
    let found = |(reference, mark): (&'static str, &'static str)| {
        text.match_indices(reference).map(move |it| edit(it, mark))
    };
    marks.into_iter().flat_map(found).collect()
}

/// Removes what a model writes around JSON: a fence, a sentence before or behind it. Puts the brace
/// back that a text of members lacks.
fn fences(text: &str) -> Vec<TextEdit> {
    let edit = |span: std::ops::Range<usize>, text: &str| TextEdit {
        span,
        text: text.to_owned(),
        owner: 0,
    };
    let first = text.len() - text.trim_start().len();
    let begins_with_key = text[first..]
        .strip_prefix('"')
        .and_then(|rest| rest.split_once('"'))
        .is_some_and(|(key, rest)| !key.contains('\n') && rest.trim_start().starts_with(':'));
    if begins_with_key {
        return vec![edit(first..first, "{")];
    }
    let open = text.find(['{', '[']).unwrap_or(0);
    let mut edits = Vec::new();
    if !text[..open].trim().is_empty() {
        edits.push(edit(0..open, ""));
    }
    let close = match balanced_end(&text[open..]) {
        Some(end) => open + end,
        None => text.rfind(['}', ']']).map_or(text.len(), |at| at + 1),
    };
    let behind = text[close.max(open)..].trim_start();
    // `{ "input": … } { "templateHtml": … }`: two parts of one request.
    if text[open..close.max(open)].ends_with('}')
        && behind.starts_with('{')
        && balanced_end(behind).is_some_and(|end| behind[end..].trim().is_empty())
    {
        let second = text.len() - behind.len();
        edits.push(edit(close - 1..second + 1, ","));
        return edits;
    }
    // Where quotation marks are wrong, what stands behind the last bracket may be the document, cut
    // short.
    let is_outside = balanced_end(&text[open..]).is_some()
        || ["```", ";", ")"].iter().any(|mark| behind.starts_with(mark));
    if close > open && !behind.is_empty() && is_outside {
        edits.push(edit(close..text.len(), ""));
    }
    edits
}

/// Returns where the first value ends, if its brackets and quotation marks are in pairs.
fn balanced_end(text: &str) -> Option<usize> {
    let (mut open, mut in_string, mut escaped) = (Vec::new(), false, false);
    for (at, mark) in text.char_indices() {
        match mark {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => {
                // A bracket too many is a fault inside, not the end.
                open.pop().filter(|pair| *pair == mark)?;
                if open.is_empty() {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Corrects words and marks outside strings, one pass: comments, single and curly quotes, bare keys,
/// the constants of other languages, commas before a closing bracket, line breaks inside strings.
#[expect(clippy::too_many_lines, reason = "one pass over the text, one arm for each mark")]
fn spelling(text: &str) -> Vec<TextEdit> {
    let mut edits = Vec::new();
    let mut put = |span: std::ops::Range<usize>, text: &str| {
        edits.push(TextEdit { span, text: text.to_owned(), owner: 0 });
    };
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let Some(mark) = rest.chars().next() else { break };
        let size = mark.len_utf8();
        match mark {
            '"' if rest.starts_with("\"\"\"") => {
                let length = rest[3..].find("\"\"\"").unwrap_or(rest.len() - 3);
                put(at..at + 3, "\"");
                escape(&rest[3..3 + length], at + 3, &mut put);
                let end = (at + 6 + length).min(text.len());
                put(at + 3 + length..end, "\"");
                at = end;
            }
            '"' => at = string(text, at, '"', &mut put),
            '`' => {
                let length = rest[1..].find('`').unwrap_or(rest.len() - 1);
                put(at..at + 1, "\"");
                escape(&rest[1..=length], at + 1, &mut put);
                let end = (at + 2 + length).min(text.len());
                put(at + 1 + length..end, "\"");
                at = end;
            }
            '\'' | '“' | '”' | '‘' => {
                let close = if mark == '\'' {
                    '\''
                } else if mark == '‘' {
                    '’'
                } else {
                    '”'
                };
                let end = string(text, at + size, close, &mut |_, _| {});
                put(at..at + size, "\"");
                let last = text[..end].chars().next_back().map_or(1, char::len_utf8);
                let inner = &text[at + size..end.saturating_sub(last).max(at + size)];
                for (found, _) in inner.match_indices('"') {
                    put(at + size + found..at + size + found + 1, "\\\"");
                }
                for (found, _) in inner.match_indices("\\'") {
                    put(at + size + found..at + size + found + 2, "'");
                }
                put(end - last..end, "\"");
                at = end;
            }
            '/' if rest.starts_with("//") => {
                let end = at + rest.find('\n').unwrap_or(rest.len());
                put(at..end, "");
                at = end;
            }
            '/' if rest.starts_with("/*") => {
                let end = at + rest.find("*/").map_or(rest.len(), |it| it + 2);
                put(at..end, "");
                at = end;
            }
            '#' => {
                let end = at + rest.find('\n').unwrap_or(rest.len());
                put(at..end, "");
                at = end;
            }
            '：' | '，' => {
                put(at..at + size, if mark == '：' { ":" } else { "," });
                at += size;
            }
            '\u{a0}' | '\u{3000}' | '\u{200b}' | '\u{feff}' => {
                put(at..at + size, " ");
                at += size;
            }
            ',' if text[..at].trim_end().ends_with(['{', '[']) => {
                put(at..at + 1, "");
                at += 1;
            }
            ',' => {
                let behind = rest[1..].trim_start();
                let behind = behind.trim_start_matches("...").trim_start_matches('…').trim_start();
                if behind.starts_with(['}', ']', ',']) || behind.is_empty() {
                    put(at..at + 1, "");
                }
                at += 1;
            }
            ';' => {
                put(at..at + 1, "");
                at += 1;
            }
            _ if mark.is_alphabetic() || mark == '_' || mark == '$' => {
                let length = rest
                    .find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '$'))
                    .unwrap_or(rest.len());
                let word = &rest[..length];
                let is_key = rest[length..].trim_start().starts_with(':');
                // `title": …`: only the mark before the name is missing.
                if rest[length..].starts_with("\":") {
                    put(at..at, "\"");
                    at += length + 1;
                    continue;
                }
                let is_constant = matches!(
                    word,
                    "true"
                        | "false"
                        | "null"
                        | "True"
                        | "TRUE"
                        | "False"
                        | "FALSE"
                        | "None"
                        | "undefined"
                        | "NaN"
                        | "Infinity"
                        | "NULL"
                        | "nil"
                );
                if !is_key && !is_constant && is_value(&text[..at]) {
                    let (length, meant) = bare_value(rest);
                    put(at..at + length, &meant);
                    at += length;
                    continue;
                }
                let meant = match word {
                    _ if is_key => Some(format!("\"{word}\"")),
                    "true" | "false" | "null" => None,
                    "True" | "TRUE" => Some("true".to_owned()),
                    "False" | "FALSE" => Some("false".to_owned()),
                    "None" | "undefined" | "NaN" | "Infinity" | "NULL" | "nil" => {
                        Some("null".to_owned())
                    }
                    _ => None,
                };
                if let Some(meant) = meant {
                    put(at..at + length, &meant);
                }
                at += length;
            }
            '…' => {
                put(at..at + size, "");
                at += size;
            }
            '.' if rest.starts_with("...") => {
                put(at..at + 3, "");
                at += 3;
            }
            '0'..='9' | '+' | '-' | '.' => {
                let is_part =
                    |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '+' | '-');
                let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                let behind = rest[length..].trim_start_matches([' ', '\t']);
                let ends = behind.starts_with(['}', ']', '\n', '\r', '/', '#']);
                let goes_on = rest[length..].strip_prefix(',');
                let is_split =
                    goes_on.is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()));
                let is_over = ends || length == rest.len() || goes_on.is_some() && !is_split;
                if is_value(&text[..at]) && !is_over {
                    let (length, meant) = bare_value(rest);
                    put(at..at + length, &meant);
                    at += length;
                    continue;
                }
                if let Some(meant) = number(&rest[..length]) {
                    put(at..at + length, &meant);
                }
                at += length;
            }
            _ => at += size,
        }
    }
    edits
}

/// Returns whether the value of a member stands behind a text.
fn is_value(before: &str) -> bool {
    before.trim_end().ends_with([':', '：'])
}

/// Reads a value that is neither a number nor a word of JSON, as far as it goes: `8%`, `$8`, `1,234`,
/// `2026-04-30T08:05`, `new Date("2026-04-30")`. Returns its length and what it is in JSON.
fn bare_value(text: &str) -> (usize, String) {
    let (mut depth, mut length) = (0_usize, text.len());
    for (at, mark) in text.char_indices() {
        match mark {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            // `1,234` and `3,5`: what follows a comma inside an object is a key, never a digit.
            ',' if depth == 0 && text[at + 1..].starts_with(|c: char| c.is_ascii_digit()) => {}
            ',' | '}' | ']' if depth == 0 => {
                length = at;
                break;
            }
            '\n' => {
                length = at;
                break;
            }
            _ => {}
        }
    }
    let word = text[..length].trim_end();
    let length = word.len();
    // A call of a constructor stands for its argument.
    let argument = word.strip_suffix(')').and_then(|call| call.split_once('('));
    let argument = argument.map(|(_, it)| it.trim().trim_matches(['"', '\'', '`']));
    if let Some(argument) = argument.filter(|it| !it.is_empty() && !it.contains(['"', '('])) {
        return (length, number(argument).unwrap_or_else(|| quoted_value(argument)));
    }
    let groups: Vec<&str> = word.split(',').collect();
    if let [first, rest @ ..] = groups.as_slice()
        && !rest.is_empty()
        && (1..=3).contains(&first.len())
    {
        let plain = match rest {
            [digits] if digits.len() != 3 => word.replace(',', "."),
            _ if rest.iter().all(|it| it.split('.').next().is_some_and(|it| it.len() == 3)) => {
                word.replace(',', "")
            }
            _ => String::new(),
        };
        if serde_json::from_str::<serde_json::Number>(&plain).is_ok() {
            return (length, plain);
        }
    }
    (length, quoted_value(word))
}

fn quoted_value(text: &str) -> String {
    let is_number = serde_json::from_str::<serde_json::Number>(text).is_ok();
    if is_number { text.to_owned() } else { Value::from(text).to_string() }
}

/// Returns how a number is written in JSON, or the text it is if it is none; `None` if it is right.
fn number(word: &str) -> Option<String> {
    let is_json = |word: &str| serde_json::from_str::<serde_json::Number>(word).is_ok();
    if is_json(word) || !word.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let plain = word.replace('_', "");
    let plain = plain.strip_prefix('+').unwrap_or(&plain);
    let plain = match plain.strip_prefix('.') {
        Some(digits) => format!("0.{digits}"),
        None => plain.strip_suffix('.').unwrap_or(plain).to_owned(),
    };
    Some(if is_json(&plain) { plain } else { format!("\"{word}\"") })
}

/// Returns the edit that takes a text past the place where it stops being JSON.
fn mend_at(text: &str, at: usize, error: &str) -> Option<TextEdit> {
    let insert =
        |at: usize, text: &str| Some(TextEdit { span: at..at, text: text.to_owned(), owner: 0 });
    if error.contains("EOF") {
        let missing = unclosed(text);
        let end = text.trim_end().len();
        return if missing.is_empty() { None } else { insert(end, &missing) };
    }
    if error.contains("expected `,`") {
        // Behind the value before, not before the one that follows.
        let here = text[..at.min(text.len())].trim_end().len();
        let behind = &text[at.min(text.len())..];
        if behind.starts_with([']', '}']) {
            return Some(TextEdit { span: at..at + 1, text: String::new(), owner: 0 });
        }
        return insert(here, ",");
    }
    if error.contains("trailing characters") {
        return Some(TextEdit { span: at..text.len(), text: String::new(), owner: 0 });
    }
    if error.contains("expected `:`") {
        let here = text[..at.min(text.len())].trim_end().len();
        if text[at..].starts_with(['=', '-']) {
            let sign = if text[at..].starts_with("=>") { 2 } else { 1 };
            return Some(TextEdit { span: at..at + sign, text: ":".to_owned(), owner: 0 });
        }
        return insert(here, ":");
    }
    if error.contains("leading zeros") || error.contains("invalid number") {
        let start =
            text[..at].rfind(|c: char| !c.is_ascii_digit() && c != '.').map_or(0, |it| it + 1);
        let digits = text[start..].find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(0);
        let word = &text[start..start + digits];
        return Some(TextEdit {
            span: start..start + digits,
            text: format!("\"{word}\""),
            owner: 0,
        });
    }
    None
}

/// Returns the brackets that a text leaves open, to be closed at its end.
fn unclosed(text: &str) -> String {
    let mut open = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    for mark in text.chars() {
        match mark {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => {
                open.pop();
            }
            _ => {}
        }
    }
    let quote = if in_string { "\"" } else { "" };
    format!("{quote}{}", open.into_iter().rev().collect::<String>())
}

fn offset(text: &str, line: usize, column: usize) -> usize {
    let start = if line <= 1 {
        0
    } else {
        memchr::memchr_iter(b'\n', text.as_bytes()).nth(line - 2).map_or(0, |at| at + 1)
    };
    let mut at = (start + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(text: &str, meant: &Value) {
        let patched = repaired(text).unwrap_or_else(|| panic!("not repaired: {text}"));
        let read: Value = serde_json::from_str(&patched.text()).unwrap();
        assert_eq!(read, *meant, "{text}");
        assert!(explain_syntax("x", text).is_some());
    }

    #[test]
    fn what_models_write_for_json_becomes_json() {
        check("{'a': 'it''s'}".replace("''", "\\'").as_str(), &json!({ "a": "it's" }));
        check("{a: 1, b: [1, 2,],}", &json!({ "a": 1, "b": [1, 2] }));
        check("```json\n{\"a\": 1}\n```", &json!({ "a": 1 }));
        check(
            "{\"a\": True, \"b\": None, \"c\": NaN}",
            &json!({ "a": true, "b": null, "c": null }),
        );
        check("{\"a\": 1 // x\n, /* y */ \"b\": 2}", &json!({ "a": 1, "b": 2 }));
        check("{\"a\": [1, 2", &json!({ "a": [1, 2] }));
        check("{\"a\": 1\n \"b\": 2}", &json!({ "a": 1, "b": 2 }));
        check("{\"h\": \"<p class=\"x\">y</p>\"}", &json!({ "h": "<p class=\"x\">y</p>" }));
        check("{\"h\": \"a\nb\"}", &json!({ "h": "a\nb" }));
        check("{“a”: “b”}", &json!({ "a": "b" }));
        check("Here it is: {\"a\": 1}", &json!({ "a": 1 }));
        check("{\"a\": 1};", &json!({ "a": 1 }));
        check("{\"a\": `x \"y\"\nz`,}", &json!({ "a": "x \"y\"\nz" }));
        check("{\"a\": \"\"\"x \"y\" z\"\"\"}", &json!({ "a": "x \"y\" z" }));
        check("{\"a\": \"x\" +\n \"y\"}", &json!({ "a": "xy" }));
        check("\"a\": {\"b\": 1}}", &json!({ "a": { "b": 1 } }));
        check("{&quot;a&quot;: &quot;b&quot;}", &json!({ "a": "b" }));
        check("{\"a\": \"b,\n \"c\": 1}", &json!({ "a": "b", "c": 1 }));
        check(
            "{\"a\" 42, \"d\" = 3, \"b: 1,\n \"c\": 2}",
            &json!({ "a": 42, "d": 3, "b": 1, "c": 2 }),
        );
        check("{\"a\": [1, 2, ...]}", &json!({ "a": [1, 2] }));
        check(
            "{\"a\": 8%, \"b\": $8, \"c\": 1,234, \"d\": 3,5, \"e\": in progress, \"f\": 7}",
            &json!({ "a": "8%", "b": "$8", "c": 1234, "d": 3.5, "e": "in progress", "f": 7 }),
        );
        check(
            "{,\"a\"： new Date(\"2026-11-18\"),\u{a0}\"b\": 2026-04-30T08:05:00Z}",
            &json!({ "a": "2026-11-18", "b": "2026-04-30T08:05:00Z" }),
        );
        check("{\"a\": 1}\n{\"b\": [2]}", &json!({ "a": 1, "b": [2] }));
        check("{\"a\": [{\"b\": 1}]], \"c\": 2}", &json!({ "a": [{ "b": 1 }], "c": 2 }));
        check("{\"a\": \"b, \"c\": 1}", &json!({ "a": "b", "c": 1 }));
        check(
            "{\"a\": 1_000, \"b\": .5, \"c\": 5., \"d\": +2, \"e\": 2026-04-30}",
            &json!({
            "a": 1000, "b": 0.5, "c": 5, "d": 2, "e": "2026-04-30" }),
        );
    }

    #[test]
    fn what_is_right_in_a_broken_text_stays_as_it_is() {
        let numbers = json!({ "a": 0.93, "b": 3.5, "c": -1.25e3, "d": 42, "e": [10.01] });
        let broken = numbers.to_string().replace("]}", "]},").replace("},", ",}");
        check(&broken, &numbers);
        let cut = "{\"h\": \"<p>{{row.name}}: {{row.co";
        check(cut, &json!({ "h": "<p>{{row.name}}: {{row.co" }));
    }
}
