//! `data-od-repeat`, `data-od-if`, `data-od-else-if`, `data-od-else`: which an element has, and
//! where it may stand.

use super::block::{ConditionAt, ElseChain};
use super::chart;
use super::compiler::{Compiler, Phase};
use crate::template::Grammar;
use crate::template::expression::condition::{self, ConditionFault};
use crate::template::expression::dialect;
use crate::template::expression::path::PathFault;
use crate::template::expression::repeat::{self, RepeatExpression};
use crate::template::issue::{Fix, IssueCode, delete, insert, replace, shorten};
use crate::template::program::REPEAT_DEPTH_MAX;
use crate::template::tokenize::reference;
use crate::template::tokenize::scanner::{Attribute, Tag};
use crate::template::warning::WarningCode;

/// The one directive that makes a block of an element.
#[derive(Debug)]
pub(crate) enum Directive {
    Repeat(RepeatExpression),
    If(ConditionAt),
    ElseIf(ElseChain, ConditionAt),
    Else(ElseChain),
}

/// The attributes that make a block of an element.
const BLOCKS: [&str; 4] = ["data-od-repeat", "data-od-if", "data-od-else-if", "data-od-else"];

impl<'s> Compiler<'s> {
    /// Reads the tag's directive. `before` is the phase and the number of open elements before the
    /// tag closed or implied anything, `chain` the block that ended right before the tag.
    pub(crate) fn directive(
        &mut self,
        tag: &Tag<'s>,
        before: (Phase, usize),
        chain: Option<ElseChain>,
    ) -> Option<Directive> {
        let known = match self.grammar {
            Grammar::V1 => &BLOCKS[..1],
            Grammar::V2 => &BLOCKS[..],
        };
        // The rows of a chart are its points: the element stands once.
        let is_chart = self.grammar == Grammar::V2 && chart::is_chart(tag);
        let known = if is_chart { &known[1..] } else { known };
        let mut found = tag.attributes.iter().filter(|attribute| known.contains(&&*attribute.name));
        let attribute = found.next()?;
        if let Some(second) = found.find(|second| second.name != attribute.name) {
            self.refuse_second(attribute, second);
        }
        let chain = chain.filter(|chain| chain.depth == self.open.len());
        if attribute.name == "data-od-repeat" && self.refuse_nesting(attribute) {
            return None;
        }
        let directive = match &*attribute.name {
            "data-od-repeat" => self.repeat(attribute).map(Directive::Repeat),
            "data-od-if" => self.condition(attribute).map(Directive::If),
            "data-od-else-if" => {
                let condition = self.condition(attribute);
                let chain = self.chain_before(attribute, chain);
                chain.zip(condition).map(|(chain, condition)| Directive::ElseIf(chain, condition))
            }
            _ => {
                self.refuse_value_of_else(attribute);
                self.chain_before(attribute, chain).map(Directive::Else)
            }
        };
        self.refuse_placement(tag, before);
        directive
    }

    fn refuse_second(&mut self, first: &Attribute<'s>, second: &Attribute<'s>) {
        let summary = if first.name == "data-od-repeat" || second.name == "data-od-repeat" {
            "put the condition on an element inside or around the repeated one; leave rows out with a query"
        } else {
            "put one of them on an element around it"
        };
        let fix = delete(second.span.clone(), summary);
        let message = format!("{} and {} on one element", first.name, second.name);
        self.issues.add(
            IssueCode::DirectiveConflict,
            self.source,
            second.span.clone(),
            message,
            fix,
        );
    }

    /// Returns the chain that an `else` continues, or refuses the `else`.
    fn chain_before(
        &mut self,
        attribute: &Attribute<'s>,
        chain: Option<ElseChain>,
    ) -> Option<ElseChain> {
        let name = &*attribute.name;
        let is_else = name == "data-od-else";
        let chain = chain.filter(|chain| is_else || chain.follows_branch());
        if chain.is_none() {
            let before = if is_else {
                "data-od-if, data-od-else-if or data-od-repeat"
            } else {
                "data-od-if or data-od-else-if"
            };
            let message = format!("no element with {before} ends right before it");
            let summary = format!(
                "put it on the next sibling: <p data-od-if=\"data.alerts\">…</p><p {name}>…</p>"
            );
            let fix = delete(attribute.span.clone(), summary);
            self.issues.add(
                IssueCode::ElsePlacement,
                self.source,
                attribute.span.clone(),
                message,
                fix,
            );
        }
        chain
    }

    fn refuse_value_of_else(&mut self, attribute: &Attribute<'s>) {
        let value = self.source[attribute.value.clone()].trim_ascii();
        if value.is_empty() {
            return;
        }
        let fix = replace(
            attribute.span.clone(),
            "data-od-else",
            "write data-od-else without a value, or data-od-else-if with one",
        );
        let message = format!("data-od-else has the value `{}`", shorten(value));
        self.issues.add(
            IssueCode::ConditionSyntax,
            self.source,
            attribute.span.clone(),
            message,
            fix,
        );
    }

    pub(crate) fn repeat(&mut self, attribute: &Attribute<'s>) -> Option<RepeatExpression> {
        let value = &self.source[attribute.value.clone()];
        let start = attribute.value.start;
        if let Some(expression) = repeat::parse(value, start, &self.aliases) {
            return Some(expression);
        }
        let guess = repeat::guess(value, &self.aliases);
        let fix = match &guess {
            Some(text) => {
                let summary = format!("write data-od-repeat=\"{text}\"");
                replace(attribute.span.clone(), format!("data-od-repeat=\"{text}\""), summary)
            }
            None => delete(attribute.span.clone(), "remove it"),
        };
        let alias = value.split_ascii_whitespace().next().unwrap_or_default();
        let message = if self.aliases.iter().any(|taken| **taken == *alias) {
            format!("`{alias}` is already the row of a repeat around it")
        } else {
            format!("`{}` is not of the form `alias in data.path`", shorten(value))
        };
        self.issues.add(IssueCode::RepeatSyntax, self.source, attribute.span.clone(), message, fix);
        // What stands inside is read as if the fix were applied.
        repeat::parse(&guess?, start, &self.aliases)
    }

