//! Bindings that lead nowhere in today's data: accepted with a remark, whose fix is the line rewritten.

use super::template;
use super::text_edits::{TextEdit, TextEdits};
use crate::error::Issue;
use crate::json::Value;
use crate::template::{Grammar, Place, Template, WarningCode};

/// Gives the remarks on paths that lead nowhere the lines to write, where the data has what was
/// probably meant.
pub(crate) fn mend_unresolved(
    compiled: &Template,
    html: &str,
    data: &Value,
    grammar: Grammar,
    remarks: &mut [Issue],
) {
    let is_unresolved = |issue: &Issue| issue.code == WarningCode::Unresolved.as_str();
    if !remarks.iter().any(is_unresolved) {
        return;
    }
    let mut patched = TextEdits::new(html.to_owned());
    let mut edits = Vec::new();
    let mut needs_v2 = vec![false; remarks.len()];
    let lengths = match grammar {
        Grammar::V1 => Vec::new(),
        Grammar::V2 => template::length_tests(html, data),
    };
    for binding in compiled.bindings() {
        let place = format!("template.html:{}:{}", binding.line, binding.column);
        let remark = remarks.iter().position(|it| is_unresolved(it) && it.path == place);
        if let Some(owner) = remark.filter(|_| binding.place == Place::Condition)
            && let Some((span, text)) = lengths.iter().find(|it| it.0.contains(&binding.offset))
        {
            edits.push(TextEdit { span: span.clone(), text: text.clone(), owner });
        }
        let is_value = !matches!(binding.place, Place::Repeat | Place::Condition);
        let Some(owner) = remark.filter(|_| is_value) else { continue };
        let span = binding.offset..binding.offset + binding.length;
        let Some(written) = html.get(span.clone()).filter(|it| it.starts_with("{{")) else {
            continue;
        };
        let inner = written.trim_matches(['{', '}']);
        let (path, rest) = match inner.find('|') {
            Some(at) => (inner[..at].trim(), &inner[at..]),
            None => (inner.trim(), ""),
        };
        let Some((instead, is_format)) = template::instead(data, path, &binding.full_path) else {
            continue;
        };
        if is_format && !rest.is_empty() {
            continue;
        }
        needs_v2[owner] = is_format && grammar == Grammar::V1;
        let space = if rest.is_empty() { "" } else { " " };
        let text = format!("{{{{{instead}{space}{rest}}}}}");
        edits.push(TextEdit { span, text, owner });
    }
    patched.apply(edits);
    for instruction in patched.instructions() {
        for (at, owner) in instruction.owners.iter().enumerate() {
            let Some(remark) = remarks.get_mut(*owner) else { continue };
            // A line is told once, however many of its bindings lead nowhere.
            remark.fix = Some(match at {
                0 if needs_v2[*owner] => {
                    format!(
                        "{}; at `/input/document/format` write `\"html_template_v2\"`",
                        instruction.words
                    )
                }
                0 => instruction.words.clone(),
                _ => format!("see line {}", instruction.line),
            });
        }
    }
}
