//! Text: where HTML would keep, move or drop it, and what may not stand in it.

use std::ops::Range;

use super::compiler::{Compiler, Phase};
use super::element::{ForeignContent, Space};
use crate::template::Grammar;
use crate::template::expression::binding;
use crate::template::expression::dialect;
use crate::template::issue::{Edit, Fix, IssueCode, delete, insert, replace};
use crate::template::program::Place;
use crate::template::tokenize::reference;
use crate::template::tokenize::scanner::is_space;

/// The kinds of places that text can stand in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum TextPlace {
    Free,
    /// Directly in a table part: what to wrap around it.
    Table(&'static str, &'static str),
    Select,
    ForeignStyle,
}

impl Compiler<'_> {
    /// Takes a run of text between two pieces of markup.
    pub(crate) fn text(&mut self, span: Range<usize>, after_newline_eater: bool) {
        let bytes = self.source.as_bytes();
        let first = span.clone().find(|at| !is_space(bytes[*at]));
        if after_newline_eater && self.source[span.clone()].starts_with("{{") {
            // HTML drops one newline behind <pre>, <listing> and <textarea>. A value that begins
            // with one would lose it, and one that does not would not: with a newline of ours the
            // parser drops that one, whatever the value is.
            self.emitter.copy_to(span.start);
            self.emitter.push("\n");
        }
        let Some(first) = first else { return };
        if !self.text_reaches_body(first, &span) {
            return;
        }
        match self.text_place() {
            TextPlace::Free => self.bind_text(span, ends_in_bracket),
            TextPlace::Table(before, behind) => {
                self.refuse_table_text(first, &span, before, behind);
            }
            TextPlace::Select => self.refuse_each(span, IssueCode::TextInSelect, |found| {
                let edits = vec![edit(found.start, "<option>"), edit(found.end, "</option>")];
                (
                    "HTML may move text that stands directly in a select",
                    Fix { summary: "wrap it in <option>".to_owned(), edits },
                )
            }),
            TextPlace::ForeignStyle => self.refuse_style_bindings(span),
        }
    }

    /// Moves on to the body if the text does; refuses text outside it.
    fn text_reaches_body(&mut self, first: usize, span: &Range<usize>) -> bool {
        match self.phase {
            Phase::InBody => true,
            Phase::AfterBody => {
                self.refuse_after_body(first..span.end);
                false
            }
            Phase::BeforeHtml | Phase::BeforeHead | Phase::InHead | Phase::AfterHead => {
                if !self.source[first..].starts_with("{{") {
                    self.phase = Phase::InBody;
                    return true;
                }
                let braces = binding::braces(self.source, first, first..span.end);
                let fault = braces
                    .clone()
                    .and_then(|braces| binding::read(self.source, braces, self.scope()).err());
                if let Some(fault) = fault {
                    self.issues.add(fault.code, self.source, fault.span, fault.message, fault.fix);
                    return false;
                }
                let end = braces.map_or(span.end, |braces| braces.end);
                let message = "the body has not begun: HTML would put this text elsewhere, or drop it, depending on the value";
                let fix = if self.head_is_explicit() {
                    delete(first..end, "move it into the body, or into <title>")
                } else {
                    insert(first, "<body>", "insert <body> before it")
                };
                self.issues.add(
                    IssueCode::BindingBeforeBody,
                    self.source,
                    first..end,
                    message,
                    fix,
                );
                false
            }
        }
    }

    fn text_place(&self) -> TextPlace {
        let Some(open) = self.current() else { return TextPlace::Free };
        if open.space != Space::Html {
            return match open.content {
                ForeignContent::Style => TextPlace::ForeignStyle,
                ForeignContent::Elements | ForeignContent::Text | ForeignContent::Refused => {
                    TextPlace::Free
                }
            };
        }
        match &*open.name {
            "table" | "colgroup" => TextPlace::Table("<tbody><tr><td>", "</td></tr></tbody>"),
            "tbody" | "thead" | "tfoot" => TextPlace::Table("<tr><td>", "</td></tr>"),
            "tr" => TextPlace::Table("<td>", "</td>"),
            "select" => TextPlace::Select,
            _ => TextPlace::Free,
        }
    }

    fn refuse_table_text(&mut self, first: usize, span: &Range<usize>, before: &str, behind: &str) {
        let text = self.source[first..span.end].trim_ascii_end();
        let end = first + text.len();
        let summary = format!("wrap it in {before}{behind}");
        let fix = Fix { summary, edits: vec![edit(first, before), edit(end, behind)] };
        let message = "HTML moves text that stands directly in a table out of it";
        self.issues.add(IssueCode::TextInTable, self.source, first..end, message, fix);
    }

    fn refuse_each(
        &mut self,
        span: Range<usize>,
        code: IssueCode,
        explain: impl Fn(Range<usize>) -> (&'static str, Fix),
    ) {
        let mut from = span.start;
        while let Some(open) = binding::next_open(self.source, from..span.end) {
            let end = binding::braces(self.source, open, open..span.end)
                .map_or(span.end, |braces| braces.end);
            let (message, fix) = explain(open..end);
            self.issues.add(code, self.source, open..end, message, fix);
            from = end;
            if self.issues.is_full() {
                return;
            }
        }
    }

    /// Refuses every binding in CSS text and offers a variable in its place.
    pub(crate) fn refuse_style_bindings(&mut self, span: Range<usize>) {
        let source = self.source;
        self.refuse_each(span, IssueCode::BindingInStyle, |found| {
            let name = source[found.clone()].trim_matches(|mark: char| !mark.is_ascii_alphanumeric());
            let name = name.replace(|mark: char| !mark.is_ascii_alphanumeric(), "-");
            let summary = format!("write var(--{name}) here, and set it where the value is used: style=\"--{name}: {}\"", &source[found.clone()]);
            ("style sheets are literal", replace(found, format!("var(--{name})"), summary))
        });
    }

    /// Refuses `{% … %}`, `<% … %>` and `${…}`, which a page would show as they are.
    fn refuse_other_marks(&mut self, span: Range<usize>) {
        for (open, close) in [("{%", "%}"), ("<%", "%>"), ("${data.", "}")] {
            let mut from = span.start;
            while let Some(at) = self.source[from..span.end].find(open) {
                let start = from + at;
                let inner = start + open.len();
                let closes = self.source[inner..span.end].find(close);
                let end = closes.map_or(inner, |end| inner + end + close.len());
                let text = self.source[inner..end].trim_end_matches(close).trim();
                let (fix, message) = if open == "${data." {
                    let path = format!("{{{{data.{text}}}}}");
                    (
                        replace(start..end, path.clone(), format!("write {path}")),
                        "bindings have two braces".to_owned(),
                    )
                } else {
                    let line = dialect::directive_line(&format!("%{text}")).unwrap_or_default();
                    let message = format!("`{text}` is a directive of another template language");
                    (delete(start..end, format!("remove it; {line}")), message)
                };
                self.issues.add(
                    IssueCode::UnsupportedDirective,
                    self.source,
                    start..end,
                    message,
                    fix,
                );
                from = end;
                // Without its end here, none behind it has one: looking again would be quadratic.
                if closes.is_none() || self.issues.is_full() {
                    break;
                }
            }
        }
    }

    /// Binds what stands in text that HTML keeps where it is.
    ///
    /// `opens_markup` finds the `<` of literal text that a value behind it would turn into markup.
    pub(crate) fn bind_text(
        &mut self,
        span: Range<usize>,
        opens_markup: fn(&str) -> Option<usize>,
    ) {
        self.emitter.program.texts.push(span.clone());
        if self.grammar == Grammar::V2 {
            self.refuse_other_marks(span.clone());
        }
        let mut from = span.start;
        while let Some(open) = binding::next_open(self.source, from..span.end) {
            if self.issues.is_full() {
                return;
            }
            if let Some(at) = opens_markup(&self.source[from..open]) {
                let bracket = from + at;
                let fix =
                    replace(bracket..bracket + 1, "&lt;", "write &lt; for the less-than sign");
                let message = "the value could complete the tag that < begins";
                self.issues.add(
                    IssueCode::BindingAfterBracket,
                    self.source,
                    bracket..open + 2,
                    message,
                    fix,
                );
                from = open + 2;
                continue;
            }
            let Some(found) = self.read_binding(from, open, span.end) else { return };
            match found {
                Ok(found) => {
                    from = found.span.end;
                    let element = self
                        .current()
                        .map_or_else(|| "body".into(), |open| open.name.as_ref().into());
                    if let Some(binding) = self.bind(found, Place::Text, element) {
                        self.mark_current(binding);
                    }
                }
                Err(end) => from = end,
            }
        }
    }

    /// Refuses text that ends in `<` or an unfinished reference before an element that may vanish:
    /// what follows would complete it.
    pub(crate) fn refuse_joining(&mut self, at: usize) {
        let before = &self.source[..at];
        let message = "without the element behind it, what follows would complete it";
        if let Some(bracket) = ends_in_bracket(before) {
            let fix = replace(bracket..bracket + 1, "&lt;", "write &lt; for the less-than sign");
            self.issues.add(IssueCode::BindingAfterBracket, self.source, bracket..at, message, fix);
        } else if let Some(ampersand) = reference::ends_in_reference(before) {
            let fix = replace(ampersand..ampersand + 1, "&amp;", "write &amp; for the ampersand");
            self.issues.add(
                IssueCode::BindingAfterReference,
                self.source,
                ampersand..at,
                message,
                fix,
            );
        }
    }

    /// Refuses content behind the body; the fix removes the end tags that end it too early.
    pub(crate) fn refuse_after_body(&mut self, span: Range<usize>) {
        let remove = |span: &Range<usize>| Edit {
            start: span.start,
            end: span.end,
            text: String::new(),
            order: 0,
        };
        let fix = Fix {
            summary: "remove the </body> and </html> before it, or put them at the end".to_owned(),
            edits: self.body_ends.iter().map(remove).collect(),
        };
        let message = "content behind </body>: HTML would move it into the body";
        self.issues.add(IssueCode::ContentAfterBody, self.source, span, message, fix);
        self.phase = Phase::InBody;
    }
}

/// Finds the `<` that the text ends with.
fn ends_in_bracket(text: &str) -> Option<usize> {
    text.ends_with('<').then(|| text.len() - 1)
}

/// Finds the `<`, `</` or beginning of an end tag that the text of title or textarea ends with.
pub(crate) fn ends_in_end_tag(text: &str) -> Option<usize> {
    let letters = text.bytes().rev().take_while(u8::is_ascii_alphabetic).count();
    let before = &text[..text.len() - letters];
    match before.strip_suffix("</") {
        Some(before) => Some(before.len()),
        None => ends_in_bracket(text),
    }
}

fn edit(at: usize, text: &str) -> Edit {
    Edit { start: at, end: at, text: text.to_owned(), order: 0 }
}
