//! Finds `{{…}}` in a stretch of text and reads what stands between the braces.

use std::ops::Range;

use super::condition::{self, ConditionFault, Subject};
use super::dialect::{self, first_path, from_data, unknown_root};
use super::path::{Path, PathFault};
use super::pipe::{self, PipeFaultKind, Pipes};
use crate::template::Grammar;
use crate::template::issue::{Fix, IssueCode, delete, replace};
use crate::template::tokenize::reference;

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
    pub(crate) pipes: Pipes,
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
    match scope.grammar {
        Grammar::V1 => match Path::parse(text, scope.aliases) {
            Ok(path) => {
                let subject = Subject::Path(path);
                Ok(ParsedBinding { span, text, subject, pipes: Pipes::default() })
            }
            Err(fault) => Err(explain(source, span, text, fault, scope)),
        },
        Grammar::V2 => read_v2(source, span, text, scope),
    }
}

fn read_v2<'s>(
    source: &'s str,
    span: Range<usize>,
    inner: &'s str,
    scope: Scope<'_>,
) -> Result<ParsedBinding<'s>, BindingFault> {
    // In texts in quotes, references mean what they mean around the binding.
    let Ok(decoded) = reference::decode(inner) else {
        let fix = delete(span.clone(), "write the character itself");
        let message = "a character reference that is not known".to_owned();
        return Err(BindingFault { code: IssueCode::FormatArguments, span, message, fix });
    };
    let (value, piped) = pipe::split(&decoded);
    // `a || b` has nothing between the bars.
    let joined = piped.is_some_and(|piped| piped.starts_with('|'));
    // What comes before the first bar has no references in a binding that is accepted.
    let text = inner.get(..value.len()).filter(|text| *text == value).unwrap_or(inner);
    let subject = match condition::subject(value, scope.aliases) {
        Ok(_) if joined => return Err(explain(source, span, inner, PathFault::Grammar, scope)),
        Ok(subject) => subject,
        Err(ConditionFault::Subject(fault, _)) => {
            let text = if fault == PathFault::Root { text } else { inner };
            return Err(explain(source, span, text, fault, scope));
        }
        Err(_) => {
            let fix = delete(span.clone(), "use it inside an element with data-od-repeat");
            let message = format!("`{text}` stands outside every data-od-repeat");
            return Err(BindingFault { code: IssueCode::UnknownRoot, span, message, fix });
        }
    };
    let pipes = match piped.map(pipe::parse) {
        None => Pipes::default(),
        Some(Ok(pipes)) => pipes,
        Some(Err(fault)) => {
            return Err(explain_pipe(span, value, piped.unwrap_or_default(), &fault));
        }
    };
    Ok(ParsedBinding { span, text, subject, pipes })
}

