//! Conditions in our own attributes that ask for what they cannot: two things at once, or the length of
//! a list.

use std::ops::Range;

use super::Translator;
use super::expression;
use super::row_scopes::Scope;
use crate::json::Value;
use crate::repair::template::lists::follow;
use crate::template::scan::Attribute;

/// A longer element is not written twice.
const COPY_BYTES_MAX: usize = 2_000;

/// The words that other languages end a path with to count its rows.
const LENGTHS: [&str; 5] = [".length", ".size", ".count", "|length", " | length"];

/// Elements that only their own parents may hold, or that hold nothing but their own parts.
const FIXED: &[&str] = &[
    "tr", "td", "th", "tbody", "thead", "tfoot", "caption", "col", "colgroup", "li", "option",
    "optgroup", "dt", "dd", "summary", "legend", "source", "track", "html", "head", "body",
    "title", "meta", "link", "style",
];

/// Elements that stand in a line of text.
const INLINE: &[&str] = &[
    "span", "b", "a", "em", "strong", "i", "code", "small", "img", "time", "mark", "abbr", "sup",
    "sub", "u", "s", "q", "data",
];

/// Returns whether an attribute of ours holds a condition.
pub(super) fn is_condition(name: &str) -> bool {
    matches!(name, "data-od-if" | "data-od-else-if")
}

/// A condition that is several.
enum Joined<'t> {
    All(Vec<&'t str>),
    Any(Vec<&'t str>),
}

/// Splits a condition at its `&&` or `||`; one in brackets is left to whoever reads it.
fn joined(text: &str) -> Option<Joined<'_>> {
    if text.contains('(') {
        return None;
    }
    let any = parts(text, &["||", " or "]);
    if any.len() > 1 {
        return Some(Joined::Any(any));
    }
    let all = parts(text, &["&&", " and "]);
    (all.len() > 1).then_some(Joined::All(all))
}

/// Splits the first of joined conditions from the rest, which no one attribute can ask.
pub(super) fn joined_to(text: &str) -> Option<(&str, &str)> {
    let (Joined::All(parts) | Joined::Any(parts)) = joined(text)?;
    let first = *parts.first()?;
    let rest = text[text.find(first)? + first.len()..].trim();
    let rest = rest.trim_start_matches(['&', '|', ' ']);
    Some((first, rest.strip_prefix("and ").or_else(|| rest.strip_prefix("or ")).unwrap_or(rest)))
}

/// Splits a text at signs outside quotes.
fn parts<'t>(text: &'t str, signs: &[&str]) -> Vec<&'t str> {
    let mut found = Vec::new();
    let (mut from, mut quote) = (0, None);
    let mut at = 0;
    while let Some(mark) = text[at..].chars().next() {
        let sign = signs.iter().find(|sign| quote.is_none() && text[at..].starts_with(**sign));
        if let Some(sign) = sign {
            found.push(text[from..at].trim());
            at += sign.len();
            from = at;
            continue;
        }
        match quote {
            Some(open) if open == mark => quote = None,
            None if matches!(mark, '\'' | '"') => quote = Some(mark),
            Some(_) | None => {}
        }
        at += mark.len_utf8();
    }
    found.push(text[from..].trim());
    found.retain(|part| !part.is_empty());
    found
}

/// Returns the list that a condition counts the rows of, without the word for it.
pub(super) fn counted(subject: &str) -> Option<&str> {
    LENGTHS.iter().find_map(|end| subject.strip_suffix(end))
}

/// Returns whether a comparison with a length holds exactly where there are rows (`true`), or
/// exactly where there are none.
pub(super) fn asks_for_rows(sign: &str, literal: &str) -> Option<bool> {
    match (sign, literal) {
        (">" | "!=" | "!==", "0") | (">=", "1") => Some(true),
        ("==" | "===" | "<=", "0") | ("<", "1") => Some(false),
        _ => None,
    }
}

impl Translator<'_, '_> {
    /// Rewrites a condition of ours that is joined, or that asks for the length of a list.
    pub(super) fn own_condition(&mut self, element: usize, attribute: &Attribute<'_>, value: &str) {
        let text = decoded(value);
        let name = attribute.name.to_string();
        let span = attribute.span.clone();
        let at = span.start;
        match joined(&text) {
            None => {
                if let Some(test) = self.of_length(&text, at) {
                    self.edit(span, format!("{name}=\"{}\"", encoded(&test)));
                }
            }
            Some(Joined::Any(parts)) => self.any(element, &name, &span, &parts),
            Some(Joined::All(parts)) => {
                let tests: Vec<String> = parts
                    .iter()
                    .map(|part| self.of_length(part, at).unwrap_or_else(|| (*part).to_owned()))
                    .collect();
                self.all(element, &name, &span, &tests);
            }
        }
    }

