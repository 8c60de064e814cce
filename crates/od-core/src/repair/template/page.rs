//! The faults of a template, alone and with its data, repaired.

use std::ops::Range;

use super::lists::follow;
use super::misfits::mend_data;
use super::outline::Outline;
use super::translate::attributes::foreign_attributes;
use super::translate::marks::{self, read_loop};
use super::translate::{objects, translate};
use crate::error::{ErrorCode, Issue};
use crate::json::Value;
use crate::repair::text_edits::TextEdit;
use crate::template::scan::Tag;
use crate::template::{Edit, Grammar, Template, TemplateIssue};

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
        && let Some((changed, names)) = objects::rename_keys(html, data)
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
                mend_data(html, data, &errors, owner_at, &mut mended);
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
    let outline = Outline::of(html);
    for fault in faults {
        let owner = owner_at(fault.offset);
        if fault.code == crate::template::IssueCode::RepeatNested
            && let Some(edits) = data.and_then(|data| unroll(html, data, fault.offset))
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
        // What the fix leaves out stands behind the line that it writes.
        let written = fault.fix.edits.first().map(|edit| &*edit.text).unwrap_or_default();
        let advice = fault.fix.summary.strip_prefix("write ");
        let advice = advice.and_then(|rest| rest.strip_prefix(written));
        let advice = advice.map(|rest| rest.trim_start_matches([',', ';', ' ']));
        if let Some(advice) = advice.filter(|advice| !written.is_empty() && !advice.is_empty()) {
            mended.notes.push((owner, advice.to_owned()));
        }
        let edits = fault.fix.edits.iter();
        mended.edits.extend(edits.map(|Edit { start, end, text, .. }| TextEdit {
            span: with_space(html, &outline, *start..*end, text),
            text: text.clone(),
            owner,
        }));
    }
}

/// Returns what an edit takes away: an attribute that goes takes the white space before it along.
fn with_space(html: &str, outline: &Outline<'_>, span: Range<usize>, text: &str) -> Range<usize> {
    let is_attribute = |tag: &Tag<'_>| tag.attributes.iter().any(|it| it.span == span);
    if text.is_empty() && outline.elements.iter().any(|element| is_attribute(&element.tag)) {
        return html[..span.start].trim_end().len()..span.end;
    }
    span
}

/// The most outer rows that are written out.
const ROWS_MAX: usize = 12;

/// Returns the edits that write the outer repeat around a place out, or `None` if it has too many
/// rows for that.
fn unroll(html: &str, data: &Value, at: usize) -> Option<Vec<(Range<usize>, String)>> {
    let outline = Outline::of(html);
    let outer = outline
        .ancestors(at)
        .into_iter()
        .rfind(|it| outline.attribute(*it, "data-od-repeat").is_some())?;
    let attribute = outline.attribute(outer, "data-od-repeat")?;
    let head = read_loop(&html[attribute.value.clone()]);
    let (alias, list) = (head.alias?, head.list);
    let steps: Vec<&str> = list.split('.').skip(1).collect();
    let rows = follow(data, &steps)?.as_array()?.len();
    if rows == 0 || rows > ROWS_MAX {
        return None;
    }
    let span = outline.elements[outer].span.clone();
    let start = html[..attribute.span.start].trim_end().len();
    let element = [&html[span.start..start], &html[attribute.span.end..span.end]].concat();
    let written: Vec<String> =
        (0..rows).map(|row| named(&element, &alias, &format!("{list}.{row}"))).collect();
    Some(vec![(span, written.join("\n"))])
}

/// Puts a path in the place of an alias, in bindings and repeats.
fn named(html: &str, alias: &str, path: &str) -> String {
    let mut text = html.to_owned();
    for (before, behind) in [("{{", "."), ("{{ ", "."), (" in ", ".")] {
        text =
            text.replace(&format!("{before}{alias}{behind}"), &format!("{before}{path}{behind}"));
    }
    text
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
