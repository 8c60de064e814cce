//! Data that a page cannot show as it is bound, repaired: the binding is moved to what was meant, or the
//! value is written as the page takes it.

use std::ops::Range;

use serde_json::json;

use super::lists::{self, follow};
use super::outline::Outline;
use super::page::Mended;
use super::translate::marks;
use crate::json::Value;
use crate::repair::proposal::data_pointer;
use crate::repair::text_edits::TextEdit;
use crate::template::RenderError;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Repairs what rendering the data refused.
pub(super) fn mend_data(
    html: &str,
    data: &Value,
    errors: &[RenderError],
    owner_at: impl Fn(usize) -> usize,
    mended: &mut Mended,
) {
    for error in errors {
        let Some(place) = error.place() else { continue };
        let Some(offset) = offset(html, place.line, place.column) else { continue };
        let owner = owner_at(offset);
        match error {
            RenderError::NotArray { at, found } => {
                not_array(html, data, &at.path, found, offset, owner, mended);
            }
            RenderError::NotScalar { at, found } => {
                if let Some((span, text, note)) = not_scalar(html, data, &at.path, found, offset) {
                    mended.notes.extend(note.map(|note| (owner, note)));
                    mended.edits.push(TextEdit { span, text, owner });
                }
            }
            RenderError::Url { at, .. } => {
                if let Some(pointer) = data_pointer(&at.path)
                    && let Some(url) =
                        data.pointer(&pointer).and_then(Value::as_str).and_then(web_url)
                {
                    mended.data.push((owner, pointer, json!(url)));
                }
            }
            RenderError::Css { at, .. } => {
                if let Some(pointer) = data_pointer(&at.path)
                    && let Some(value) = data.pointer(&pointer).and_then(Value::as_str)
                {
                    let plain: String = value
                        .split([';', '{', '}'])
                        .next()
                        .unwrap_or_default()
                        .replace([':', '\\', '"'], " ");
                    mended.data.push((owner, pointer, json!(plain.trim())));
                }
            }
            RenderError::Format { at, .. } => {
                if let Some(pointer) = data_pointer(&at.path)
                    && let Some(text) = data.pointer(&pointer).and_then(Value::as_str)
                    && let Some(value) = day(text).map(Value::from).or_else(|| amount(text))
                {
                    mended.data.push((owner, pointer, value));
                } else if let Some((span, text)) = unix_time(html, data, &at.path, offset) {
                    mended.edits.push(TextEdit { span, text, owner });
                }
            }
            RenderError::NoOrder { .. } => {
                if let Some((span, text, note)) = no_order(html, data, offset) {
                    mended.notes.extend(note.map(|note| (owner, note)));
                    mended.edits.push(TextEdit { span, text, owner });
                }
            }
            RenderError::NotDrawable { .. }
            | RenderError::TooManyPoints { .. }
            | RenderError::TooManyRows { .. }
            | RenderError::TooLarge { .. }
            | RenderError::Write(_) => {}
        }
    }
}

/// Tests a value for being there where it cannot be compared: the length of a list, a yes or no.
fn no_order(
    html: &str,
    data: &Value,
    offset: usize,
) -> Option<(Range<usize>, String, Option<String>)> {
    let outline = Outline::of(html);
    let element = outline.elements.iter().position(|it| it.tag.span.contains(&offset))?;
    let attribute = ["data-od-if", "data-od-else-if"]
        .iter()
        .find_map(|name| outline.attribute(element, name))?;
    let written = html[attribute.value.clone()].replace("&gt;", ">").replace("&lt;", "<");
    let signs = [">=", "<=", "==", "!=", ">", "<"];
    let (at, sign) = signs.iter().find_map(|sign| written.find(sign).map(|at| (at, *sign)))?;
    let (path, literal) = (written[..at].trim(), written[at + sign.len()..].trim());
    let counted = [".length", ".size", ".count"].iter().find_map(|end| path.strip_suffix(end));
    let steps: Vec<&str> = path.split('.').skip(1).collect();
    let is_answer = follow(data, &steps).is_some_and(Value::is_boolean);
    let path = counted.or(Some(path).filter(|_| is_answer))?;
    let is_empty = matches!((sign, literal), ("==", "0") | ("<", "1") | ("<=", "0"));
    let is_any = matches!((sign, literal), (">" | "!=", "0") | (">=", "1"));
    let note = (!is_any && !is_empty).then(|| {
        format!("tests whether `{path}` is there: what is compared with {literal} is a number of the data, such as a count that a query gives")
    });
    let text = if is_empty { format!("!{path}") } else { path.to_owned() };
    Some((attribute.value.clone(), text, note))
}

