//! Comparison of a template with data: values that do not fit, paths that lead nowhere, numbers that stand hard-coded.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Template;
use super::path::{Root, Segment};
use super::program::{Binding, Place};
use super::render::error::RenderError;
use super::render::output::Digits;
use super::tokenize::binding;
use super::warning::{WarningCode, WarningDrafts, Warnings};

/// Counts of the numbers and dates on the page, by origin.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Coverage {
    /// Bindings that show a number or a date.
    pub bound: usize,
    /// Literal numbers and dates that the data also has.
    pub hard_coded: usize,
}

/// The result of comparing a template with data.
#[derive(Debug, Default)]
pub struct DataCheck {
    /// The errors that rendering would meet; each binding once, at most twenty.
    pub errors: Vec<RenderError>,
    /// Paths that lead nowhere, values that stand hard-coded.
    pub warnings: Warnings,
    /// The share of the page that is live.
    pub coverage: Coverage,
}

impl Template {
    /// Compares the template with data that it may be rendered with.
    #[must_use]
    pub fn check(&self, data: &Value) -> DataCheck {
        let errors = super::render::renderer::collect_errors(&self.program, data);
        let mut drafts = WarningDrafts::default();
        let mut coverage = Coverage::default();
        for binding in &self.program.bindings {
            if binding.place != Place::Repeat {
                self.check_binding(binding, data, &mut drafts, &mut coverage);
            }
        }
        self.find_hard_coded(data, &mut drafts, &mut coverage);
        DataCheck { errors, warnings: drafts.finish(&self.source), coverage }
    }

    fn check_binding(
        &self,
        binding: &Binding,
        data: &Value,
        drafts: &mut WarningDrafts,
        coverage: &mut Coverage,
    ) {
        let items: &[Value] = match (binding.path.root, binding.repeat) {
            (Root::Item, Some(repeat)) => {
                let list = &self.program.bindings[self.program.repeats[repeat].list];
                list.path.resolve(data, None).and_then(Value::as_array).map_or(&[], Vec::as_slice)
            }
            (Root::Data | Root::Item, _) => std::slice::from_ref(data),
        };
        let resolved = items.iter().map(|item| binding.path.resolve(data, Some(item)));
        let missing = resolved.clone().filter(Option::is_none).count();
        let live = resolved
            .flatten()
            .any(|value| value.is_number() || value.as_str().is_some_and(is_date));
        coverage.bound += usize::from(live);
        if missing == 0 {
            return;
        }
        let span = binding.offset..binding.offset + binding.length;
        let path = &binding.full_path;
        let rows = if items.len() > 1 {
            format!(" in {missing} of {} rows", items.len())
        } else {
            String::new()
        };
        let there =
            items.iter().find_map(|item| present_keys(binding, data, item)).unwrap_or_default();
        let message = format!("`{path}` leads nowhere{rows}; it comes out empty{there}");
        drafts.add(WarningCode::Unresolved, &self.source, span, message);
    }

    fn find_hard_coded(&self, data: &Value, drafts: &mut WarningDrafts, coverage: &mut Coverage) {
        let mut known = BTreeSet::new();
        collect_values(data, &mut known);
        if known.is_empty() {
            return;
        }
        for text in &self.program.texts {
            let mut from = text.start;
            loop {
                let open = binding::next_open(&self.source, from..text.end).unwrap_or(text.end);
                for (at, word) in figures(&self.source[from..open]) {
                    if known.contains(&plain_figure(word)) {
                        coverage.hard_coded += 1;
                        let span = from + at..from + at + word.len();
                        let message = format!(
                            "the data also has {word}; a refresh would not change it here, bind it"
                        );
                        drafts.add(WarningCode::HardCoded, &self.source, span, message);
                    }
                }
                let Some(braces) = binding::braces(&self.source, open, open..text.end) else {
                    break;
                };
                from = braces.end;
            }
        }
    }
}

/// Lists the keys where the path stopped leading on.
fn present_keys(binding: &Binding, data: &Value, item: &Value) -> Option<String> {
    let mut value = match binding.path.root {
        Root::Data => data,
        Root::Item => item,
    };
    for segment in &binding.path.segments {
        let next = match (segment, value) {
            (Segment::Key(key), Value::Object(map)) => map.get(&**key),
            (Segment::Index(index), Value::Array(items)) => items.get(*index),
            _ => None,
        };
        match (next, value) {
            (Some(next), _) => value = next,
            (None, Value::Object(map)) => {
                let keys: Vec<&str> = map.keys().take(8).map(String::as_str).collect();
                return Some(format!(" (there is: {})", keys.join(", ")));
            }
            (None, _) => return None,
        }
    }
    None
}

