//! The marks of template languages in a source: what opens, closes, and shows a value.

use std::ops::Range;

use super::code_marks::{self, Open};
use crate::repair::template::outline::Outline;

/// A mark and where it stands, with its braces.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::repair::template) struct Mark {
    pub(in crate::repair::template) span: Range<usize>,
    pub(in crate::repair::template) kind: MarkKind,
}

impl Mark {
    /// Returns the expression that the mark shows, if it shows one.
    pub(in crate::repair::template) fn shown(&self) -> Option<&str> {
        match &self.kind {
            MarkKind::Output(text, _) => Some(text),
            MarkKind::For(_)
            | MarkKind::If(..)
            | MarkKind::Section(..)
            | MarkKind::Else(_)
            | MarkKind::Close
            | MarkKind::Other => None,
        }
    }
}

/// The kinds of marks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::repair::template) enum MarkKind {
    For(Loop),
    /// A condition, and whether it is turned round.
    If(String, bool),
    /// `{{#name}}`: a loop or a condition, by what the data has there.
    Section(String, bool),
    /// `else`, with a condition of its own.
    Else(Option<String>),
    Close,
    /// Shows a value. `true` if it is written in two braces, as ours are.
    Output(String, bool),
    /// A comment, a partial, an assignment.
    Other,
}

/// The head of a loop in any language.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(in crate::repair::template) struct Loop {
    pub(in crate::repair::template) alias: Option<String>,
    pub(in crate::repair::template) index: Option<String>,
    pub(in crate::repair::template) list: String,
}

const MARKS: &[(&str, &str)] = &[
    ("{{{", "}}}"),
    ("{{", "}}"),
    ("{%", "%}"),
    ("<%", "%>"),
    ("<?php", "?>"),
    ("<?=", "?>"),
    ("{#", "#}"),
    ("${", "}"),
    ("[[", "]]"),
];

/// Reads the marks of a template, but for those in comments, scripts and style sheets.
pub(in crate::repair::template) fn marks(outline: &Outline<'_>) -> Vec<Mark> {
    let source = outline.source;
    let mut found = Vec::new();
    let mut at = 0;
    let mut opened: Vec<Open> = Vec::new();
    while let Some(next) = source[at..].find(['{', '<', '$', '[', '@', '}', ')', '`', ':']) {
        let start = at + next;
        at = start + 1;
        let rest = &source[start..];
        if rest.starts_with(['}', ')', '`', ':', '@']) || !rest.starts_with("{{") {
            let mark = code_mark(outline, start, &mut opened, &found);
            if let Some(mark) = mark {
                at = mark.span.end;
                found.push(mark);
                continue;
            }
        }
        if rest.starts_with(['}', ')', '`', ':', '@']) {
            continue;
        }
        let Some((open, close)) = MARKS.iter().find(|(open, _)| rest.starts_with(open)) else {
            if rest.starts_with('{')
                && let Some(span) = single_brace(source, start)
                && !outline.is_passed(start)
            {
                let text = source[span.start + 1..span.end - 1].trim().to_owned();
                at = span.end;
                found.push(Mark { span, kind: MarkKind::Output(text, false) });
            }
            continue;
        };
        if outline.is_passed(start) {
            continue;
        }
        let inner = start + open.len();
        let Some(length) = source[inner..].find(close) else {
            if *open == "{{"
                && let Some(mark) = half_closed(source, start)
            {
                at = mark.span.end;
                found.push(mark);
            }
            continue;
        };
        let text = &source[inner..inner + length];
        if *open == "{{"
            && text.contains(['<', '\n'])
            && let Some(mark) = half_closed(source, start)
        {
            at = mark.span.end;
            found.push(mark);
            continue;
        }
        let span = start..inner + length + close.len();
        let kind = kind(open, text.trim());
        if matches!((*open, &kind), ("${" | "[[", kind) if !is_output(kind)) {
            continue;
        }
        at = span.end;
        found.push(Mark { span, kind });
    }
    found
}

/// Reads a mark that is code around markup, and remembers what it opens.
fn code_mark(
    outline: &Outline<'_>,
    start: usize,
    opened: &mut Vec<Open>,
    before: &[Mark],
) -> Option<Mark> {
    let source = outline.source;
    let rest = &source[start..];
    if outline.is_passed(start) {
        return None;
    }
    if rest.starts_with(['}', ')', '`', ':']) {
        let (mark, goes_on) = code_marks::close(source, start, *opened.last()?)?;
        if !goes_on {
            opened.pop();
        }
        return Some(mark);
    }
    if !rest.starts_with(['{', '$', '@']) {
        return None;
    }
    if let Some((mark, open)) = code_marks::open(source, start) {
        opened.extend(open);
        return Some(mark);
    }
    if rest.starts_with('@') { razor(source, start, before) } else { None }
}

