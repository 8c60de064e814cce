//! Other languages in the words of the second format: conditions, row variables, formats.

use std::ops::Range;

use super::expression::{self, Rest};
use super::marks::MarkKind;
use super::outputs::joined;
use super::translate::Translator;
use crate::template::{Grammar, Template};

/// Returns whether the second format has an attribute, or refuses it with a fix of its own.
pub(super) fn has_attribute(name: &str) -> bool {
    let Some(word) = name.strip_prefix("data-od-") else { return false };
    let binds = ["attr-", "bind-"].iter().any(|start| word.starts_with(start));
    let words =
        ["for", "each", "foreach", "loop", "show", "hide", "text", "bind", "value", "html", "raw"];
    let html = ["href", "src", "class", "style", "alt", "content", "placeholder", "colspan"];
    !binds && !words.contains(&word) && !html.contains(&word)
}

impl Translator<'_, '_> {
    /// Rewrites a mark that shows a value; one that is right stays as it is.
    pub(super) fn output_second(&mut self, text: &str, span: Range<usize>) {
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
            (Rest::Format(_), Some((_, formats))) => format!(" | {}", formats.trim()),
            (Rest::Or(or), _) => format!(" | or:'{}'", or.replace('\'', "")),
            _ => String::new(),
        };
        let Some(path) = self.path(text, &span) else {
            return self.keep_formats(&span, &formats);
        };
        let shown = format!("{{{{{path}{formats}}}}}");
        let in_text = !self.outline.elements.iter().any(|it| it.tag.span.contains(&span.start));
        match read.rest {
            Rest::Nothing | Rest::Or(_) => self.edit(span, shown),
            Rest::Format(_) if !formats.is_empty() => self.edit(span, shown),
            Rest::Choice(yes, no) if in_text && !text.contains("==") => {
                let choice = format!(
                    "<span data-od-if=\"{path}\">{yes}</span><span data-od-else>{no}</span>"
                );
                self.edit(span, choice);
            }
            // The compiler knows what was meant, if the path is one.
            Rest::Format(_)
            | Rest::Computes(_)
            | Rest::Choice(..)
            | Rest::Equals(..)
            | Rest::Not => {
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

    /// Returns a condition of the second format.
    pub(super) fn condition_second(
        &mut self,
        text: &str,
        negated: bool,
        span: &Range<usize>,
    ) -> Option<String> {
        let text = text.trim().trim_matches(['{', '}']).trim();
        let text = text.strip_prefix("not ").map_or(text.to_owned(), |rest| format!("!{rest}"));
        let signs = [">=", "<=", "===", "!==", "==", "!=", ">", "<"];
        let sign = signs.iter().find(|sign| text.contains(**sign));
        let (subject, compared) =
            match sign.and_then(|sign| text.split_once(*sign).map(|it| (sign, it))) {
                Some((sign, (subject, literal))) => {
                    let literal = literal.trim().trim_matches(['(', ')']).replace('"', "'");
                    (
                        subject.trim().to_owned(),
                        Some((sign.trim_end_matches("==").len(), *sign, literal)),
                    )
                }
                None => (text.clone(), None),
            };
        let (subject, is_not) = match subject.strip_prefix('!') {
            Some(subject) => (subject.to_owned(), true),
            None => (subject, false),
        };
        // A list is true if it has rows.
        let lengths = [".length", ".size", ".count", "|length", " | length"];
        let counted = lengths.iter().find_map(|end| subject.strip_suffix(end)).map(str::to_owned);
        let is_counted = counted.is_some();
        let path = self.path(counted.as_deref().unwrap_or(&subject), span)?;
        let negated = negated != is_not;
        let (_, sign, literal) = match compared {
            Some((_, ">" | "!=" | "!==", literal)) if is_counted && literal == "0" => {
                return Some(if negated { format!("!{path}") } else { path });
            }
            Some((_, "==" | "===", literal)) if is_counted && literal == "0" => {
                return Some(if negated { path } else { format!("!{path}") });
            }
            Some(compared) => compared,
            None => return Some(if negated { format!("!{path}") } else { path }),
        };
        let sign = match (sign, negated) {
            ("==" | "===", false) | ("!=" | "!==", true) => "==",
            ("==" | "===", true) | ("!=" | "!==", false) => "!=",
            (">", false) | ("<=", true) => "&gt;",
            (">", true) | ("<=", false) => "&lt;=",
            ("<", false) | (">=", true) => "&lt;",
            _ => "&gt;=",
        };
        Some(format!("{path} {sign} {literal}"))
    }

    /// Puts the branches of a condition on their elements.
    pub(super) fn branches(&mut self, text: &str, negated: bool, parts: &[usize]) {
        for pair in 0..parts.len() - 1 {
            let mark = self.marks[parts[pair]].clone();
            let range = mark.span.end..self.marks[parts[pair + 1]].span.start;
            let attribute = match &mark.kind {
                _ if pair == 0 => self
                    .condition_second(text, negated, &mark.span)
                    .map(|condition| format!("data-od-if=\"{condition}\"")),
                MarkKind::Else(Some(condition)) => self
                    .condition_second(condition, false, &mark.span)
                    .map(|condition| format!("data-od-else-if=\"{condition}\"")),
                MarkKind::Else(None)
                | MarkKind::If(..)
                | MarkKind::Section(..)
                | MarkKind::For(_)
                | MarkKind::Close
                | MarkKind::Output(..)
                | MarkKind::Other => Some("data-od-else".to_owned()),
            };
            if let Some(attribute) = attribute {
                self.put(&range, &attribute);
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
}
