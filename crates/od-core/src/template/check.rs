//! Comparison of a template with data: values that do not fit, paths that lead nowhere, numbers that stand hard-coded.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Template;
use super::expression::binding;
use super::expression::path::Root;
use super::program::{Binding, Place};
use super::render::audit::{self, Audit, Sighting, is_date, is_live, keys_beside};
use super::render::error::RenderError;
use super::render::output::Digits;
use super::tokenize::position::LineCursor;
use super::warning::{WarningCode, WarningDrafts, Warnings};
use crate::format::Context;

/// Counts of the numbers and dates on the page, by origin.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Coverage {
    /// Bindings that show a number or a date; a chart's values count once a series.
    pub bound: usize,
    /// Literal numbers and dates that the data also has.
    pub hard_coded: usize,
    /// Literal numbers that look like data, whether the data has them or not.
    pub typed: usize,
}

/// A number in the markup that looks like data, and that no refresh can change.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TypedNumber {
    /// The number as it stands there.
    pub text: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
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
        self.check_with(data, &Context::default())
    }

    /// Compares the template with data that it may be rendered with in a locale and a zone.
    #[must_use]
    pub fn check_with(&self, data: &Value, context: &Context) -> DataCheck {
        let Audit { errors, sightings, .. } = audit::audit(&self.program, data, context);
        let mut drafts = WarningDrafts::default();
        let mut coverage = Coverage::default();
        for (binding, mut sighting) in self.program.bindings.iter().zip(sightings) {
            // A row that has it where the condition around holds shows that both go together.
            if sighting.gap && sighting.missing == sighting.seen {
                self.warn_of_gap(binding, &mut drafts);
                continue;
            }
            if binding.place == Place::Repeat {
                continue;
            }
            // The data is the same in every row, and there when a list is empty.
            if binding.path.root == Root::Data && !binding.guarded {
                sighting = sight_once(binding, data);
            }
            coverage.bound += usize::from(sighting.live && binding.place != Place::Condition);
            self.warn_of_missing(binding, &sighting, &mut drafts);
        }
        self.find_hard_coded(data, &mut drafts, &mut coverage);
        coverage.typed = self.typed_numbers().len();
        DataCheck { errors, warnings: drafts.finish(&self.source), coverage }
    }

    fn warn_of_missing(&self, binding: &Binding, sighting: &Sighting, drafts: &mut WarningDrafts) {
        let Sighting { seen, missing, .. } = *sighting;
        // A condition asks whether the value is there, and `or` says what else to show; nowhere at
        // all is probably a slip.
        if missing == 0 || (binding.optional && missing < seen) {
            return;
        }
        let span = binding.offset..binding.offset + binding.length;
        let path = &binding.full_path;
        let rows = match binding.path.root {
            Root::Row(_) if seen > 1 => format!(" in {missing} of {seen} rows"),
            Root::Row(_) | Root::Data => String::new(),
        };
        let there = sighting.beside.as_deref().unwrap_or_default();
        let outcome = match (&binding.place, binding.optional) {
            (Place::Condition, _) => "the condition takes it for null",
            (_, true) => "the text of `or` stands in its place",
            (_, false) => "it comes out empty",
        };
        let message = format!("`{path}` leads nowhere{rows}; {outcome}{there}");
        drafts.add(WarningCode::Unresolved, &self.source, span, message);
    }

    fn warn_of_gap(&self, binding: &Binding, drafts: &mut WarningDrafts) {
        let span = binding.offset..binding.offset + binding.length;
        let path = &binding.full_path;
        let (need, way) = if binding.place == Place::Repeat {
            ("repeat has no list", "put data-od-else behind the repeat")
        } else {
            ("condition has no order", "test it for a value first, on an element around it")
        };
        let message = format!(
            "`{path}` is null or not there: once the condition around it holds, this {need} and the page fails; {way}"
        );
        drafts.add(WarningCode::Unresolved, &self.source, span, message);
    }

    /// Returns the numbers in the markup that look like data, by position, at most fifty: amounts,
    /// shares, decimals and grouped numbers, and numbers that are all that an element says.
    #[must_use]
    pub fn typed_numbers(&self) -> Vec<TypedNumber> {
        let mut lines = LineCursor::new(&self.source);
        let mut found = Vec::new();
        for text in &self.program.texts {
            let mut from = text.start;
            while found.len() < crate::limits::TEMPLATE_WARNINGS.max() {
                let open = binding::next_open(&self.source, from..text.end).unwrap_or(text.end);
                let literal = &self.source[from..open];
                let is_alone = from == text.start && open == text.end;
                for (at, word) in figures(literal)
                    .filter(|(at, word)| looks_like_data(literal, *at, word, is_alone))
                {
                    let (line, column) = lines.at(from + at);
                    found.push(TypedNumber { text: word.to_owned(), line, column });
                }
                let Some(braces) = binding::braces(&self.source, open, open..text.end) else {
                    break;
                };
                from = braces.end;
            }
        }
        found
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

/// Looks at a value outside every row.
fn sight_once(binding: &Binding, data: &Value) -> Sighting {
    let value = binding.path.resolve(data, &[]);
    Sighting {
        seen: 1,
        missing: usize::from(value.is_none()),
        live: value.is_some_and(is_live),
        gap: false,
        beside: value.is_none().then(|| keys_beside(binding, data, &[])).flatten(),
    }
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

/// Tells `1,234`, `99.5`, `42 %`, `$12` and a lone `42` from years, dates, versions and `24/7`.
fn looks_like_data(text: &str, at: usize, word: &str, is_alone: bool) -> bool {
    let behind = text[at + word.len()..].trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    let before = text[..at].trim_end_matches([' ', '\u{a0}', '+', '-', '−']);
    let has_unit = behind.starts_with('%')
        || before.ends_with(['€', '$', '£', '¥'])
        || behind.starts_with('€');
    let points = word.matches('.').count();
    let groups: Vec<&str> = word.split(',').collect();
    let is_grouped = groups.len() > 1
        && groups[1..]
            .iter()
            .all(|group| group.split('.').next().is_some_and(|digits| digits.len() == 3));
    let is_decimal = points == 1 && !word.contains('-') && !before.ends_with(['v', 'V']);
    let is_year = word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
    let is_whole = is_alone && text.trim() == word && !is_year;
    !is_date(word) && !word.contains('-') && (has_unit || is_grouped || is_decimal || is_whole)
}

fn plain_figure(word: &str) -> String {
    if is_date(word) { word[..10].to_owned() } else { word.replace(',', "") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::template::Grammar;

    fn check(html: &str, data: &Value) -> DataCheck {
        Template::compile(html).unwrap().0.check(data)
    }

    #[test]
    fn hard_coded_figures_are_found_and_live_ones_counted() {
        let data = json!({ "total": 1234, "rate": 99.5, "day": "2026-04-30T00:00:00.000Z", "small": 3, "rows": [{ "n": 77 }] });
        let html = "<p>{{data.total}} of 1,234, 99.5%, 2026-04-30, 3 and 77, h77 {{data.day}}";
        let found = check(html, &data);
        assert_eq!(found.coverage, Coverage { bound: 2, hard_coded: 4, typed: 2 });
        let words: Vec<&str> = found.warnings.iter().map(|warning| &*warning.found).collect();
        assert_eq!(words, ["1,234", "99.5", "2026-04-30", "77"]);
    }

    #[test]
    fn numbers_that_look_like_data_are_told_from_years_versions_and_words() {
        let html = "<h1>Report 2026</h1><b>42</b><p>Up 12% to $90, 1,234 of 98.5; last 30 days, v1.2, 2026-11-18, 24/7, 10.11.12</p><b>2026</b><i>{{data.n}} 77</i>";
        let found = Template::compile(html).unwrap().0.typed_numbers();
        let texts: Vec<&str> = found.iter().map(|number| &*number.text).collect();
        assert_eq!(texts, ["42", "12", "90", "1,234", "98.5"]);
        assert_eq!((found[0].line, found[0].column), (1, 24));
    }

    #[test]
    fn the_series_of_a_chart_are_bound_numbers() {
        let html = "<h1>x</h1><div data-od-chart='line' data-od-repeat='d in data.days' data-od-x='d.t' data-od-y='d.a d.b'></div>";
        let data =
            json!({ "days": [{ "t": "x", "a": 1, "b": null }, { "t": "y", "a": 2, "b": 3 }] });
        let found = Template::compile_as(html, Grammar::V2).unwrap().0.check(&data);
        assert_eq!(found.coverage, Coverage { bound: 2, hard_coded: 0, typed: 0 });
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

    fn check_v2(html: &str, data: &Value) -> (Vec<String>, Vec<String>) {
        let html = format!("<h1>x</h1>{html}");
        let found = Template::compile_as(&html, Grammar::V2).unwrap().0.check(data);
        let errors = found.errors.iter().map(ToString::to_string).collect();
        (errors, found.warnings.into_iter().map(|warning| warning.message).collect())
    }

    #[test]
    fn a_branch_that_is_not_taken_is_checked_for_types_and_not_for_gaps() {
        let data = json!({ "flag": false, "o": {}, "alerts": [], "load": null, "s": "x" });
        let html = "<p data-od-if='data.flag'>{{data.o}} {{data.gone}}</p><p data-od-else>ok</p>\
            <p data-od-if='data.alerts'>{{data.alerts.0.text}}</p>\
            <div data-od-if='data.load'><i data-od-if='data.load > 1'>x</i><i data-od-if='data.s > 1'>x</i></div>\
            <ul data-od-if='data.load'><li data-od-repeat='r in data.load'>x</li></ul>";
        let (errors, warnings) = check_v2(html, &data);
        assert_eq!(
            errors,
            [
                "`data.o` is an object, bound as a value at 1:37",
                "`data.s` is string: the condition at 1:219 compares two numbers or two texts",
            ]
        );
        assert_eq!(warnings, [""; 0]);
    }

    #[test]
    fn an_order_or_a_repeat_of_nothing_is_told_of_behind_another_condition() {
        let data = json!({ "flag": false, "alert": null, "alerts": [], "load": null, "rows": [
            { "open": true, "n": 4 }, { "open": false }
        ] });
        let html = "<p data-od-if='data.flag'><b data-od-if='data.alert.level > 3'>x</b><i data-od-repeat='r in data.gone'>x</i></p>";
        let (errors, warnings) = check_v2(html, &data);
        assert_eq!((errors.len(), warnings.len()), (0, 2), "{warnings:?}");
        assert!(warnings[1].contains("repeat has no list"), "{warnings:?}");
        assert!(warnings[0].starts_with("`data.alert.level` is null or not there"), "{warnings:?}");
        for guarded in [
            "<p data-od-if='data.alert'><b data-od-if='data.alert.level > 3'>x</b></p>",
            "<p data-od-if='data.flag'><i data-od-if='data.alert'><b data-od-if='data.alert.level > 3'>x</b></i></p>",
            "<p data-od-if='!data.load'>x</p><p data-od-else-if='data.load > 3'>y</p>",
            "<p data-od-if='data.load'><b data-od-repeat='r in data.load'>x</b></p>",
            "<p data-od-if='data.flag'><b data-od-repeat='r in data.load'>x</b><b data-od-else>y</b></p>",
            "<p data-od-if='data.alerts'><b data-od-if='data.alerts.0.level > 3'>x</b></p>",
            "<p data-od-repeat='r in data.rows'><b data-od-if='r.open'><i data-od-if='r.n > 3'>x</i></b></p>",
        ] {
            assert_eq!(check_v2(guarded, &data), (vec![], vec![]), "{guarded}");
        }
        // What was remarked on does fail then, with the place.
        let flipped = json!({ "flag": true, "alert": null });
        assert_eq!(check_v2(html, &flipped).0.len(), 2);
    }

    #[test]
    fn what_is_not_taken_counts_neither_as_rows_nor_as_size() {
        let rows = vec![json!("x".repeat(15_000)); 400];
        let data = json!({ "flag": true, "rows": rows });
        let list = "<p data-od-repeat='r in data.rows'>{{r}}</p>";
        let html =
            format!("<div data-od-if='data.flag'>{list}</div><div data-od-else>{list}</div>");
        assert_eq!(check_v2(&html, &data), (vec![], vec![]));
        let too_large = format!("<div data-od-if='data.flag'>{list}{list}</div>");
        assert!(check_v2(&too_large, &data).0[0].starts_with("the page is larger than"));
    }

    #[test]
    fn a_condition_on_a_path_that_leads_nowhere_is_remarked_on_unless_some_row_has_it() {
        let data = json!({ "rows": [{ "a": 1 }, {}], "alert": null });
        let html = "<b data-od-if='data.alrt'>x</b><b data-od-if='data.alert'>x</b>\
            <i data-od-repeat='r in data.rows'><b data-od-if='r.a'>x</b><b data-od-else-if='r.b'>y</b></i>";
        let (errors, warnings) = check_v2(html, &data);
        assert_eq!(errors, [""; 0]);
        assert_eq!(
            warnings,
            [
                "`data.alrt` leads nowhere; the condition takes it for null (there is: rows, alert)",
                "`data.rows.*.b` leads nowhere; the condition takes it for null (there is: )",
            ]
        );
    }

    #[test]
    fn a_page_of_too_many_rows_is_refused() {
        let row = json!({ "c": vec![0; 300] });
        let data = json!({ "a": vec![row; 200] });
        let html = "<p data-od-repeat='a in data.a'><i data-od-repeat='c in a.c'>x</i></p>";
        let (errors, _) = check_v2(html, &data);
        assert_eq!(errors, ["the page has more than 50000 rows: it was stopped at 50300"]);
    }
}