    pub(crate) fn refuse_nesting(&mut self, attribute: &Attribute<'s>) -> bool {
        let (message, summary) = match self.grammar {
            Grammar::V1 if self.repeats.is_empty() => return false,
            Grammar::V2 if self.repeats.len() < REPEAT_DEPTH_MAX => return false,
            Grammar::V1 => (
                "a repeat inside a repeat",
                "remove the inner repeat; flatten the list in the data",
            ),
            Grammar::V2 => (
                "four repeats inside one another",
                "remove the inner repeat; flatten the list in a query",
            ),
        };
        let fix = delete(attribute.span.clone(), summary);
        self.issues.add(IssueCode::RepeatNested, self.source, attribute.span.clone(), message, fix);
        true
    }

    fn condition(&mut self, attribute: &Attribute<'s>) -> Option<ConditionAt> {
        let span = attribute.value.clone();
        let text = &self.source[span.clone()];
        let decoded = reference::decode(text).unwrap_or(text.into());
        match condition::parse(&decoded, &self.aliases) {
            Ok(condition) => Some(ConditionAt { condition, span }),
            Err(fault) => self.refuse_condition(attribute, &decoded, &fault),
        }
    }

    /// Refuses a condition; returns the one that the fix writes in its place.
    fn refuse_condition(
        &mut self,
        attribute: &Attribute<'s>,
        text: &str,
        fault: &ConditionFault,
    ) -> Option<ConditionAt> {
        let repaired = dialect::repair_condition(text, fault, &self.aliases);
        let fix = match &repaired {
            Some(text) => {
                let value = format!("{}=\"{}\"", attribute.name, text.replace('"', "&quot;"));
                let advice = dialect::condition_advice(fault).unwrap_or_default();
                replace(attribute.span.clone(), value.clone(), format!("write {value}{advice}"))
            }
            None => {
                let advice = dialect::condition_advice(fault).unwrap_or("remove it");
                delete(attribute.span.clone(), advice)
            }
        };
        let code = match fault {
            ConditionFault::Subject(PathFault::Root, _) | ConditionFault::NoRow(_) => {
                IssueCode::UnknownRoot
            }
            ConditionFault::Subject(PathFault::Grammar, _)
            | ConditionFault::Empty
            | ConditionFault::Joined
            | ConditionFault::Ternary
            | ConditionFault::Arithmetic
            | ConditionFault::Sign(..)
            | ConditionFault::Literal(_)
            | ConditionFault::Order(..) => IssueCode::ConditionSyntax,
        };
        let message = dialect::explain_condition(fault, &self.aliases);
        self.issues.add(code, self.source, attribute.span.clone(), message, fix);
        let condition = condition::parse(&repaired?, &self.aliases).ok()?;
        Some(ConditionAt { condition, span: attribute.value.clone() })
    }

    /// Refuses a block whose start tag makes HTML close or open something around it: without rows,
    /// or where the condition does not hold, that would not happen.
    fn refuse_placement(&mut self, tag: &Tag<'s>, before: (Phase, usize)) {
        let at = tag.span.start;
        let (phase, depth) = before;
        let repeats = tag.attributes.iter().any(|attribute| attribute.name == "data-od-repeat");
        let (when, only_when) = if repeats {
            ("with the first row", "with the first row only")
        } else {
            ("where the condition holds", "only where the condition holds")
        };
        let begins_body = phase != self.phase && self.phase == Phase::InBody;
        if begins_body && self.open.len() <= depth && self.closed_names.is_empty() {
            // With the tag written out, the body begins with or without rows.
            self.emitter.copy_to(at);
            self.emitter.push("<body>");
            let message = "the body begins here, with or without rows: <body> was put before it";
            self.warnings.add(WarningCode::BodyBegun, self.source, tag.span.clone(), message);
            return;
        }
        let (message, fix) = if phase != self.phase {
            let begin = if self.phase == Phase::InHead { "<head>" } else { "<body>" };
            (
                format!("the body would only begin {when}"),
                insert(at, begin, format!("insert {begin} before it")),
            )
        } else if self.open.len() > depth {
            (format!("HTML adds elements around it, {only_when}"), self.wrap_implied(tag, depth))
        } else if !self.closed_names.is_empty() {
            let closing: String =
                self.closed_names.iter().map(|name| format!("</{name}>")).collect();
            let summary = format!("insert {closing} before it");
            (
                format!("it ends an element that has no end tag, {only_when}"),
                insert(at, closing, summary),
            )
        } else {
            return;
        };
        let draft = self.issues.add(
            IssueCode::RepeatPlacement,
            self.source,
            tag.span.clone(),
            message,
            fix,
        );
        if phase == self.phase && self.open.len() > depth {
            let closing = self
                .open
                .iter()
                .skip(depth)
                .rev()
                .map(|open| format!("</{}>", open.name))
                .collect();
            self.repeat_wrapper = Some((draft, closing));
        }
    }

    fn wrap_implied(&self, tag: &Tag<'s>, depth: usize) -> Fix {
        let opening: String =
            self.open.iter().skip(depth).map(|open| format!("<{}>", open.name)).collect();
        insert(tag.span.start, opening.clone(), format!("wrap it in {opening}"))
    }
}
