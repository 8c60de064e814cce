//! Finds `{{…}}` in a stretch of text and reads what stands between the braces.

use std::ops::Range;

use crate::template::issue::{Fix, IssueCode, delete, replace};
use crate::template::path::{Path, PathFault, is_key};

/// A well-formed binding.
#[derive(Debug)]
pub(crate) struct ParsedBinding<'s> {
    /// With the braces.
    pub(crate) span: Range<usize>,
    /// The path as written.
    pub(crate) text: &'s str,
    pub(crate) path: Path,
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
    alias: Option<&str>,
) -> Result<ParsedBinding<'s>, BindingFault> {
    let inner_span = span.start + 2..span.end - 2;
    let inner = &source[inner_span.clone()];
    let text = inner.trim_ascii();
    match Path::parse(text, alias) {
        Ok(path) => Ok(ParsedBinding { span, text, path }),
        Err(fault) => Err(explain(source, span, text, fault, alias)),
    }
}

fn explain(
    source: &str,
    span: Range<usize>,
    text: &str,
    fault: PathFault,
    alias: Option<&str>,
) -> BindingFault {
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
        let root = text.split('.').next().unwrap_or_default();
        let message = match alias {
            Some(alias) => format!(
                "`{root}` is neither `data` nor the alias `{alias}` of the repeat around it"
            ),
            None => format!("`{root}` is not `data`, and there is no data-od-repeat around it"),
        };
        let path = from_data(text, alias).unwrap_or_else(|| format!("data.{text}"));
        let fix = with_path(&path, &format!("write {braces}{path}}}}}"));
        return BindingFault { code: IssueCode::UnknownRoot, span, message, fix };
    }
    let path = first_path(text, alias);
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

/// Guesses the path that was meant: `data.rows[0].name` as `data.rows.0.name`, an expression
/// as its first path.
fn first_path(text: &str, alias: Option<&str>) -> Option<String> {
    let dotted = text
        .trim_matches(|mark: char| matches!(mark, '{' | '}' | '&') || mark.is_ascii_whitespace());
    let dotted = dotted.replace("['", ".").replace("[\"", ".").replace("']", "").replace("\"]", "");
    let dotted = dotted.replace("?.", ".").replace('[', ".").replace(']', "");
    let is_part = |mark: char| mark.is_ascii_alphanumeric() || matches!(mark, '.' | '_' | '-');
    let words = || dotted.split(|mark| !is_part(mark)).map(|word| word.trim_matches('.'));
    if let Some(path) = words().find(|word| Path::parse(word, alias).is_ok()) {
        return Some(path.to_owned());
    }
    words()
        .find(|word| word.split('.').next().is_some_and(is_key))
        .and_then(|word| from_data(word, alias))
}

/// Puts `data.` before a path, in place of the words that other languages begin with.
fn from_data(path: &str, alias: Option<&str>) -> Option<String> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let path = match first {
        "data" => return None,
        "this" | "self" | "root" | "props" | "state" if !rest.is_empty() => format!("data.{rest}"),
        _ => format!("data.{path}"),
    };
    Path::parse(&path, alias).is_ok().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, code: IssueCode, fixed: &str) {
        let span = braces(source, 0, 0..source.len()).unwrap();
        let fault = read(source, span, Some("item")).unwrap_err();
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
