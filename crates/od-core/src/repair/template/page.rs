//! The faults of a template, alone and with its data, repaired.

use std::ops::Range;

use serde_json::json;

use super::blocks::foreign_attributes;
use super::dates;
use super::lists::{self, follow};
use super::marks;
use super::outline::Outline;
use super::translate::translate;
use super::unroll;
use crate::error::{ErrorCode, Issue};
use crate::json::Value;
use crate::repair::patchwork::TextEdit;
use crate::repair::proposal::data_pointer;
use crate::template::{Edit, Grammar, RenderError, Template, TemplateIssue};

/// The changes that repair a page.
#[derive(Debug, Default)]
pub(in crate::repair) struct Mended {
    pub(in crate::repair) edits: Vec<TextEdit>,
    /// Values that the data lacks: the issue, the pointer below the data, the value.
    pub(in crate::repair) data: Vec<(usize, String, Value)>,
    pub(in crate::repair) notes: Vec<(usize, String)>,
}

/// Returns what other template languages left in a template and the compiler takes for text or for
/// plain attributes: the page would show it, or lose it.
#[must_use]
pub fn foreign_marks(html: &str) -> Vec<Issue> {
    let outline = Outline::of(html);
    if is_escaped(html) {
        let message =
            "escaped_template: the tags are written as references, and would be shown as text";
        let code = ErrorCode::TemplateBindingInvalid.as_str();
        return vec![Issue::new("template.html:1:1", code, message).fix("write `<` and `>`")];
    }
    if is_file_name(html) {
        let message = "the template is the name of a file, not its text";
        let fix =
            "send the text of the file; without a template the page shows the data by its shape";
        return vec![Issue::new("/templateHtml", "not_a_template", message).got(html).fix(fix)];
    }
    let mut found: Vec<(usize, String)> =
        foreign_attributes(&outline).into_iter().map(|(name, at)| (at, name)).collect();
    for mark in marks::marks(&outline) {
        let written = &html[mark.span.clone()];
        let is_plain = match mark.shown() {
            Some(text) => is_meant(text, written),
            None => true,
        };
        if is_plain && !written.starts_with("{{") {
            found.push((mark.span.start, written.to_owned()));
        }
    }
    found.sort();
    found.truncate(crate::limits::JSON_FAULTS.max());
    let mut lines = crate::template::LineCursor::new(html);
    let issue = |(at, written): (usize, String)| {
        let (line, column) = lines.at(at);
        let message = "unsupported_directive: of another language";
        Issue::new(
            format!("template.html:{line}:{column}"),
            ErrorCode::TemplateBindingInvalid.as_str(),
            message,
        )
        .got(written)
        .want("{{data.path}} for values, data-od-repeat=\"item in data.items\" for lists")
        .fix("write it as {{data.path}} or data-od-repeat=\"item in data.items\"")
    };
    found.into_iter().map(issue).collect()
}

/// Returns whether a template is one word that names a file.
fn is_file_name(html: &str) -> bool {
    let text = html.trim();
    let ends = [".html", ".htm", ".hbs", ".mustache", ".j2", ".ejs", ".md"];
    !text.contains(['<', '{', ' ', '\n']) && ends.iter().any(|end| text.ends_with(end))
}

/// Returns whether a whole template was escaped: references to `<` and `>`, and no tag at all.
fn is_escaped(html: &str) -> bool {
    html.contains("&lt;") && html.contains("&gt;") && !html.contains('<')
}

/// Puts the marks back that were written as references.
fn unescaped(html: &str, owner: usize) -> Vec<TextEdit> {
    let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let edits = marks.into_iter().flat_map(|(reference, mark)| {
        html.match_indices(reference).map(move |(at, _)| TextEdit {
            span: at..at + reference.len(),
            text: mark.to_owned(),
            owner,
        })
    });
    edits.collect()
}

/// Returns whether a mark that could be text is meant as a binding.
fn is_meant(text: &str, written: &str) -> bool {
    let roots = ["data.", "row.", "item.", "this.", "props.", "entry."];
    written.starts_with("<%")
        || written.starts_with("{%")
        || written.starts_with("<?")
        || written.starts_with('@')
        || roots.iter().any(|root| text.starts_with(root))
}

/// Repairs a page: first what is written in another language, then what HTML and the rules refuse,
/// then what the data does not fit.
pub(in crate::repair) fn mend(
    html: &str,
    data: Option<&Value>,
    grammar: Grammar,
    issues: &[(usize, Issue)],
) -> Mended {
    let owner_at = |at: usize| nearest(html, issues, at);
    let mut mended = Mended::default();
    if is_escaped(html) {
        mended.edits = unescaped(html, owner_at(0));
        return mended;
    }
    if let Some(data) = data
        && let Some((changed, names)) = super::objects::rename_keys(html, data)
    {
        return renamed_keys(html, changed, &names, owner_at);
    }
    let translated = translate(html, data, grammar);
    if !translated.edits.is_empty() {
        for (at, note) in translated.notes {
            mended.notes.push((owner_at(at), note));
        }
        let edits = translated.edits.into_iter();
        mended.edits = edits
            .map(|(span, text)| {
                let owner = owner_at(span.start);
                TextEdit { span, text, owner }
            })
            .collect();
        return mended;
    }
    match Template::compile_as(html, grammar) {
        Err(faults) => of_rules(html, data, &faults, owner_at, &mut mended),
        Ok((template, _)) => {
            if let Some(data) = data {
                let errors = template.check(data).errors;
                of_data(html, data, &errors, owner_at, &mut mended);
            }
        }
    }
    mended
}

