//! Blocks and attributes of other template languages: loops become repeats, conditions become
//! attributes that a style rule hides.

use std::ops::Range;

use super::expression::{self, Rest};
use super::lists::follow;
use super::marks::{MarkKind, read_loop};
use super::row_scopes::is_alias;
use super::second;
use super::translate::Translator;
use crate::template::Grammar;
use crate::template::scan::Attribute;

/// The meaning of an attribute of another language.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Foreign {
    Loop,
    If,
    Unless,
    Else,
    ElseIf,
    Text,
    /// Binds an attribute of this name.
    Bound,
    /// Another spelling of an attribute of HTML.
    Spelling,
    /// Runs or sets up something that no page has.
    Runs,
}

/// Tells an attribute of another language by its name, and by its value where the name alone could
/// be anybody's.
fn foreign(name: &str, value: &str, grammar: Grammar) -> Option<Foreign> {
    // What the second format has is its own; what it lacks is the compiler's to refuse.
    if grammar == Grammar::V2 && second::has_attribute(name) {
        return None;
    }
    let is_loop = [" in ", " of ", " as "].iter().any(|sign| value.contains(sign));
    let is_path = value.starts_with(|c: char| c.is_alphabetic() || c == '!')
        && value.chars().all(|c| c.is_alphanumeric() || "._!-[]' =".contains(c));
    Some(match name {
        "v-for" | "x-for" | "*ngfor" | "ng-repeat" | "data-ng-repeat" | "th:each" | "wx:for"
        | "s-for" | "data-od-for" | "data-od-each" | "data-od-foreach" | "data-od-loop" => {
            Foreign::Loop
        }
        "data-repeat" | "data-for" | "data-each" | "data-foreach" | "data-loop" | "each"
        | "for-each" | "repeat" | "od-repeat" | ":for" | "*for"
            if is_loop || value.starts_with("data.") =>
        {
            Foreign::Loop
        }
        "v-if" | "v-show" | "x-if" | "x-show" | "*ngif" | "ng-if" | "ng-show" | "th:if"
        | "wx:if" | "data-od-if" | "data-od-show" => Foreign::If,
        "ng-hide" | "th:unless" | "data-od-unless" | "data-od-hide" => Foreign::Unless,
        "v-else" | "wx:else" | "data-od-else" => Foreign::Else,
        "v-else-if" | "wx:elif" if grammar == Grammar::V2 => Foreign::ElseIf,
        "v-text" | "x-text" | "ng-bind" | "th:text" | "v-html" | "x-html" | "ng-bind-html"
        | "data-od-text" | "data-od-bind" | "data-od-value" | "data-od-html" | "data-od-raw"
        | "data-od-bind-html" | "[innertext]" | "[textcontent]" | "[innerhtml]" => Foreign::Text,
        "data-bind" if knockout(value, &["foreach"]).is_some() => Foreign::Loop,
        "data-bind" if knockout(value, &["text", "html"]).is_some() => Foreign::Text,
        "data-bind" if knockout(value, &["visible", "if"]).is_some() => Foreign::If,
        "data-bind" | "data-text" | "data-field" if is_path && value.contains('.') => Foreign::Text,
        "x-data" | "x-init" | "ng-app" | "ng-controller" | "ng-init" | "v-cloak" | "v-once"
        | ":key" | "v-bind:key" | "x-bind:key" | "x-cloak" => Foreign::Runs,
        "key" if value.starts_with('{') => Foreign::Runs,
        "classname" | "htmlfor" => Foreign::Spelling,
        "data-od-id" | "data-od-repeat" | "data-od-row" => return None,
        _ if name.starts_with("data-od-") && is_path => Foreign::Bound,
        _ if name.starts_with("v-on:")
            || name.starts_with("x-on:")
            || name.starts_with('@')
            || name.starts_with('(')
            || name.starts_with("ng-click") =>
        {
            Foreign::Runs
        }
        _ if name.starts_with("v-bind:")
            || name.starts_with("x-bind:")
            || name.starts_with("th:")
            || (name.starts_with(':') && name.len() > 1)
            || (name.starts_with('[') && name.ends_with(']'))
            || matches!(name, "ng-src" | "ng-href") =>
        {
            Foreign::Bound
        }
        _ => return None,
    })
}

