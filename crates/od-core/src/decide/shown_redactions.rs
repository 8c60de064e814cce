//! Redactions of a source's output that would reach the page.
//!
//! A page never shows `[redacted]`, or nothing, in the place of a value and calls that a success. There
//! is one exception: a text that looks like a credential in a row of a repeated list. Whoever writes
//! the rows of a list (the titles of a project's issues) does not own the page, and could fail its
//! refreshes for good by one such title; the row is shown with the mark, and answer, record and
//! provenance say so. What is taken out because of its *key* is the author's to mend, in rows too: no
//! outsider chooses the keys of a source.

use crate::artifact::Transform;
use crate::credential::{REDACTED, RedactedPlace, RedactionAction, RedactionReason, Redactions};
use crate::error::{ErrorCode, Issue};
use crate::json::Value;
use crate::limits;
use crate::ownership::{Place, position, same_step, steps};
use crate::template::{Binding, Template};

/// The way of an output into the data.
pub(super) struct Mapping<'a> {
    pub(super) output: &'a Value,
    pub(super) written: &'a [(Place, String)],
    pub(super) transform: Transform,
    /// The data after it.
    pub(super) data: &'a Value,
}

/// Returns an issue for every binding of the page that shows what protection took out.
pub(super) fn shown_redactions(
    template: &Template,
    redactions: &Redactions,
    mapping: &Mapping<'_>,
) -> Vec<Issue> {
    let mut issues: Vec<Issue> = Vec::new();
    for binding in template.bindings() {
        let bound = steps(binding);
        let taken = redactions.places.iter().find(|place| mapping.shows(&bound, place));
        if let Some(place) = taken
            && limits::JSON_FAULTS.allows(issues.len() + 1)
        {
            issues.push(issue(binding, place, mapping.output));
        }
    }
    issues
}

/// Returns an issue for every binding that shows a text of a query's result that was redacted; rows of
/// lists are shown with the mark, as those of a mapping are.
pub(super) fn shown_results(template: &Template, queried: &[Place], data: &Value) -> Vec<Issue> {
    let mut issues = Vec::new();
    for binding in template.bindings() {
        let bound = steps(binding);
        if bound.contains(&"*") {
            continue;
        }
        let place = bound.iter().fold(Place::root(), |place, step| place.key(step));
        let is_result = queried.iter().any(|to| place.is_within(to));
        let text = place.find(data).and_then(Value::as_str);
        if is_result && text.is_some_and(|text| text.contains(REDACTED)) {
            let path = &binding.full_path;
            let message = format!("the page shows `{path}`, and a query gave it a redacted text");
            issues.push(
                Issue::new(position(binding), ErrorCode::RedactionRequired.as_str(), message)
                    .got(&**path)
                    .want("a value that may be stored wherever the page shows one")
                    .fix("select another column in the query, or take the binding off the page"),
            );
        }
    }
    issues.truncate(limits::JSON_FAULTS.max());
    issues
}

impl Mapping<'_> {
    /// Returns whether a binding would show that this place of the output was taken out.
    fn shows(&self, bound: &[&str], place: &RedactedPlace) -> bool {
        let taken: Vec<&str> = place.path.split('/').skip(1).collect();
        let reaches = self.written.iter().any(|(to, from)| self.reaches(bound, &taken, to, from));
        let is_row = bound.contains(&"*");
        match (place.action, place.reason) {
            _ if !reaches => false,
            (RedactionAction::LeftOut, _) => true,
            (RedactionAction::Replaced, RedactionReason::CredentialName) if is_row => true,
            (RedactionAction::Replaced, _) if is_row => false,
            // Of several items that stand for one place, another may be the one.
            (RedactionAction::Replaced, _) => {
                let place = bound.iter().fold(Place::root(), |place, step| place.key(step));
                let text = place.find(self.data).and_then(Value::as_str);
                text.is_some_and(|text| text.contains(REDACTED))
            }
        }
    }

    fn reaches(&self, bound: &[&str], taken: &[&str], to: &Place, from: &str) -> bool {
        let from: Vec<&str> = from.split('.').filter(|step| *step != "$").collect();
        if !from.iter().zip(taken).all(|(from, taken)| same_step(from, taken)) {
            return false;
        }
        let rest = taken.get(from.len()..).unwrap_or_default();
        let to: Vec<String> = to.steps().collect();
        match self.transform {
            Transform::Identity => {
                let target = to.iter().map(String::as_str).chain(rest.iter().copied());
                bound.len() == to.len() + rest.len()
                    && bound.iter().zip(target).all(|(bound, target)| same_step(bound, target))
            }
            Transform::CompactTable => is_below(bound, &to) && bound.last() == rest.last(),
            Transform::MetricSummary => is_below(bound, &to) && bound.last() == Some(&"value"),
        }
    }
}

fn is_below(bound: &[&str], to: &[String]) -> bool {
    bound.len() >= to.len() && bound.iter().zip(to).all(|(bound, to)| same_step(bound, to))
}

fn issue(binding: &Binding, place: &RedactedPlace, output: &Value) -> Issue {
    let why = match place.reason {
        RedactionReason::NeverStored => "its key is never stored",
        RedactionReason::CredentialName => "its key is the name of a credential",
        RedactionReason::CredentialValue => "it looks like a credential",
        RedactionReason::HeldSecret => "it holds a secret that od keeps",
    };
    let path = &binding.full_path;
    let message = format!("the page shows `{path}`, and `{}` is not stored: {why}", place.path);
    Issue::new(position(binding), ErrorCode::RedactionRequired.as_str(), message)
        .got(&*place.path)
        .want("a value that may be stored wherever the page shows one")
        .fix(avoiding(place, output))
}

/// Names the mapping that avoids the place: one of a value beside it that is stored.
fn avoiding(place: &RedactedPlace, output: &Value) -> String {
    let taken: Vec<&str> = place.path.split('/').skip(1).collect();
    let (name, above) = taken.split_last().unwrap_or((&"", &[]));
    let mut from: Vec<String> = Vec::new();
    let mut here = Some(output);
    for step in above {
        here = match (here, *step) {
            (Some(Value::Array(items)), "*") => {
                from.push("0".to_owned());
                items.first()
            }
            (Some(Value::Object(map)), step) => {
                from.push(step.to_owned());
                map.get(step)
            }
            (Some(_) | None, _) => None,
        };
    }
    let is_usable = |value: &Value| match value {
        Value::String(text) => !text.contains(REDACTED),
        Value::Number(_) | Value::Bool(_) => true,
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    };
    let beside = here
        .and_then(Value::as_object)
        .and_then(|map| map.iter().find(|(key, value)| key.as_str() != *name && is_usable(value)));
    match beside {
        Some((key, _)) if above.contains(&"*") => format!(
            "bind another key of the row, such as `{key}`, or map a path that leaves `{name}` out"
        ),
        Some((key, _)) => {
            from.push(key.clone());
            let from = from.join(".");
            format!(
                "map {{ \"from\": \"{from}\", \"to\": \"{key}\" }} and bind {{{{data.{key}}}}} instead"
            )
        }
        None => format!(
            "take the binding off the page, or choose a source that gives it under another name than `{name}`"
        ),
    }
}
