//! Finds `{{…}}` in a stretch of text and reads what stands between the braces.

use std::ops::Range;

use super::condition::{self, ConditionFault, Subject, Variable};
use super::dialect::{first_path, from_data, unknown_root};
use super::path::{Path, PathFault};
use crate::template::Grammar;
use crate::template::issue::{Fix, IssueCode, delete, replace};

/// The names that a binding can begin with, and the grammar it follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'c> {
    pub(crate) grammar: Grammar,
    /// The rows of the repeats around it, outermost first.
    pub(crate) aliases: &'c [Box<str>],
}

/// A well-formed binding.
#[derive(Debug)]
pub(crate) struct ParsedBinding<'s> {
    /// With the braces.
    pub(crate) span: Range<usize>,
    /// The path as written.
    pub(crate) text: &'s str,
    pub(crate) subject: Subject,
}

/// Something in braces that is no binding.
#[derive(Debug)]
pub(crate) struct BindingFault {
    pub(crate) code: IssueCode,
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    pub(crate) fix: Fix,
}

/// Finds the next `{{` in `range`.
pub(crate) fn next_open(source: &str, range: Range<usize>) -> Option<usize> {
    next_twice(source, b'{', range)
}

/// Finds the next place in `range` where a byte stands twice.
fn next_twice(source: &str, byte: u8, range: Range<usize>) -> Option<usize> {
    let bytes = source.as_bytes();
    let mut at = range.start;
    while at < range.end {
        let found = at + memchr::memchr(byte, &bytes[at..range.end])?;
        if found + 1 < range.end && bytes[found + 1] == byte {
            return Some(found);
        }
        at = found + 1;
    }
    None
}

/// Returns the span of the braces that open at `open`, or `None` when they do not close in `range`.
pub(crate) fn braces(source: &str, open: usize, range: Range<usize>) -> Option<Range<usize>> {
    let mut end = next_twice(source, b'}', open + 2..range.end)? + 2;
    // `{{{x}}}` closes with its third brace.
    if source[open + 2..].starts_with('{') && end < range.end && source.as_bytes()[end] == b'}' {
        end += 1;
    }
    Some(open..end)
}

/// Reads the binding in `span`, which has its braces.
pub(crate) fn read<'s>(
    source: &'s str,
    span: Range<usize>,
    scope: Scope<'_>,
) -> Result<ParsedBinding<'s>, BindingFault> {
    let text = source[span.start + 2..span.end - 2].trim_ascii();
    let parsed = match scope.grammar {
        Grammar::V1 => Path::parse(text, scope.aliases)
            .map(Subject::Path)
            .map_err(|fault| ConditionFault::Subject(fault, text.into())),
        Grammar::V2 => condition::subject(text, scope.aliases),
    };
    match parsed {
        Ok(subject) => Ok(ParsedBinding { span, text, subject }),
        Err(ConditionFault::Subject(fault, _)) => Err(explain(source, span, text, fault, scope)),
        Err(_) => {
            let fix = delete(span.clone(), "use it inside an element with data-od-repeat");
            let message = format!("`{text}` stands outside every data-od-repeat");
            Err(BindingFault { code: IssueCode::UnknownRoot, span, message, fix })
        }
    }
}

fn explain(
    source: &str,
    span: Range<usize>,
    text: &str,
    fault: PathFault,
    scope: Scope<'_>,
) -> BindingFault {
    let aliases = scope.aliases;
    let whole = source[span.clone()].to_owned();
    let braces = "{{";
    let with_path =
        |path: &str, summary: &str| replace(span.clone(), format!("{braces}{path}}}}}"), summary);
    let is_keyword =
        matches!(text, "else" | "end" | "endif" | "endfor" | "this" | "index" | "loop");
    if fault == PathFault::Root && is_keyword {
        let fix = delete(span.clone(), format!("remove {whole}"));
        let message = format!("`{text}` is a directive of another template language");
        return BindingFault { code: IssueCode::UnsupportedDirective, span, message, fix };
    }
    if fault == PathFault::Root {
        let message = unknown_root(text, aliases);
        let path = from_data(text, aliases).unwrap_or_else(|| format!("data.{text}"));
        let fix = with_path(&path, &format!("write {braces}{path}}}}}"));
        return BindingFault { code: IssueCode::UnknownRoot, span, message, fix };
    }
    if scope.grammar == Grammar::V1 && Variable::parse(text).is_some() {
        let summary = format!("set document.format to \"html_template_v2\", or remove {whole}");
        let fix = delete(span.clone(), summary);
        let message = format!("`{text}` is a word of html_template_v2");
        return BindingFault { code: IssueCode::NeedsV2, span, message, fix };
    }
    let path = first_path(text, aliases);
    let repaired =
        path.as_deref().map(|path| with_path(path, &format!("write {braces}{path}}}}}")));
    let remove = || delete(span.clone(), format!("remove {whole}"));
    let (code, message) = match text.bytes().next() {
        Some(b'{' | b'&') => {
            (IssueCode::RawBinding, "values cannot be inserted without escaping".to_owned())
        }
        Some(b'#' | b'/' | b'^' | b'>' | b'!' | b'=' | b'%' | b'@' | b'$') => {
            let fix = remove();
            let message = format!("`{text}` is a directive of another template language");
            return BindingFault { code: IssueCode::UnsupportedDirective, span, message, fix };
        }
        Some(_) => (IssueCode::InvalidPath, format!("`{text}` is not a path")),
        None => (IssueCode::InvalidPath, "there is no path between the braces".to_owned()),
    };
    let fix = repaired.unwrap_or_else(remove);
    BindingFault { code, span, message, fix }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, code: IssueCode, fixed: &str) {
        let span = braces(source, 0, 0..source.len()).unwrap();
        let fault = read(source, span, Scope { grammar: Grammar::V1, aliases: &["item".into()] })
            .unwrap_err();
        assert_eq!(fault.code, code, "{source}");
        assert_eq!(Fix::apply(source, [&fault.fix]), fixed, "{source}");
    }

    #[test]
    fn what_was_meant_is_offered() {
        check("{{data.rows[0].name}}", IssueCode::InvalidPath, "{{data.rows.0.name}}");
        check("{{ data['a']['b'] }}", IssueCode::InvalidPath, "{{data.a.b}}");
        check("{{data.x | upper}}", IssueCode::InvalidPath, "{{data.x}}");
        check("{{{data.html}}}", IssueCode::RawBinding, "{{data.html}}");
        check("{{& data.html}}", IssueCode::RawBinding, "{{data.html}}");
        check("{{#each data.items}}", IssueCode::UnsupportedDirective, "");
        check("{{else}}", IssueCode::UnsupportedDirective, "");
        check("{{formatDate data.day}}", IssueCode::InvalidPath, "{{data.day}}");
        check("{{this.name}}", IssueCode::UnknownRoot, "{{data.name}}");
        check("{{row.name}}", IssueCode::UnknownRoot, "{{data.row.name}}");
        check("{{}}", IssueCode::InvalidPath, "");
        check("{{data}}", IssueCode::InvalidPath, "");
        check("{{ 1 + 2 }}", IssueCode::InvalidPath, "");
    }
}
