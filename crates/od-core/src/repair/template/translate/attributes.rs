//! Attributes of other template languages: what they mean, and what is written instead.

use std::ops::Range;

use super::Translator;
use super::marks::read_loop;
use super::own_conditions::is_condition;
use super::row_scopes::is_alias;
use crate::repair::template::outline::Outline;
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
    if grammar == Grammar::V2 && has_attribute(name) {
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

/// Returns whether an attribute of another language repeats its element.
pub(super) fn is_loop(name: &str, value: &str, grammar: Grammar) -> bool {
    foreign(name, value, grammar) == Some(Foreign::Loop)
}

/// Returns whether the second format has an attribute, or refuses it with a fix of its own.
fn has_attribute(name: &str) -> bool {
    let Some(word) = name.strip_prefix("data-od-") else { return false };
    let binds = ["attr-", "bind-"].iter().any(|start| word.starts_with(start));
    let words =
        ["for", "each", "foreach", "loop", "show", "hide", "text", "bind", "value", "html", "raw"];
    let html = ["href", "src", "class", "style", "alt", "content", "placeholder", "colspan"];
    !binds && !words.contains(&word) && !html.contains(&word)
}

/// Returns what a binding of Knockout names, such as `foreach: data.rows`.
fn knockout<'v>(value: &'v str, words: &[&str]) -> Option<&'v str> {
    let (word, path) = value.split_once(':')?;
    words.contains(&word.trim()).then(|| path.split(',').next().unwrap_or_default().trim())
}

/// Returns the attributes of other languages in a template: name and place.
pub(in crate::repair::template) fn foreign_attributes(
    outline: &Outline<'_>,
) -> Vec<(String, usize)> {
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
                } else if self.grammar == Grammar::V2 && is_condition(&attribute.name) {
                    self.own_condition(element, attribute, &value);
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
}