/// Returns what a binding of Knockout names, such as `foreach: data.rows`.
fn knockout<'v>(value: &'v str, words: &[&str]) -> Option<&'v str> {
    let (word, path) = value.split_once(':')?;
    words.contains(&word.trim()).then(|| path.split(',').next().unwrap_or_default().trim())
}

/// Returns the attributes of other languages in a template: name and place.
pub(super) fn foreign_attributes(outline: &super::outline::Outline<'_>) -> Vec<(String, usize)> {
    let all = outline.elements.iter().flat_map(|element| &element.tag.attributes);
    all.filter(|it| {
        let value = &outline.source[it.value.clone()];
        // Those are refused by the compiler itself.
        !it.name.starts_with("data-od-") && foreign(&it.name, value, Grammar::V1).is_some()
    })
    .map(|it| (it.name.to_string(), it.span.start))
    .collect()
}

impl Translator<'_, '_> {
    /// Rewrites the attributes of other languages, and repeats that are not in our grammar.
    pub(super) fn attributes(&mut self) {
        for element in 0..self.outline.elements.len() {
            let attributes = self.outline.elements[element].tag.attributes.clone();
            for attribute in &attributes {
                let value = self.outline.source[attribute.value.clone()].to_owned();
                if attribute.name == "data-od-repeat" {
                    self.repeat(element, attribute, &value);
                } else if let Some(meaning) = foreign(&attribute.name, &value, self.grammar) {
                    let words = ["foreach", "text", "html", "visible", "if"];
                    let bare = (attribute.name == "data-bind").then(|| knockout(&value, &words));
                    let value = bare.flatten().unwrap_or(&value);
                    self.attribute(element, attribute, value, meaning);
                }
            }
        }
    }

    fn repeat(&mut self, element: usize, attribute: &Attribute<'_>, value: &str) {
        let head = read_loop(value);
        let range = self.outline.elements[element].span.clone();
        let words: Vec<&str> = value.split_whitespace().collect();
        let is_ours = matches!(words[..], [alias, "in", list] if is_alias(alias)
            && list.split('.').next().is_some_and(|root| root == "data" || self.scopes.iter().any(|it| it.alias == root))
            && list.contains('.')
            && list.split('.').all(|step| crate::template::is_key(step) || step.parse::<usize>().is_ok()));
        let mut scope = self.scope(&head, range);
        if is_ours {
            scope.list = head.list.clone();
        }
        let text = format!("data-od-repeat=\"{} in {}\"", scope.alias, scope.list);
        if let Some(inner) = self.unwrapped(element) {
            self.edit(inner..inner, format!(" {text}"));
        } else if !is_ours {
            self.edit(attribute.span.clone(), text);
        }
        if head.list.contains(['(', '|', ':']) {
            self.note(
                attribute.span.start,
                "shows all rows: choosing or ordering them is for the source",
            );
        }
        self.scopes.push(scope);
    }

