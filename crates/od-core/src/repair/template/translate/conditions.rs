//! Conditions of other template languages: attributes that a style rule hides in the first format,
//! `data-od-if` and its branches in the second.

use std::ops::Range;

use super::Translator;
use super::expression::{self, Operation};
use super::marks::MarkKind;
use super::own_conditions::{asks_for_rows, counted, joined_to};
use crate::repair::template::lists::follow;
use crate::template::{COUNT_ROWS, Grammar};

impl Translator<'_, '_> {
    /// Returns the attribute that hides an element where a condition does not hold, if a style rule
    /// can decide it.
    pub(super) fn condition(
        &mut self,
        text: &str,
        negated: bool,
        span: &Range<usize>,
    ) -> Option<String> {
        if self.grammar == Grammar::V2 {
            let condition = self.condition_second(text, negated, span)?;
            return Some(format!("data-od-if=\"{condition}\""));
        }
        let read = expression::read(text);
        let path = self.path(text, span);
        let always = "is always shown: put what depends on the condition into the data";
        let Some(path) = path else {
            self.note(span.start, format!("`{text}` {always}"));
            return None;
        };
        let steps: Vec<&str> = path.split('.').skip(1).collect();
        let is_scalar = !path.starts_with("data.")
            || follow(self.data, &steps).is_none_or(|it| !it.is_array() && !it.is_object());
        let (negated, literal) = match &read.rest {
            Operation::Nothing | Operation::Format(_) => (negated, None),
            Operation::Not => (!negated, None),
            Operation::Equals(literal, is_equal) => (negated == *is_equal, Some(literal.clone())),
            Operation::Or(_) | Operation::Choice(..) | Operation::Computes(_) => {
                self.note(span.start, format!("`{text}` {always}"));
                return None;
            }
        };
        if !is_scalar {
            self.note(span.start, format!("`{text}` {always}"));
            return None;
        }
        let Some(literal) = literal else {
            if negated {
                self.rule_unless();
                return Some(format!("data-unless=\"{{{{{path}}}}}\""));
            }
            self.rule_if();
            return Some(format!("data-if=\"{{{{{path}}}}}\""));
        };
        let word: String = literal.chars().filter(char::is_ascii_alphanumeric).collect();
        let name =
            format!("data-{}-{}", if negated { "unless" } else { "if" }, word.to_ascii_lowercase());
        let literal = literal.replace(['"', '\\', '<'], "");
        self.rules.insert(if negated {
            format!("[{name}=\"{literal}\"]{{display:none}}")
        } else {
            format!("[{name}]:not([{name}=\"{literal}\"]){{display:none}}")
        });
        Some(format!("{name}=\"{{{{{path}}}}}\""))
    }

    /// Returns a condition of the second format.
    pub(super) fn condition_second(
        &mut self,
        text: &str,
        negated: bool,
        span: &Range<usize>,
    ) -> Option<String> {
        let text = text.trim().trim_matches(['{', '}']).trim();
        let text = match joined_to(text) {
            Some((first, rest)) => {
                self.note(span.start, format!("`{rest}` is left out: a condition asks one thing, put the other on an element inside"));
                first
            }
            None => text,
        };
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
        // `stats.count` is a value like any other where the data has one of that name.
        let counted = counted(&subject).filter(|_| !self.has_value(&subject)).map(str::to_owned);
        let is_counted = counted.is_some();
        let path = self.path(counted.as_deref().unwrap_or(&subject), span)?;
        let negated = negated != is_not;
        let (_, sign, literal) = match compared {
            Some((_, sign, literal)) if is_counted => {
                let Some(has_rows) = asks_for_rows(sign, &literal) else {
                    self.note(span.start, format!("`{text}` is tested as `{path}`: {COUNT_ROWS}"));
                    return Some(path);
                };
                return Some(if has_rows == negated { format!("!{path}") } else { path });
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
}