/// Reads `@row.name`, where a loop before it has made `row`, and `@Model.title`.
fn razor(source: &str, start: usize, before: &[Mark]) -> Option<Mark> {
    let rest = &source[start + 1..];
    let length = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.'));
    let path = rest[..length.unwrap_or(rest.len())].trim_end_matches('.');
    let root = path.split('.').next().unwrap_or_default();
    let is_row = before.iter().any(|mark| match &mark.kind {
        MarkKind::For(head) => head.alias.as_deref() == Some(root),
        MarkKind::If(..)
        | MarkKind::Section(..)
        | MarkKind::Else(_)
        | MarkKind::Close
        | MarkKind::Output(..)
        | MarkKind::Other => false,
    });
    let span = start..start + 1 + path.len();
    let is_meant = !root.is_empty() && (is_row || root == "Model");
    is_meant.then(|| Mark { span, kind: MarkKind::Output(path.to_owned(), false) })
}

fn is_output(kind: &MarkKind) -> bool {
    matches!(kind, MarkKind::Output(text, _) if text.starts_with(char::is_alphabetic))
}

/// Reads `{{data.x}`, which lacks a brace.
fn half_closed(source: &str, start: usize) -> Option<Mark> {
    let inner = start + 2;
    let end = inner + source[inner..].find(|c: char| !is_path_char(c) && c != ' ')?;
    let text = source[inner..end].trim();
    let close = usize::from(source[end..].starts_with('}'));
    let is_path = text.contains('.') || close == 1;
    (is_path && !text.is_empty())
        .then(|| Mark { span: start..end + close, kind: MarkKind::Output(text.to_owned(), false) })
}

/// Finds `{data.x}` and `{row.x}`: one brace around a path with a dot in it.
fn single_brace(source: &str, start: usize) -> Option<Range<usize>> {
    let end = start + 1 + source[start + 1..].find(|c: char| !is_path_char(c) && c != ' ')?;
    let text = source[start + 1..end].trim();
    let dotted = text.contains('.') && !text.starts_with('.') && !text.ends_with('.');
    let named = text.starts_with(|c: char| c.is_alphabetic());
    let plain = (dotted && named && source[end..].starts_with('}')).then_some(start..end + 1);
    plain.or_else(|| single_call(source, start))
}

/// Finds `{data.n.toLocaleString()}`, `{new Date(row.at).toLocaleDateString('en')}` and a text in backticks.
fn single_call(source: &str, start: usize) -> Option<Range<usize>> {
    let inner = &source[start + 1..];
    if let Some(literal) = inner.strip_prefix('`') {
        let end = literal.find('`').filter(|at| !literal[..*at].contains(['<', '\n']))?;
        return literal[end + 1..].starts_with('}').then_some(start..start + end + 4);
    }
    let end = inner.find(['}', '{', '<', '\n', ';'])?;
    let text = inner[..end].trim();
    let is_call = text.ends_with(')')
        && ["toLocale", "toFixed(", "Intl.", "toUpperCase(", "toLowerCase(", "Math."]
            .iter()
            .any(|call| text.contains(call));
    (is_call && inner[end..].starts_with('}')).then_some(start..start + 1 + end + 1)
}

fn is_path_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | ']' | '\'' | '?')
}

fn kind(open: &str, text: &str) -> MarkKind {
    let is_ours = open == "{{" || open == "{{{";
    if matches!(open, "${" | "[[" | "<?=") {
        return MarkKind::Output(text.to_owned(), false);
    }
    if open == "{#" || text.starts_with(['!', '>']) || text.starts_with("--") {
        return MarkKind::Other;
    }
    let text = text.trim_matches(['-', '~']).trim();
    let text = if open == "<?php" { text.trim_end_matches([':', ';', '{']).trim() } else { text };
    let text = match text.strip_prefix("echo ").filter(|_| open == "<?php") {
        Some(shown) => return MarkKind::Output(shown.trim().to_owned(), false),
        None => text,
    };
    if text.starts_with('/') {
        return MarkKind::Close;
    }
    let marked = text.starts_with(['#', '@', '%']) || !is_ours;
    let bare = text.trim_start_matches(['#', '%', ' ']);
    let end = bare.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(bare.len());
    let (word, rest) = (&bare[..end], bare[end..].trim());
    // `{{loop.index}}` and `{{end.name}}` are paths.
    let is_word = marked || !bare[end..].starts_with(['.', '[']);
    match word {
        _ if !is_word => MarkKind::Output(text.to_owned(), is_ours),
        "each" | "for" | "foreach" | "range" | "loop" | "repeat" if !rest.is_empty() => {
            MarkKind::For(read_loop(rest))
        }
        "if" | "with" | "when" if !rest.is_empty() => MarkKind::If(rest.to_owned(), false),
        "unless" if !rest.is_empty() => MarkKind::If(rest.to_owned(), true),
        "else" | "elif" | "elsif" | "elseif" => {
            let condition = rest.strip_prefix("if").unwrap_or(rest).trim();
            MarkKind::Else((!condition.is_empty()).then(|| condition.to_owned()))
        }
        "end" | "endif" | "endfor" | "endeach" | "endforeach" | "endunless" | "endwith"
        | "endrange" => MarkKind::Close,
        _ if text.starts_with('#') => MarkKind::Section(bare.to_owned(), false),
        _ if text.starts_with('^') => {
            MarkKind::Section(text.trim_start_matches(['^', ' ']).to_owned(), true)
        }
        _ if !is_ours && !text.starts_with(['=', '-']) => match text.starts_with('}') {
            true => MarkKind::Close,
            false => script_line(text),
        },
        _ => MarkKind::Output(text.to_owned(), is_ours && !text.starts_with('=')),
    }
}