    fn attribute(
        &mut self,
        element: usize,
        attribute: &Attribute<'_>,
        value: &str,
        meaning: Foreign,
    ) {
        let span = attribute.span.clone();
        let gone = self.with_space(&span);
        match meaning {
            Foreign::Loop if attribute.name == "data-bind" => {
                self.repeat_inside(element, gone, value);
            }
            Foreign::Loop => {
                let range = self.outline.elements[element].span.clone();
                let scope = self.scope(&read_loop(value), range);
                let text = format!("data-od-repeat=\"{} in {}\"", scope.alias, scope.list);
                self.scopes.push(scope);
                match self.unwrapped(element) {
                    Some(inner) => self.edit(inner..inner, format!(" {text}")),
                    None => self.edit(span, text),
                }
            }
            Foreign::If | Foreign::Unless => {
                let text = self.condition(value, meaning == Foreign::Unless, &span);
                match (text, self.unwrapped(element)) {
                    (Some(text), Some(inner)) => self.edit(inner..inner, format!(" {text}")),
                    (Some(text), None) => self.edit(span, text),
                    (None, unwrapped) => {
                        if unwrapped.is_none() {
                            self.edit(gone, String::new());
                        }
                    }
                }
            }
            Foreign::ElseIf => {
                let text = self.condition_second(value, false, &span);
                let text = text.map(|it| format!("data-od-else-if=\"{it}\""));
                self.edit(if text.is_some() { span } else { gone }, text.unwrap_or_default());
            }
            Foreign::Else if self.grammar == Grammar::V2 => {
                self.edit(span, "data-od-else".to_owned());
            }
            Foreign::Else => match self.condition_before(element) {
                Some((condition, negated)) => match self.condition(&condition, !negated, &span) {
                    Some(text) => self.edit(span, text),
                    None => self.edit(gone, String::new()),
                },
                None => self.edit(gone, String::new()),
            },
            Foreign::Text => {
                let inner = self.outline.elements[element].inner.clone();
                self.edit(gone, String::new());
                if let Some(path) = self.path(value, &inner) {
                    self.edit(inner, format!("{{{{{path}}}}}"));
                }
            }
            Foreign::Bound => self.bound(element, attribute, value),
            Foreign::Spelling => {
                let name = if attribute.name == "htmlfor" { "for" } else { "class" };
                let at = span.start..span.start + attribute.name.len();
                self.edit(at, name.to_owned());
            }
            Foreign::Runs => {
                self.edit(gone, String::new());
                if !attribute.name.ends_with("key") {
                    self.note(
                        span.start,
                        format!("`{}` is left out: pages have no script", attribute.name),
                    );
                }
            }
        }
    }

    /// Repeats what stands in an element, as Knockout does.
    fn repeat_inside(&mut self, element: usize, gone: Range<usize>, value: &str) {
        let range = self.outline.elements[element].inner.clone();
        let scope = self.scope(&read_loop(value), range.clone());
        let text = format!("data-od-repeat=\"{} in {}\"", scope.alias, scope.list);
        self.scopes.push(scope);
        self.edit(gone, String::new());
        self.put(&range, &text);
    }

