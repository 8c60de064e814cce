//! The rows that a template repeats: which stretch of it a row's name stands in, and the list that it is of.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Translator;
use super::attributes;
use super::expression::{self, Expression};
use super::marks::{Loop, Mark, MarkKind, read_loop};
use crate::json::Value;
use crate::repair::template::lists::{self, follow};
use crate::repair::template::outline::Element;

/// A stretch of the template in which a name stands for a row.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) range: Range<usize>,
    pub(super) alias: String,
    /// The name that the author gave, if it is another.
    pub(super) written: Option<String>,
    pub(super) index: Option<String>,
    /// The list as a path of ours.
    pub(super) list: String,
}

impl Translator<'_, '_> {
    /// Opens a scope for every repeat that is there already, in ours or another language.
    pub(super) fn loops(&mut self) {
        for block in self.paired() {
            let range = self.marks[block.open].span.end..self.marks[block.close].span.start;
            let head = match &self.marks[block.open].kind {
                MarkKind::For(head) => head.clone(),
                MarkKind::Section(name, false) if self.is_list(name) => {
                    Loop { list: name.clone(), ..Loop::default() }
                }
                MarkKind::Section(..)
                | MarkKind::If(..)
                | MarkKind::Else(_)
                | MarkKind::Close
                | MarkKind::Output(..)
                | MarkKind::Other => continue,
            };
            // The element inside says all of it: only the marks go, and its row keeps its name.
            if self.is_repeated_inside(&head, &range) {
                continue;
            }
            let scope = self.scope(&head, range);
            self.scopes.push(scope);
        }
        self.scopes.sort_by_key(|scope| scope.range.start);
    }

    /// Returns whether an element inside a loop repeats the loop's own list.
    pub(super) fn is_repeated_inside(&self, head: &Loop, range: &Range<usize>) -> bool {
        let plain = |list: &str| -> Vec<String> {
            let steps = expression::read(list).steps;
            steps.into_iter().skip_while(|step| step == "data").collect()
        };
        let list = plain(&head.list);
        let inside = |it: &&Element<'_>| range.start <= it.span.start && it.span.end <= range.end;
        let elements = self.outline.elements.iter().filter(inside);
        !list.is_empty()
            && elements.flat_map(|element| &element.tag.attributes).any(|attribute| {
                let value = &self.outline.source[attribute.value.clone()];
                let repeats = attribute.name == "data-od-repeat"
                    || attributes::is_loop(&attribute.name, value, self.grammar);
                repeats && plain(&read_loop(value).list) == list
            })
    }

    pub(super) fn is_list(&self, name: &str) -> bool {
        let steps = expression::read(name).steps;
        let steps: Vec<&str> =
            steps.iter().map(String::as_str).skip_while(|it| *it == "data").collect();
        follow(self.data, &steps).is_some_and(Value::is_array)
            || self.lists.iter().any(|list| {
                list.rows.iter().any(|row| follow(row, &steps).is_some_and(Value::is_array))
            })
    }

    /// Makes the scope of a loop: its alias and its list in our words.
    pub(super) fn scope(&self, head: &Loop, range: Range<usize>) -> Scope {
        let shown = self.shown_in(&range);
        let alias = head.alias.clone().filter(|alias| alias != "data").or_else(|| {
            // Without a name of its own, the name that the bindings inside begin with.
            let roots = shown.iter().filter(|it| !it.of_row && it.steps.len() > 1);
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            roots.for_each(|it| *counts.entry(&it.steps[0]).or_default() += 1);
            let outer = self.scopes.iter().any(|scope| {
                scope.range.contains(&range.start) && counts.contains_key(scope.alias.as_str())
            });
            let known = |name: &str| name == "data" || self.data.get(name).is_some();
            let best = counts.into_iter().filter(|(name, _)| !known(name)).max_by_key(|(_, n)| *n);
            best.filter(|_| !outer).map(|(name, _)| name.to_owned())
        });
        // A row inside a row needs a name of its own.
        let taken = |name: &str| {
            self.scopes.iter().any(|it| it.range.contains(&range.start) && it.alias == name)
        };
        let written = alias.clone().filter(|alias| !is_alias(alias) || taken(alias));
        // `data in data.rows`: inside it `data` is the row.
        let written = written.or_else(|| head.alias.clone().filter(|alias| alias == "data"));
        let alias = alias.filter(|alias| is_alias(alias) && !taken(alias)).unwrap_or_else(|| {
            let free = ["item", "entry", "part"].into_iter().find(|name| !taken(name));
            free.unwrap_or("item").to_owned()
        });
        let list = self.list_of(&head.list, Some(&alias), &shown, range.start);
        Scope { range, alias, written, index: head.index.clone(), list }
    }

    /// Returns the expressions that are shown in a range.
    fn shown_in(&self, range: &Range<usize>) -> Vec<Expression> {
        let inside = self
            .marks
            .iter()
            .filter(|mark| range.start <= mark.span.start && mark.span.end <= range.end);
        inside.filter_map(Mark::shown).map(expression::read).collect()
    }

    /// Finds the path of the list that a loop means.
    fn list_of(&self, text: &str, alias: Option<&str>, shown: &[Expression], at: usize) -> String {
        let Expression { steps, of_row, .. } = expression::read(text);
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let outer = self.scopes.iter().rev().find(|scope| scope.range.contains(&at));
        if let Some(scope) = outer
            && (of_row || steps.first() == Some(&scope.alias.as_str()))
        {
            let rest = if of_row { &steps[..] } else { &steps[1..] };
            return [&[scope.alias.as_str()], rest].concat().join(".");
        }
        let from_data = if steps.first() == Some(&"data") { &steps[1..] } else { &steps[..] };
        if follow(self.data, from_data).is_some_and(Value::is_array) {
            return format!("data.{}", from_data.join("."));
        }
        if let Some(scope) = outer
            && let Some(list) = self.lists.iter().find(|list| list.path == scope.list)
            && list.has(from_data)
        {
            return format!("{}.{}", scope.alias, from_data.join("."));
        }
        let fields: Vec<Vec<&str>> = shown
            .iter()
            .filter(|it| it.of_row || it.steps.first().map(String::as_str) == alias)
            .map(|it| it.steps.iter().skip(usize::from(!it.of_row)).map(String::as_str).collect())
            .filter(|steps: &Vec<&str>| !steps.is_empty())
            .collect();
        let name = from_data.last().copied();
        match lists::meant(&self.lists, name, alias, &fields) {
            Some(list) => list.path.clone(),
            None if from_data.is_empty() => "data.items".to_owned(),
            None => format!("data.{}", from_data.join(".")),
        }
    }

    /// Returns the row scope around a place, if there is one.
    pub(super) fn scope_at(&self, at: usize) -> Option<&Scope> {
        let around = self.scopes.iter().filter(|scope| scope.range.contains(&at));
        around.max_by_key(|scope| scope.range.start)
    }
}

/// Returns whether a name may stand for a row.
pub(super) fn is_alias(name: &str) -> bool {
    name != "data"
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
