//! The marks that show a value, rewritten as bindings.

use std::ops::Range;

use super::Translator;
use super::expression::{self, Operation};
use super::marks::MarkKind;
use super::row_scopes::Scope;
use crate::template::{Grammar, Template};

impl Translator<'_, '_> {
    /// Rewrites every mark that shows a value.
    pub(super) fn outputs(&mut self) {
        for mark in self.marks.clone() {
            match mark.kind {
                MarkKind::Output(text, _) => self.output(&text, mark.span),
                MarkKind::Other => {
                    self.edit(mark.span.clone(), String::new());
                    self.note(
                        mark.span.start,
                        "there are no partials, assignments or template comments",
                    );
                }
                MarkKind::For(_)
                | MarkKind::If(..)
                | MarkKind::Section(..)
                | MarkKind::Else(_)
                | MarkKind::Close => {}
            }
        }
    }

    /// Keeps the formats of a value whose element is still to be repeated.
    pub(super) fn keep_formats(&mut self, span: &Range<usize>, formats: &str) {
        for need in self.needs.values_mut().flatten().filter(|need| need.span == *span) {
            need.formats = formats.to_owned();
        }
    }

    /// Returns whether a name is that of the position of a row.
    pub(super) fn is_index(&self, text: &str, at: usize) -> bool {
        let Some(scope) = self.scope_at(at) else { return false };
        let words = ["@index", "$index", "loop.index", "loop.index0", "@number", "forloop.index"];
        scope.index.as_deref() == Some(text)
            || words.contains(&text)
            || (matches!(text, "index" | "i" | "idx") && !self.row_has(scope, text))
    }

    fn output(&mut self, text: &str, span: Range<usize>) {
        if self.grammar == Grammar::V2 {
            return self.output_second(text, span);
        }
        let in_text = !self.outline.elements.iter().any(|it| it.tag.span.contains(&span.start));
        let read = expression::read(text);
        if self.is_index(text.trim(), span.start) {
            self.rules.insert(
                ".row-number::before{counter-increment:row;content:counter(row)}".to_owned(),
            );
            let counter = if in_text { "<span class=\"row-number\"></span>" } else { "" };
            self.edit(span.clone(), counter.to_owned());
            self.note(span.start, "rows are numbered from 1 by the style sheet");
            return;
        }
        if let Some(parts) = joined(text) {
            return self.join(&parts, span);
        }
        let Some(path) = self.path(text, &span) else { return };
        let shown = format!("{{{{{path}}}}}");
        match read.rest {
            Operation::Nothing => {
                // Written as ours and right: left as it is, spaces and all.
                let ours =
                    self.outline.source[span.clone()].trim_matches(['{', '}']).trim() == path;
                let triple = self.outline.source[span.clone()].starts_with("{{{");
                let closed = self.outline.source[span.clone()].ends_with("}}");
                let single = !self.outline.source[span.clone()].starts_with("{{");
                if !ours || triple || single || !closed {
                    self.edit(span, shown);
                }
            }
            Operation::Format(format) => {
                self.edit(span.clone(), shown);
                self.note(span.start, format!("shows the value as the data has it: `{format}` is not done, put the formatted text into the data"));
            }
            Operation::Or(text) if in_text => {
                self.rule_unless();
                self.edit(span, format!("{shown}<span data-unless=\"{shown}\">{text}</span>"));
            }
            Operation::Choice(yes, no) if in_text && !text.contains("==") => {
                self.rule_if();
                self.rule_unless();
                self.edit(span, format!("<span data-if=\"{shown}\">{yes}</span><span data-unless=\"{shown}\">{no}</span>"));
            }
            Operation::Computes(expression) => {
                self.edit(span.clone(), shown.clone());
                self.note(span.start, format!("shows {shown}, not `{expression}`: nothing is computed in a page; put the result into the data, or let the source give it"));
            }
            Operation::Or(_) | Operation::Choice(..) | Operation::Equals(..) | Operation::Not => {
                self.edit(span.clone(), shown);
                self.note(
                    span.start,
                    "shows the value itself: put the text that depends on it into the data",
                );
            }
        }
    }