fn explain_pipe(
    span: Range<usize>,
    value: &str,
    piped: &str,
    fault: &pipe::PipeFault,
) -> BindingFault {
    let repaired = format!("{{{{{}}}}}", dialect::encode(&pipe::repair(value, piped)));
    let advice = if fault.advice.is_empty() { "" } else { "; " };
    let summary = format!("write {repaired}{advice}{}", fault.advice);
    let fix = replace(span.clone(), repaired, summary);
    let code = match fault.kind {
        PipeFaultKind::Unknown => IssueCode::UnknownFormat,
        PipeFaultKind::Arguments => IssueCode::FormatArguments,
    };
    BindingFault { code, span, message: fault.message.clone(), fix }
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
    let fault_of = |code: IssueCode, message: String, fix: Fix| BindingFault {
        code,
        span: span.clone(),
        message,
        fix,
    };
    let with_path = |path: &str, advice: &str| {
        let text = format!("{{{{{path}}}}}");
        replace(span.clone(), text.clone(), format!("write {text}{advice}"))
    };
    if let Some(line) = dialect::directive_line(text) {
        let summary = match scope.grammar {
            Grammar::V1 => format!("remove {whole}"),
            Grammar::V2 => format!("remove {whole}; {line}"),
        };
        let fix = delete(span.clone(), summary);
        let message = format!("`{text}` is a directive of another template language");
        return fault_of(IssueCode::UnsupportedDirective, message, fix);
    }
    if fault == PathFault::Root {
        let message = unknown_root(text, aliases);
        let path = from_data(text, aliases).unwrap_or_else(|| format!("data.{text}"));
        return fault_of(IssueCode::UnknownRoot, message, with_path(&path, ""));
    }
    let (repaired, advice) = match scope.grammar {
        Grammar::V1 => (first_path(text, aliases), ""),
        Grammar::V2 => dialect::repair_expression(text, aliases),
    };
    let fix = match &repaired {
        Some(path) => with_path(path, advice),
        None => delete(span.clone(), format!("remove {whole}{advice}")),
    };
    let (code, message) = match text.bytes().next() {
        Some(b'{' | b'&') => {
            (IssueCode::RawBinding, "values cannot be inserted without escaping".to_owned())
        }
        Some(_) => (IssueCode::InvalidPath, format!("`{text}` is not a path")),
        None => (IssueCode::InvalidPath, "there is no path between the braces".to_owned()),
    };
    fault_of(code, message, fix)
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
        check("{{data.x | money}}", IssueCode::InvalidPath, "{{data.x}}");
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

    #[track_caller]
    fn check_v2(source: &str, code: IssueCode, fixed: &str) {
        let span = braces(source, 0, 0..source.len()).unwrap();
        let scope = Scope { grammar: Grammar::V2, aliases: &["item".into()] };
        let fault = read(source, span, scope).unwrap_err();
        assert_eq!(fault.code, code, "{source}: {}", fault.message);
        assert_eq!(Fix::apply(source, [&fault.fix]), fixed, "{source}");
        let span = braces(fixed, 0, 0..fixed.len());
        assert!(span.is_none_or(|span| read(fixed, span, scope).is_ok()), "{fixed}");
    }

    #[test]
    fn expressions_of_other_languages_become_formats_where_that_was_meant() {
        check_v2("{{data.x | money}}", IssueCode::UnknownFormat, "{{data.x | currency:EUR:2}}");
        check_v2(
            "{{data.x | date:'%Y' | or:'–'}}",
            IssueCode::FormatArguments,
            "{{data.x | date:medium | or:'–'}}",
        );
        check_v2("{{formatDate(data.day)}}", IssueCode::InvalidPath, "{{data.day | date:medium}}");
        check_v2("{{data.n.toFixed(2)}}", IssueCode::InvalidPath, "{{data.n | number:2}}");
        check_v2("{{data.a || 'none'}}", IssueCode::InvalidPath, "{{data.a | or:'none'}}");
        check_v2("{{data.a ?? data.b}}", IssueCode::InvalidPath, "{{data.a}}");
        check_v2("{{data.a ? 'x' : 'y'}}", IssueCode::InvalidPath, "{{data.a}}");
        check_v2("{{data.a * 100}}", IssueCode::InvalidPath, "{{data.a}}");
        check_v2("{{#if data.a}}", IssueCode::UnsupportedDirective, "");
        check_v2("{{else}}", IssueCode::UnsupportedDirective, "");
        check_v2("{{{data.a}}}", IssueCode::RawBinding, "{{data.a}}");
        check_v2("{{row.x | number}}", IssueCode::UnknownRoot, "{{data.row.x}}");
        check_v2("{{data.x | or:'&nosuch;'}}", IssueCode::FormatArguments, "");
    }

    #[test]
    fn references_in_texts_are_decoded() {
        let source = "{{data.x | or:&quot;a &lt; b&quot;}}";
        let scope = Scope { grammar: Grammar::V2, aliases: &[] };
        let found = read(source, 0..source.len(), scope).unwrap();
        assert_eq!((found.text, found.pipes.or.as_deref()), ("data.x", Some("a < b")));
    }
}