/// Collects numbers of two digits or more, and dates.
fn collect_values(value: &Value, known: &mut BTreeSet<String>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => {
            let text = Digits::new().format(number).to_owned();
            if text.bytes().filter(u8::is_ascii_digit).count() > 1 {
                known.insert(text.trim_start_matches('-').to_owned());
            }
        }
        Value::String(text) if is_date(text) => {
            known.insert(text[..10].to_owned());
        }
        Value::String(text) => {
            if let [(0, word)] = figures(text).collect::<Vec<_>>()[..]
                && word.len() == text.len()
            {
                known.insert(plain_figure(word));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_values(item, known)),
        Value::Object(map) => map.values().for_each(|item| collect_values(item, known)),
    }
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 10
        && text.is_char_boundary(10)
        && bytes[..10].iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Finds the numbers and dates in a text: two digits or more, with separators inside.
fn figures(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |mark: char| mark.is_ascii_digit() || matches!(mark, '.' | ',' | '-');
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let start = from + text[from..].find(|mark: char| mark.is_ascii_digit())?;
            let run = &text[start..];
            let end = start + run.find(|mark| !is_part(mark)).unwrap_or(run.len());
            from = end;
            let word = text[start..end].trim_end_matches(['.', ',', '-']);
            let inside_word = text[..start]
                .ends_with(|mark: char| mark.is_alphanumeric() || mark == '_' || mark == '#')
                || text[end..].starts_with(|mark: char| mark.is_alphabetic() || mark == '_');
            if !inside_word && word.bytes().filter(u8::is_ascii_digit).count() > 1 {
                return Some((start, word));
            }
        }
    })
}

fn plain_figure(word: &str) -> String {
    if is_date(word) { word[..10].to_owned() } else { word.replace(',', "") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(html: &str, data: &Value) -> DataCheck {
        Template::compile(html).unwrap().0.check(data)
    }

    #[test]
    fn hard_coded_figures_are_found_and_live_ones_counted() {
        let data = json!({ "total": 1234, "rate": 99.5, "day": "2026-04-30T00:00:00.000Z", "small": 3, "rows": [{ "n": 77 }] });
        let html = "<p>{{data.total}} of 1,234, 99.5%, 2026-04-30, 3 and 77, h77 {{data.day}}";
        let found = check(html, &data);
        assert_eq!(found.coverage, Coverage { bound: 2, hard_coded: 4 });
        let words: Vec<&str> = found.warnings.iter().map(|warning| &*warning.found).collect();
        assert_eq!(words, ["1,234", "99.5", "2026-04-30", "77"]);
    }

    #[test]
    fn paths_that_lead_nowhere_are_named_with_what_is_there() {
        let data = json!({ "title": "x", "rows": [{ "a": 1 }, {}], "none": null });
        let html = "<p>{{data.titel}}{{data.none}}<ul><li data-od-repeat='r in data.rows'>{{r.a}}</li></ul>";
        let messages: Vec<String> =
            check(html, &data).warnings.into_iter().map(|warning| warning.message).collect();
        assert_eq!(
            messages,
            [
                "`data.titel` leads nowhere; it comes out empty (there is: title, rows, none)",
                "`data.rows.*.a` leads nowhere in 1 of 2 rows; it comes out empty (there is: )",
            ]
        );
    }

    #[test]
    fn every_binding_that_cannot_be_rendered_is_reported_once() {
        let data =
            json!({ "o": {}, "rows": [{ "l": [] }, { "l": [] }], "u": "javascript:1", "c": "a;b" });
        let html = "<p>{{data.o}}<a href='{{data.u}}' style='color:{{data.c}}'>x</a><i data-od-repeat='r in data.rows'>{{r.l}}</i><b data-od-repeat='r in data.none'>{{r}}</b>";
        let errors: Vec<String> =
            check(html, &data).errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            errors,
            [
                "`data.o` is an object, bound as a value at 1:4",
                "the URL `javascript:1` at 1:23 (`data.u`) has a scheme other than http and https",
                "the value `a;b` of `data.c` at 1:48 has the character ';', which may not stand in a style",
                "`data.rows.0.l` is an array, bound as a value at 1:100",
                "`data.none` is missing, but data-od-repeat at 1:135 needs an array",
            ]
        );
    }
}