/// Reads a line of script between marks: `rows.forEach(row => {`, `data.rows.map(function (r) {`.
fn script_line(text: &str) -> MarkKind {
    let call = [".forEach(", ".map("].iter().find_map(|call| text.split_once(call));
    let Some((list, function)) = call else { return MarkKind::Other };
    let alias: String = function
        .trim_start_matches("function")
        .trim_start_matches([' ', '('])
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    let alias = (!alias.is_empty()).then_some(alias);
    MarkKind::For(Loop { alias, index: None, list: list.to_owned() })
}

/// Reads the head of a loop: `row in rows`, `rows as |row|`, `let row of rows`, `(row, i) in rows`.
pub(in crate::repair::template) fn read_loop(text: &str) -> Loop {
    let text = text.split([';']).next().unwrap_or_default();
    let text = text.split(" track ").next().unwrap_or_default().trim();
    let text = text.split(" limit:").next().unwrap_or_default().trim();
    let text = text.trim_matches(|c| matches!(c, '(' | ')' | '{' | '}' | '"')).trim();
    let text = ["let ", "const ", "var ", "each "]
        .iter()
        .find_map(|word| text.strip_prefix(word))
        .unwrap_or(text);
    let names = |text: &str| -> Vec<String> {
        let names = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    let cut = |list: &str| list.trim().trim_matches(['$', '{', '}', ')']).trim().to_owned();
    for sign in [" in ", " of ", " <- "] {
        if let Some((left, list)) = text.split_once(sign) {
            let mut names = names(left).into_iter();
            return Loop { alias: names.next(), index: names.next(), list: cut(list) };
        }
    }
    if let Some((list, right)) = text.split_once(" as ") {
        // Svelte: `rows as row (row.id)`; PHP: `$rows as $key => $row`.
        let right = right.split('(').next().unwrap_or_default();
        let right = right.rsplit("=>").next().unwrap_or_default();
        let mut names = names(right).into_iter();
        return Loop { alias: names.next(), index: names.next(), list: cut(list) };
    }
    if let Some((left, list)) = text.split_once(":=") {
        let mut names = names(left);
        let alias = names.pop();
        let list = list.trim().strip_prefix("range").unwrap_or(list);
        return Loop { alias, index: names.pop(), list: cut(list) };
    }
    if let Some((left, list)) = text.split_once(':')
        && names(left).len() == 1
    {
        return Loop { alias: names(left).pop(), index: None, list: cut(list) };
    }
    Loop { alias: None, index: None, list: cut(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_read_in_every_language() {
        let check = |text: &str, alias: Option<&str>, list: &str| {
            let read = read_loop(text);
            assert_eq!((read.alias.as_deref(), &*read.list), (alias, list), "{text}");
        };
        check("row in data.rows", Some("row"), "data.rows");
        check("(row, i) in rows", Some("row"), "rows");
        check("let row of rows; trackBy: id", Some("row"), "rows");
        check("data.rows as |row|", Some("row"), "data.rows");
        check("rows as row", Some("row"), "rows");
        check("$i, $row := .Rows", Some("row"), ".Rows");
        check("row : ${rows}", Some("row"), "rows");
        check("data.rows", None, "data.rows");
    }

    #[test]
    fn marks_are_told_apart() {
        let source = "{{#each rows}}{{name}}{{/each}}{% for a in b %}{{a.c}}{% endfor %}<%= x %>\
            ${data.y}{data.z}{{data.q}<!-- {{no}} -->{{> part}}{{else}}{{loop.index}}";
        let outline = Outline::of(source);
        let kinds: Vec<String> =
            marks(&outline).into_iter().map(|mark| format!("{:?}", mark.kind)).collect();
        let begins = [
            "For(",
            "Output(\"name\", true",
            "Close",
            "For(",
            "Output(\"a.c\"",
            "Close",
            "Output(\"= x\"",
            "Output(\"data.y\", false",
            "Output(\"data.z\", false",
            "Output(\"data.q\", false",
            "Other",
            "Else(None)",
            "Output(\"loop.index\"",
        ];
        assert_eq!(kinds.len(), begins.len(), "{kinds:?}");
        for (kind, begin) in kinds.iter().zip(begins) {
            assert!(kind.starts_with(begin), "{kind} {begin}");
        }
    }
}