    fn bound(&mut self, element: usize, attribute: &Attribute<'_>, value: &str) {
        let name = attribute.name.trim_matches(['[', ']']);
        let name = name.rsplit(':').next().unwrap_or(name).trim_start_matches("ng-");
        let name = ["data-od-attr-", "data-od-bind-", "data-od-", "attr."]
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix))
            .unwrap_or(name);
        let span = attribute.span.clone();
        let is_simple = !value.contains(['{', '?', '+', '`', '(']);
        let path = is_simple.then(|| self.path(value, &span)).flatten();
        let Some(path) = path else {
            let gone = self.with_space(&span);
            self.edit(gone, String::new());
            self.note(span.start, format!("`{name}` is left out: put its value into the data and write {name}=\"{{{{data.{name}}}}}\""));
            return;
        };
        match self.outline.attribute(element, name).map(|it| it.value.clone()) {
            Some(known) => {
                let gone = self.with_space(&span);
                self.edit(gone, String::new());
                self.edit(known.end..known.end, format!(" {{{{{path}}}}}"));
            }
            None => self.edit(span, format!("{name}=\"{{{{{path}}}}}\"")),
        }
    }

    /// Takes `<template>` away around its one element; returns where that one's attributes begin.
    fn unwrapped(&mut self, element: usize) -> Option<usize> {
        if !matches!(self.outline.name(element), "template" | "ng-container") {
            return None;
        }
        let (span, inner, tag) = {
            let it = &self.outline.elements[element];
            (it.span.clone(), it.inner.clone(), it.tag.span.clone())
        };
        let first = self.outline.directly_in(&inner).first().copied()?;
        // Its attributes are inside the tag that goes: no other edit of them may stay.
        self.done.edits.retain(|(edit, _)| !(tag.start <= edit.start && edit.end <= tag.end));
        self.edit(tag, String::new());
        self.edit(inner.end..span.end, String::new());
        Some(self.outline.elements[first].tag.name_span.end)
    }

    /// Returns an attribute together with the white space before it.
    fn with_space(&self, span: &Range<usize>) -> Range<usize> {
        self.outline.source[..span.start].trim_end().len()..span.end
    }

    /// Returns the condition of the element before, for `v-else`.
    fn condition_before(&self, element: usize) -> Option<(String, bool)> {
        let it = &self.outline.elements[element];
        let before = self.outline.elements[..element]
            .iter()
            .rev()
            .find(|other| other.parent == it.parent && other.span.end <= it.span.start)?;
        before.tag.attributes.iter().find_map(|attribute| {
            let value = &self.outline.source[attribute.value.clone()];
            match foreign(&attribute.name, value, self.grammar)? {
                Foreign::If => Some((value.to_owned(), false)),
                Foreign::Unless => Some((value.to_owned(), true)),
                Foreign::Loop
                | Foreign::Else
                | Foreign::ElseIf
                | Foreign::Text
                | Foreign::Bound
                | Foreign::Spelling
                | Foreign::Runs => None,
            }
        })
    }

    /// Returns the attribute that hides an element where a condition does not hold, if a style rule
    /// can decide it.
    fn condition(&mut self, text: &str, negated: bool, span: &Range<usize>) -> Option<String> {
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
            Rest::Nothing | Rest::Format(_) => (negated, None),
            Rest::Not => (!negated, None),
            Rest::Equals(literal, is_equal) => (negated == *is_equal, Some(literal.clone())),
            Rest::Or(_) | Rest::Choice(..) | Rest::Computes(_) => {
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

    /// Rewrites blocks: the marks go, what they meant becomes attributes.
    pub(super) fn blocks(&mut self) {
        for block in self.paired() {
            let parts: Vec<usize> = [&[block.open][..], &block.dividers, &[block.close]].concat();
            for part in &parts {
                let span = self.marks[*part].span.clone();
                self.edit(span, String::new());
            }
            let range =
                |at: usize| self.marks[parts[at]].span.end..self.marks[parts[at + 1]].span.start;
            let first = range(0);
            let second = (parts.len() > 2).then(|| range(1));
            let open = self.marks[block.open].clone();
            let whole = open.span.end..self.marks[block.close].span.start;
            let is_loop = self.scopes.iter().any(|scope| scope.range == whole);
            match &open.kind {
                MarkKind::For(_) => self.repeat_block(&open.span, block.close, first, second),
                MarkKind::Section(_, false) if is_loop => {
                    self.repeat_block(&open.span, block.close, first, second);
                }
                MarkKind::If(text, negated) | MarkKind::Section(text, negated)
                    if self.grammar == Grammar::V2 =>
                {
                    self.branches(text, *negated, &parts);
                }
                MarkKind::If(text, negated) | MarkKind::Section(text, negated) => {
                    let attribute = self.condition(text, *negated, &open.span);
                    if let Some(attribute) = attribute {
                        self.put(&first, &attribute);
                    }
                    if let Some(second) = second
                        && let Some(attribute) = self.condition(text, !negated, &open.span)
                    {
                        self.put(&second, &attribute);
                    }
                }
                MarkKind::Else(_) | MarkKind::Close | MarkKind::Output(..) | MarkKind::Other => {}
            }
        }
        self.lone_marks();
    }

    fn repeat_block(
        &mut self,
        open: &Range<usize>,
        close: usize,
        first: Range<usize>,
        second: Option<Range<usize>>,
    ) {
        let range = open.end..self.marks[close].span.start;
        let Some(scope) = self.scopes.iter().find(|scope| scope.range == range).cloned() else {
            return;
        };
        let repeat = format!("data-od-repeat=\"{} in {}\"", scope.alias, scope.list);
        match second {
            Some(second) if self.grammar == Grammar::V2 => {
                self.put(&first, &repeat);
                self.put(&second, "data-od-else");
            }
            Some(second) => {
                self.put(&first, &format!("{repeat} data-row"));
                self.put(&second, "data-empty");
                self.rules.insert("[data-row]~[data-empty]{display:none}".to_owned());
            }
            None => self.put(&first, &repeat),
        }
    }

    /// Puts an attribute on the one element of a range, or on an element around it.
    pub(super) fn put(&mut self, range: &Range<usize>, attribute: &str) {
        let source = self.outline.source;
        let elements = self.outline.directly_in(range);
        if let [element] = elements[..] {
            let span = self.outline.elements[element].span.clone();
            let outside = [&source[range.start..span.start], &source[span.end..range.end]].concat();
            if self.is_blank(&outside, range) {
                let at = self.outline.elements[element].tag.name_span.end;
                self.edit(at..at, format!(" {attribute}"));
                return;
            }
        }
        let parent = self.outline.around(range.start).map(|it| self.outline.name(it).to_owned());
        let name = match parent.as_deref() {
            Some("table") => "tbody",
            Some("tbody" | "thead" | "tfoot") => {
                // Rows cannot be wrapped inside a section: each gets the attribute.
                for element in elements {
                    let at = self.outline.elements[element].tag.name_span.end;
                    self.edit(at..at, format!(" {attribute}"));
                }
                return;
            }
            _ if elements.iter().any(|it| {
                !matches!(
                    self.outline.name(*it),
                    "span" | "b" | "a" | "em" | "strong" | "i" | "code" | "small" | "br" | "img"
                )
            }) =>
            {
                "div"
            }
            _ => "span",
        };
        self.edit(range.start..range.start, format!("<{name} {attribute}>"));
        self.edit(range.end..range.end, format!("</{name}>"));
    }

    /// Returns whether nothing but marks stands in a text.
    fn is_blank(&self, text: &str, range: &Range<usize>) -> bool {
        let mut text = text.to_owned();
        for mark in self
            .marks
            .iter()
            .filter(|mark| range.start <= mark.span.start && mark.span.end <= range.end)
        {
            if !matches!(mark.kind, MarkKind::Output(..)) {
                text = text.replacen(&self.outline.source[mark.span.clone()], "", 1);
            }
        }
        text.trim().is_empty()
    }

    /// Removes marks that open or close nothing.
    fn lone_marks(&mut self) {
        let paired: Vec<usize> = self
            .paired()
            .into_iter()
            .flat_map(|block| [vec![block.open, block.close], block.dividers].concat())
            .collect();
        for (index, mark) in self.marks.clone().into_iter().enumerate() {
            if !paired.contains(&index)
                && !matches!(mark.kind, MarkKind::Output(..) | MarkKind::Other)
            {
                self.edit(mark.span, String::new());
            }
        }
    }

    /// Turns bindings in style sheets into variables that the body sets.
    pub(super) fn style_bindings(&mut self) {
        let source = self.outline.source;
        let mut set = String::new();
        for range in self.outline.styles.clone() {
            let mut at = range.start;
            while let Some(open) = source[at..range.end].find("{{").map(|it| at + it) {
                let Some(close) = source[open..range.end].find("}}").map(|it| open + it + 2) else {
                    break;
                };
                at = close;
                let Some(path) = self.path(source[open + 2..close - 2].trim(), &(open..close))
                else {
                    continue;
                };
                let name = path.trim_start_matches("data.").replace('.', "-");
                self.edit(open..close, format!("var(--{name})"));
                set.push_str(&format!("--{name}: {{{{{path}}}}};"));
            }
        }
        let target = ["body", "main", "div", "section"].iter().find_map(|name| {
            self.outline.elements.iter().find(|element| element.tag.name == *name)
        });
        let Some(target) = target.filter(|_| !set.is_empty()) else { return };
        let at = target.tag.name_span.end;
        self.edit(at..at, format!(" style=\"{}\"", set.trim_end_matches(';')));
    }
}