/// Names the unit of a time that is a number: `| date` becomes `| date:ms`.
fn unix_time(
    html: &str,
    data: &Value,
    path: &str,
    offset: usize,
) -> Option<(Range<usize>, String)> {
    let steps: Vec<&str> = path.split('.').skip(1).filter(|step| *step != "*").collect();
    let number = follow(data, &steps).and_then(Value::as_f64)?;
    let unit = match number {
        1e11..1e14 => "ms",
        1e8..1e11 => "s",
        _ => return None,
    };
    let end = offset + html[offset..].find("}}")?;
    let bar = offset + html[offset..end].rfind('|')?;
    let format = html[bar + 1..end].trim();
    let is_time = matches!(format, "date" | "time" | "datetime" | "since");
    is_time.then(|| (bar..end, format!("| {format}:{unit}")))
}

/// Reads a number out of a text that was made for people: `97.3%`, `$1,234.50`.
fn amount(text: &str) -> Option<Value> {
    let text = text.trim();
    let is_percent = text.ends_with('%');
    let is_sign = |c: char| matches!(c, '%' | '$' | '€' | '£' | '+' | ' ' | '\u{a0}');
    let plain = text.trim_matches(is_sign).replace(',', "");
    let number: f64 = plain.parse().ok().filter(|number: &f64| number.is_finite())?;
    let is_plain = plain.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
    let value = if is_percent { (number * 1e4).round() / 1e6 } else { number };
    is_plain.then(|| json!(value))
}

/// Finds the list that a repeat means, or gives it an empty one.
fn not_array(
    html: &str,
    data: &Value,
    path: &str,
    found: &str,
    offset: usize,
    owner: usize,
    mended: &mut Mended,
) {
    let outline = Outline::of(html);
    let lists = lists::lists(data);
    let Some(element) = outline.around(offset) else { return };
    let Some(attribute) = outline.attribute(element, "data-od-repeat") else { return };
    let value = html[attribute.value.clone()].to_owned();
    let alias = value.split_whitespace().next().unwrap_or_default().to_owned();
    let range = outline.elements[element].span.clone();
    let fields: Vec<Vec<String>> = marks::marks(&outline)
        .into_iter()
        .filter(|mark| range.contains(&mark.span.start))
        .filter_map(|mark| {
            let rest = mark.shown()?.strip_prefix(&format!("{alias}."))?;
            Some(rest.split('.').map(str::to_owned).collect())
        })
        .collect();
    let fields: Vec<Vec<&str>> =
        fields.iter().map(|it| it.iter().map(String::as_str).collect()).collect();
    let name = path.rsplit('.').next();
    let steps: Vec<&str> = path.split('.').skip(1).collect();
    // An object that holds the list: `data.releases` with `items` in it.
    let inside = follow(data, &steps).and_then(Value::as_object).and_then(|map| {
        map.iter().find(|(_, value)| value.is_array()).map(|(key, _)| format!("{path}.{key}"))
    });
    let is_text = follow(data, &steps).is_some_and(Value::is_string);
    let meant = inside.or_else(|| {
        if is_text {
            return None;
        }
        lists::meant(&lists, name, Some(&alias), &fields).map(|list| list.path.clone())
    });
    if let Some(list) = meant {
        let text = format!("{alias} in {list}");
        mended.edits.push(TextEdit { span: attribute.value.clone(), text, owner });
        return;
    }
    let Some(pointer) = data_pointer(path) else { return };
    // A list that was sent as its text.
    let read = follow(data, &steps).and_then(Value::as_str).map(serde_json::from_str::<Value>);
    if let Some(Ok(rows)) = read
        && rows.is_array()
    {
        mended.data.push((owner, pointer, rows));
        return;
    }
    let value = match (follow(data, &steps), found) {
        (Some(Value::Object(map)), _) => members(map),
        (Some(Value::Null) | None, _) => json!([]),
        (Some(value), _) => json!([value]),
    };
    mended.data.push((owner, pointer, value));
}

/// Returns the rows that an object of rows stands for, each with its key as its name; an object of
/// plain values is one row.
fn members(map: &crate::json::Map) -> Value {
    if map.is_empty() || !map.values().all(Value::is_object) {
        return json!([map]);
    }
    let row = |(key, value): (&String, &Value)| {
        let mut row = crate::json::Map::new();
        row.insert("name".to_owned(), json!(key));
        row.extend(value.as_object().cloned().unwrap_or_default());
        Value::Object(row)
    };
    map.iter().map(row).collect()
}