    /// Writes conditions that all have to hold on elements around the one that has them.
    fn all(&mut self, element: usize, name: &str, span: &Range<usize>, tests: &[String]) {
        let [outer @ .., last] = tests else { return };
        let tied = name != "data-od-if" || self.is_followed_by_else(element);
        let tag = self.outline.name(element).to_owned();
        let whole = self.outline.elements[element].span.clone();
        if tied || FIXED.contains(&&*tag) || !self.is_closed(element) {
            let [first, rest @ ..] = tests else { return };
            self.edit(span.clone(), format!("{name}=\"{}\"", encoded(first)));
            for test in rest {
                let note = format!(
                    "`{test}` is left out: put data-od-if=\"{}\" on an element inside",
                    encoded(test)
                );
                self.note(span.start, note);
            }
            return;
        }
        let wrapper = if INLINE.contains(&&*tag) { "span" } else { "div" };
        let open: String = outer
            .iter()
            .map(|test| format!("<{wrapper} data-od-if=\"{}\">", encoded(test)))
            .collect();
        self.edit(whole.start..whole.start, open);
        self.edit(span.clone(), format!("{name}=\"{}\"", encoded(last)));
        self.edit(whole.end..whole.end, format!("</{wrapper}>").repeat(outer.len()));
    }

    /// Writes an element again for each condition that alone is enough.
    fn any(&mut self, element: usize, name: &str, span: &Range<usize>, parts: &[&str]) {
        let [first, rest @ ..] = parts else { return };
        let whole = self.outline.elements[element].span.clone();
        let source = self.outline.source;
        let text = &source[whole.clone()];
        self.edit(span.clone(), format!("{name}=\"{}\"", encoded(first)));
        let is_once = text.len() > COPY_BYTES_MAX || text.contains(" id=");
        if is_once || !self.is_closed(element) {
            for part in rest {
                let note = format!(
                    "`{part}` is left out: write the element again behind this one, with data-od-else-if=\"{}\"",
                    encoded(part)
                );
                self.note(span.start, note);
            }
            return;
        }
        let copy = |part: &&str| {
            let condition = format!("data-od-else-if=\"{}\"", encoded(part));
            [&source[whole.start..span.start], condition.as_str(), &source[span.end..whole.end]]
                .concat()
        };
        let copies: String = rest.iter().map(copy).collect();
        self.edit(whole.end..whole.end, copies);
    }

    /// Returns the test of the rows themselves for a test of their number, if there is one.
    fn of_length(&self, text: &str, at: usize) -> Option<String> {
        let text = text.trim();
        let (text, is_not) = match text.strip_prefix('!') {
            Some(rest) => (rest.trim_start(), true),
            None => (text, false),
        };
        let signs = [">=", "<=", "===", "!==", "==", "!=", ">", "<"];
        let sign = signs
            .iter()
            .filter_map(|sign| text.find(sign).map(|found| (found, sign)))
            .min_by_key(|(found, sign)| (*found, std::cmp::Reverse(sign.len())));
        let (subject, has_rows) = match sign {
            None => (text, true),
            Some((found, sign)) => {
                let literal = text[found + sign.len()..].trim();
                (text[..found].trim_end(), asks_for_rows(sign, literal)?)
            }
        };
        let list = counted(subject)?;
        self.is_list_of_rows(list, at).then(|| {
            let not = if has_rows == is_not { "!" } else { "" };
            format!("{not}{list}")
        })
    }

    /// Returns whether an expression names a value of the data or of the rows of a list.
    pub(super) fn has_value(&self, text: &str) -> bool {
        let steps = expression::read(text).steps;
        let steps: Vec<&str> =
            steps.iter().map(String::as_str).skip_while(|step| *step == "data").collect();
        let of_row = steps.get(1..).unwrap_or_default();
        follow(self.data, &steps).is_some()
            || !of_row.is_empty() && self.lists.iter().any(|list| list.has(of_row))
    }

    /// Returns whether a path of ours leads to a list, in the data or in the rows around a place.
    fn is_list_of_rows(&self, path: &str, at: usize) -> bool {
        let mut steps = path.split('.');
        let root = steps.next().unwrap_or_default();
        let steps: Vec<&str> = steps.collect();
        let is_list = |value: &Value| follow(value, &steps).is_some_and(Value::is_array);
        if root == "data" {
            return is_list(self.data);
        }
        let named = |scope: &&Scope| scope.range.contains(&at) && scope.alias == root;
        let list = self.scopes.iter().rev().find(named).map(|scope| &scope.list);
        let rows = self.lists.iter().filter(|it| Some(&it.path) == list);
        rows.flat_map(|list| list.rows).any(is_list)
    }

    fn is_followed_by_else(&self, element: usize) -> bool {
        let it = &self.outline.elements[element];
        let next = self
            .outline
            .elements
            .iter()
            .filter(|other| other.parent == it.parent && other.span.start >= it.span.end)
            .min_by_key(|other| other.span.start);
        next.is_some_and(|next| {
            let names = ["data-od-else", "data-od-else-if"];
            next.tag.attributes.iter().any(|attribute| names.contains(&&*attribute.name))
        })
    }

    /// Returns whether an element ends where its text says: with its end tag, or with its one tag.
    fn is_closed(&self, element: usize) -> bool {
        let it = &self.outline.elements[element];
        let text = &self.outline.source[it.span.clone()];
        it.span == it.tag.span || text.ends_with('>') && it.inner.end < it.span.end
    }
}

fn decoded(value: &str) -> String {
    let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    marks.iter().fold(value.to_owned(), |text, (reference, mark)| text.replace(reference, mark))
}

fn encoded(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "'")
}