    /// Rewrites a mark that shows a value; one that is right stays as it is.
    fn output_second(&mut self, text: &str, span: Range<usize>) {
        let text = text.trim();
        let written = &self.outline.source[span.clone()];
        let is_double =
            written.starts_with("{{") && !written.starts_with("{{{") && written.ends_with("}}");
        if is_double && self.is_accepted(text, span.start) {
            return;
        }
        let one_more = text.split_once('+').filter(|(_, more)| more.trim() == "1");
        let position = one_more.map_or(text, |(name, _)| name.trim());
        if self.is_index(position, span.start) {
            let counts = one_more.is_some() || matches!(text, "loop.index" | "forloop.index");
            let word = if counts || text == "@number" { "@number" } else { "@index" };
            return self.edit(span, format!("{{{{{word}}}}}"));
        }
        if let Some(parts) = joined(text) {
            return self.join(&parts, span);
        }
        let read = expression::read(text);
        let formats = match (&read.rest, text.split_once('|')) {
            (Operation::Format(_), Some((_, formats))) => format!(" | {}", formats.trim()),
            (Operation::Or(or), _) => format!(" | or:'{}'", or.replace('\'', "")),
            _ => String::new(),
        };
        let Some(path) = self.path(text, &span) else {
            return self.keep_formats(&span, &formats);
        };
        let shown = format!("{{{{{path}{formats}}}}}");
        let in_text = !self.outline.elements.iter().any(|it| it.tag.span.contains(&span.start));
        match read.rest {
            Operation::Nothing | Operation::Or(_) => self.edit(span, shown),
            Operation::Format(_) if !formats.is_empty() => self.edit(span, shown),
            Operation::Choice(yes, no) if in_text && !text.contains("==") => {
                let choice = format!(
                    "<span data-od-if=\"{path}\">{yes}</span><span data-od-else>{no}</span>"
                );
                self.edit(span, choice);
            }
            // The compiler knows what was meant, if the path is one.
            Operation::Format(_)
            | Operation::Computes(_)
            | Operation::Choice(..)
            | Operation::Equals(..)
            | Operation::Not => {
                if !text.contains(&path) || !is_double {
                    self.edit(span.clone(), shown);
                    self.note(
                        span.start,
                        "shows the value itself: compute it in a query or at the source",
                    );
                }
            }
        }
    }

    /// Returns whether the compiler takes a binding at a place, with the rows around it.
    fn is_accepted(&self, text: &str, at: usize) -> bool {
        let root = text.split(['.', ' ']).next().unwrap_or_default();
        // `data` inside `data in data.rows` is the row.
        let is_renamed = |written: Option<&str>| written.is_some_and(|written| written == root);
        let scopes = self.scopes.iter().filter(|scope| scope.range.contains(&at));
        if scopes.clone().any(|scope| is_renamed(scope.written.as_deref())) {
            return false;
        }
        let around: Vec<&str> = self
            .scopes
            .iter()
            .filter(|scope| scope.range.contains(&at) && scope.written.is_none())
            .map(|scope| scope.alias.as_str())
            .collect();
        let open: String = around
            .iter()
            .map(|alias| format!("<p data-od-repeat=\"{alias} in data.x\">"))
            .collect();
        let close = "</p>".repeat(around.len());
        let page = format!(
            "<!doctype html><title>x</title><main>{open}<b>{{{{{text}}}}}</b>{close}</main>"
        );
        Template::compile_as(&page.replace("<p ", "<div ").replace("</p>", "</div>"), Grammar::V2)
            .is_ok()
    }

    /// Writes the parts of a text one behind the other.
    pub(super) fn join(&mut self, parts: &[Part<'_>], span: Range<usize>) {
        let mut whole = String::new();
        for part in parts {
            match part {
                Part::Text(literal) => whole.push_str(literal),
                Part::Path(path) => match self.path(path, &span) {
                    Some(path) => whole.push_str(&format!("{{{{{path}}}}}")),
                    None => return,
                },
            }
        }
        self.edit(span, whole);
    }

    fn row_has(&self, scope: &Scope, key: &str) -> bool {
        self.lists.iter().any(|list| list.path == scope.list && list.has(&[key]))
    }
}

/// Splits `'Total: ' + data.total` into its parts; `None` if something else is computed.
pub(super) fn joined(text: &str) -> Option<Vec<Part<'_>>> {
    let parts = text.split('+').map(str::trim).map(|part| {
        let quote = part.chars().next().filter(|mark| matches!(mark, '\'' | '"' | '`'));
        match quote {
            Some(quote) if part.len() > 1 && part.ends_with(quote) => {
                Some(Part::Text(&part[1..part.len() - 1]))
            }
            Some(_) => None,
            None => {
                let is_path = part.starts_with(|c: char| c.is_alphabetic())
                    && part.chars().all(|c| c.is_alphanumeric() || "._[]".contains(c));
                is_path.then_some(Part::Path(part))
            }
        }
    });
    let parts: Vec<Part<'_>> = parts.collect::<Option<_>>()?;
    let has_text = parts.iter().any(|part| matches!(part, Part::Text(_)));
    (parts.len() > 1 && has_text).then_some(parts)
}

/// A part of a text that is put together.
pub(super) enum Part<'t> {
    Text(&'t str),
    Path(&'t str),
}