/// Follows new names of keys into the template.
fn renamed_keys(
    html: &str,
    changed: crate::json::Map,
    names: &[(String, String)],
    owner_at: impl Fn(usize) -> usize,
) -> Mended {
    let mut mended = Mended::default();
    for (key, name) in names {
        let spellings = [format!("[\"{key}\"]"), format!("['{key}']"), format!(".{key}")];
        for spelling in spellings {
            for (at, found) in html.match_indices(&spelling) {
                let owner = owner_at(at);
                let span = at..at + found.len();
                mended.edits.push(TextEdit { span, text: format!(".{name}"), owner });
            }
        }
    }
    let owner = mended.edits.first().map_or_else(|| owner_at(0), |edit| edit.owner);
    for (key, value) in changed {
        mended.data.push((owner, format!("/{}", key.replace('~', "~0").replace('/', "~1")), value));
    }
    mended
}

fn of_rules(
    html: &str,
    data: Option<&Value>,
    faults: &[TemplateIssue],
    owner_at: impl Fn(usize) -> usize,
    mended: &mut Mended,
) {
    for fault in faults {
        let owner = owner_at(fault.offset);
        if fault.code == crate::template::IssueCode::RepeatNested
            && let Some(edits) = data.and_then(|data| unroll::unroll(html, data, fault.offset))
        {
            mended.notes.push((
                owner,
                "one element for each outer row of today's data: a repeat has one level".to_owned(),
            ));
            mended.edits =
                edits.into_iter().map(|(span, text)| TextEdit { span, text, owner }).collect();
            return;
        }
        if fault.fix.edits.iter().all(|edit| edit.text.is_empty())
            && !fault.fix.summary.starts_with("remove")
        {
            mended.notes.push((owner, fault.fix.summary.clone()));
        }
        let edits = fault.fix.edits.iter();
        mended.edits.extend(edits.map(|Edit { start, end, text, .. }| TextEdit {
            span: *start..*end,
            text: text.clone(),
            owner,
        }));
    }
}

fn of_data(
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
                    && let Some(day) = dates::day(text)
                {
                    mended.data.push((owner, pointer, json!(day)));
                }
            }
            RenderError::NoOrder { .. }
            | RenderError::NotDrawable { .. }
            | RenderError::TooManyPoints { .. }
            | RenderError::TooManyRows { .. }
            | RenderError::TooLarge { .. }
            | RenderError::Write(_) => {}
        }
    }
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
    let meant = inside.or_else(|| {
        lists::meant(&lists, name, Some(&alias), &fields).map(|list| list.path.clone())
    });
    if let Some(list) = meant {
        let text = format!("{alias} in {list}");
        mended.edits.push(TextEdit { span: attribute.value.clone(), text, owner });
        return;
    }
    let Some(pointer) = data_pointer(path) else { return };
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

/// Renames a key wherever a template names it.
pub(in crate::repair) fn renamed(html: &str, key: &str, to: &str, owner: usize) -> Vec<TextEdit> {
    let outline = Outline::of(html);
    let mut edits = Vec::new();
    let mut spans: Vec<Range<usize>> =
        marks::marks(&outline).into_iter().map(|mark| mark.span).collect();
    let attributes = outline.elements.iter().flat_map(|element| &element.tag.attributes);
    spans.extend(attributes.filter(|it| it.name == "data-od-repeat").map(|it| it.value.clone()));
    for span in spans {
        let text = &html[span.clone()];
        let mut from = 0;
        while let Some(found) = text[from..].find(key) {
            let (start, end) = (from + found, from + found + key.len());
            from = end;
            let is_step = text[..start].ends_with('.')
                && !text[end..]
                    .starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-'));
            if is_step {
                edits.push(TextEdit {
                    span: span.start + start..span.start + end,
                    text: to.to_owned(),
                    owner,
                });
            }
        }
    }
    edits
}

/// Returns the issue of a template that stands nearest to a place.
fn nearest(html: &str, issues: &[(usize, Issue)], at: usize) -> usize {
    let line = html[..at].matches('\n').count() + 1;
    let distance = |issue: &Issue| {
        let place = issue.path.split(':').nth(1).and_then(|line| line.parse::<usize>().ok());
        place.unwrap_or(1).abs_diff(line)
    };
    issues.iter().min_by_key(|(_, issue)| distance(issue)).map_or(0, |(owner, _)| *owner)
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