/// Shows a list as rows, and of an object its value.
fn not_scalar(
    html: &str,
    data: &Value,
    path: &str,
    found: &str,
    offset: usize,
) -> Option<(Range<usize>, String, Option<String>)> {
    let end = offset + html[offset..].find("}}")? + 2;
    let span = offset..end;
    let written = html[span.clone()].trim_matches(['{', '}']).trim().to_owned();
    let steps: Vec<&str> = path.split('.').skip(1).collect();
    let value = follow(data, &steps)?;
    let shown = |value: &Value| -> Option<String> {
        let map = value.as_object()?;
        let best = ["name", "title", "label", "value", "text", "count", "total", "id"];
        let key = best
            .iter()
            .find(|key| map.get(**key).is_some_and(|it| !it.is_array() && !it.is_object()));
        let key = key.map(|key| (*key).to_owned());
        key.or_else(|| {
            map.iter()
                .find(|(key, it)| crate::template::is_key(key) && !it.is_array() && !it.is_object())
                .map(|(key, _)| key.clone())
        })
    };
    let outline = Outline::of(html);
    let in_tag = outline.elements.iter().any(|it| it.tag.span.contains(&offset));
    if found == "array" && written.starts_with("data.") && !in_tag && !in_repeat(&outline, offset) {
        let rows = value.as_array()?;
        let item = match rows.iter().find_map(&shown) {
            Some(key) => format!("item.{key}"),
            None => "item".to_owned(),
        };
        let text = format!("<span data-od-repeat=\"item in {written}\">{{{{{item}}}}} </span>");
        return Some((span, text, None));
    }
    if found == "array" {
        let text = match value.as_array()?.first() {
            Some(first) => shown(first).map_or_else(
                || format!("{{{{{written}.0}}}}"),
                |key| format!("{{{{{written}.0.{key}}}}}"),
            ),
            None => String::new(),
        };
        return Some((span, text, Some("shows the first item: a list inside a row is not repeated; join it to a text in the data".to_owned())));
    }
    let key = shown(value)?;
    let note = format!("`{path}` is an object: shows its `{key}`");
    Some((span, format!("{{{{{written}.{key}}}}}"), Some(note)))
}

fn in_repeat(outline: &Outline<'_>, at: usize) -> bool {
    outline.ancestors(at).into_iter().any(|it| outline.attribute(it, "data-od-repeat").is_some())
}

/// Writes an address so that a page may link to it.
fn web_url(text: &str) -> Option<String> {
    if let Some(rest) = text.strip_prefix("//") {
        return Some(format!("https://{rest}"));
    }
    if let Some(rest) = text.strip_prefix("git@").and_then(|rest| rest.split_once(':')) {
        return Some(format!("https://{}/{}", rest.0, rest.1.trim_end_matches(".git")));
    }
    let lower = text.trim().to_ascii_lowercase();
    let bad = ["javascript:", "data:", "vbscript:", "file:", "mailto:", "tel:"];
    bad.iter().any(|scheme| lower.starts_with(scheme)).then(|| "#".to_owned())
}

/// Returns the byte that a line and a column stand for.
fn offset(html: &str, line: u32, column: u32) -> Option<usize> {
    let start = if line == 1 {
        0
    } else {
        memchr::memchr_iter(b'\n', html.as_bytes()).nth(line as usize - 2)? + 1
    };
    html[start..].char_indices().nth(column as usize - 1).map(|(at, _)| start + at)
}

/// Reads a day in another order or with the name of its month; `None` if it could be two days.
fn day(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let parts: Vec<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let [first, second, third] = parts[..] else { return None };
    let month = |text: &str| {
        let at = MONTHS.iter().position(|name| text.starts_with(name))?;
        u32::try_from(at + 1).ok()
    };
    let number = |text: &str| {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        digits.parse::<u32>().ok()
    };
    let (year, month, day) = match (month(first), month(second)) {
        (Some(month), _) => (number(third)?, month, number(second)?),
        (None, Some(month)) => (number(third)?, month, number(first)?),
        (None, None) => {
            let (a, b, c) = (number(first)?, number(second)?, number(third)?);
            match (a, b, c) {
                (1_000.., month, day) => (a, month, day),
                // With dots the day comes first; with slashes only a number past 12 tells.
                (day, month, 1_000..) if text.contains('.') || day > 12 => (c, month, day),
                (month, day, 1_000..) if day > 12 => (c, month, day),
                _ => return None,
            }
        }
    };
    let is_day =
        (1_000..=9_999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    is_day.then(|| format!("{year:04}-{month:02}-{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_read_where_it_can_be_one_day_only() {
        for (text, meant) in [
            ("30.04.2026", Some("2026-04-30")),
            ("3.4.2026", Some("2026-04-03")),
            ("04/30/2026", Some("2026-04-30")),
            ("30/04/2026", Some("2026-04-30")),
            ("03/04/2026", None),
            ("2026/4/30", Some("2026-04-30")),
            ("April 30, 2026", Some("2026-04-30")),
            ("30 Apr 2026", Some("2026-04-30")),
            ("yesterday", None),
            ("1.2.3", None),
        ] {
            assert_eq!(day(text).as_deref(), meant, "{text}");
        }
    }
}
