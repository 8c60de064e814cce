//! Remarks for the author of a page: what no refresh reaches, and what refreshes bring that nobody sees.

use super::place::Place;
use super::rule::{Owner, Ownership, Writer};
use crate::artifact::{ArtifactState, SourceRef};
use crate::credential::is_credential_key;
use crate::error::Issue;
use crate::json::{Value, is_denied_key};
use crate::limits;
use crate::template::{Binding, Place as BindingPlace, Template, TypedNumber, is_key};

/// Returns the remarks on an artifact that is refreshed, with their places: numbers of the author on
/// the page, mapped values that the page does not show, and shown values that protection takes out of
/// the source's output.
///
/// None of them is a fault: a target may be a fixed number, and a value may be there for later.
#[must_use]
pub fn advice(state: &ArtifactState, template: &Template) -> Vec<Issue> {
    let ownership = Ownership::of_state(state);
    if !state.artifact.has_source() {
        return Vec::new();
    }
    let mut remarks = Vec::new();
    // Of a source that maps its whole output and never ran nobody knows what it will write.
    let is_known = ownership.places().next().is_some();
    if is_known {
        remarks.extend(author_numbers(state.data.value(), &ownership, template));
    }
    remarks.extend(typed_numbers(template));
    remarks.extend(unbound_targets(state, template));
    remarks.extend(redacted_targets(state, template));
    remarks.extend(unread_sources(state));
    remarks.truncate(limits::JSON_FAULTS.max());
    remarks
}

/// The code of a remark on what refreshes write and the page shows nowhere.
const TARGET_NOT_BOUND: &str = "target_not_bound";

/// The steps of a binding below `data`; the row of a repeat stands as `*`.
pub(crate) fn steps(binding: &Binding) -> Vec<&str> {
    binding.full_path.split('.').skip(1).collect()
}

/// Returns where a binding stands in the template.
pub(crate) fn position(binding: &Binding) -> String {
    format!("template.html:{}:{}", binding.line, binding.column)
}

/// Remarks on numbers in the markup that look like data: no refresh changes them.
fn typed_numbers(template: &Template) -> impl Iterator<Item = Issue> {
    template.typed_numbers().into_iter().map(|TypedNumber { text, line, column }| {
        let message = format!("{text} stands in the markup: no refresh changes it");
        let place = format!("template.html:{line}:{column}");
        let fix = "put it into the data and bind it; leave it if it is meant to stay";
        Issue::new(place, "typed_number", message).got(text).fix(fix)
    })
}

fn author_numbers(data: &Value, ownership: &Ownership<'_>, template: &Template) -> Vec<Issue> {
    let mut seen: Vec<&str> = Vec::new();
    let mut remarks = Vec::new();
    for binding in template.bindings().iter().filter(|binding| is_shown(binding)) {
        let steps = steps(binding);
        let fixed = steps.iter().take_while(|step| **step != "*");
        let place = fixed.fold(Place::root(), |place, step| place.key(step));
        let Some(value) = first_shown(data, &steps) else { continue };
        let is_number = ownership.owner(&place) == Owner::Author && looks_like_a_number(value);
        if !is_number || seen.contains(&&*binding.full_path) {
            continue;
        }
        seen.push(&binding.full_path);
        let path = &binding.full_path;
        let message = format!("`{path}` is a number that the author wrote: no refresh changes it");
        let to = place.dotted();
        let fix = format!(
            "add {{ \"from\": \"…\", \"to\": \"{to}\" }} to outputMapping.dataPaths, with the path of the source's output that has it; leave it if it is meant to stay"
        );
        let issue = Issue::new(position(binding), "fixed_number", message);
        remarks.push(issue.got(value.to_string()).fix(fix));
    }
    remarks
}

pub(super) const fn is_shown(binding: &Binding) -> bool {
    match binding.place {
        BindingPlace::Text
        | BindingPlace::Attribute(_)
        | BindingPlace::Url(_)
        | BindingPlace::Style(_)
        | BindingPlace::Chart => true,
        BindingPlace::Repeat | BindingPlace::Condition => false,
    }
}

/// Returns what a binding shows first: in repeats, the value of the first row.
pub(crate) fn first_shown<'v>(data: &'v Value, steps: &[&str]) -> Option<&'v Value> {
    steps.iter().try_fold(data, |value, step| match value {
        Value::Object(map) => map.get(*step),
        Value::Array(items) if *step == "*" => items.first(),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

/// Tells `42`, `"1,540"`, `"98.5 %"` and `"€ 3.20"` from words, dates and versions.
fn looks_like_a_number(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::String(text) => {
            let text = text.trim_matches(|c: char| c.is_whitespace() || "%€$£¥+-".contains(c));
            let plain: String = text.chars().filter(|c| *c != ',').collect();
            plain.starts_with(|c: char| c.is_ascii_digit()) && plain.parse::<f64>().is_ok()
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

fn unbound_targets(state: &ArtifactState, template: &Template) -> Vec<Issue> {
    let sources = state.artifact.sources();
    let mapped = sources.iter().flat_map(|source| {
        let list = format!("{}/outputMapping/dataPaths", source.pointer());
        source
            .data_paths()
            .iter()
            .enumerate()
            .map(move |(i, it)| (format!("{list}/{i}/to"), &it.to))
    });
    let queries = state.artifact.queries().iter().enumerate();
    let queried = queries.map(|(i, query)| (format!("/queries/{i}/to"), &query.to));
    let bound: Vec<Vec<&str>> = template.bindings().iter().map(steps).collect();
    let mut remarks = Vec::new();
    for (pointer, path) in mapped.chain(queried) {
        let to: Vec<&str> = path.segments().map(|segment| segment.key).collect();
        if bound.iter().any(|bound| overlap(bound, &to)) {
            continue;
        }
        let at = format!("/input/document{pointer}");
        let dotted = to.join(".");
        let message = format!("refreshes write `{dotted}`, and the page shows it nowhere");
        let fix = match Place::from(path).find(state.data.value()) {
            Some(Value::Array(items)) => {
                let (row, note) = row_shown(items);
                format!("<li data-od-repeat=\"row in data.{dotted}\">{row}</li>{note}")
            }
            Some(Value::Object(map)) => match map.keys().next() {
                Some(key) => format!("{{{{data.{dotted}.{key}}}}}"),
                None => format!("bind a key of it, such as {{{{data.{dotted}.…}}}}"),
            },
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => {
                format!("{{{{data.{dotted}}}}}")
            }
        };
        remarks.push(Issue::new(at, TARGET_NOT_BOUND, message).fix(fix));
    }
    remarks
}

/// The most columns of a row that a fix shows.
const COLUMNS_MAX: usize = 6;

/// Returns the bindings that show a row of a list, and what is to know about them.
fn row_shown(items: &[Value]) -> (String, &'static str) {
    let Some(first) = items.first() else {
        return ("{{row.column}}".to_owned(), " (with the columns of its rows)");
    };
    let Some(first) = first.as_object() else { return ("{{row}}".to_owned(), "") };
    let is_shown =
        |(key, value): &(&String, &Value)| is_key(key) && !value.is_object() && !value.is_array();
    let columns = first.iter().filter(is_shown).take(COLUMNS_MAX);
    let bindings: Vec<String> = columns.map(|(key, _)| format!("{{{{row.{key}}}}}")).collect();
    match bindings.is_empty() {
        true => ("{{row.column}}".to_owned(), " (with a column that a path can name)"),
        false => (bindings.join(" "), ""),
    }
}

/// Names the columns in remarks on targets that the page shows nowhere, by the state after a refresh:
/// those of a query are known only once it ran.
pub fn name_columns(remarks: &mut [Issue], after: &ArtifactState) {
    if !remarks.iter().any(|issue| issue.code == TARGET_NOT_BOUND) {
        return;
    }
    let Ok((template, _)) = after.compile_template() else { return };
    let known = unbound_targets(after, &template);
    for remark in remarks.iter_mut().filter(|issue| issue.code == TARGET_NOT_BOUND) {
        if let Some(known) = known.iter().find(|known| known.path == remark.path) {
            remark.fix.clone_from(&known.fix);
        }
    }
}

/// Returns the sources that write nothing and that no query reads: they run for nobody.
fn unread_sources(state: &ArtifactState) -> Vec<Issue> {
    let queries = state.artifact.queries();
    let sources = state.artifact.sources();
    let is_unread = |source: &&SourceRef<'_>| {
        source.is_table && !queries.iter().any(|query| query.sql.mentions(source.id))
    };
    let remark = |source: &SourceRef<'_>| {
        let message = format!("no mapping and no query takes anything from `{}`", source.id);
        let fix = format!(
            "add a query such as SELECT * FROM {}, or `outputMapping.dataPaths`",
            source.id
        );
        let at = format!("/input/document{}", source.pointer());
        Issue::new(at, "source_not_used", message).fix(fix)
    };
    sources.iter().filter(is_unread).map(remark).collect()
}

/// Returns whether one path is the other, or lies inside it; `*` is any item.
pub(crate) fn overlap(bound: &[&str], to: &[&str]) -> bool {
    bound.iter().zip(to).all(|(bound, to)| same_step(bound, to))
}

/// Returns whether two steps may be the same; `*` is any item of a list.
pub(crate) fn same_step(one: &str, other: &str) -> bool {
    one == other || one == "*" || other == "*"
}

/// Returns the bindings and mappings that name what protection takes out of every output.
fn redacted_targets(state: &ArtifactState, template: &Template) -> Vec<Issue> {
    let sources = state.artifact.sources();
    let mut remarks = Vec::new();
    for source in &sources {
        for (i, path) in source.data_paths().iter().enumerate() {
            let Some(fate) = path.from.segments().find_map(|segment| Fate::of(segment.key)) else {
                continue;
            };
            let pointer = source.pointer();
            let at = format!("/input/document{pointer}/outputMapping/dataPaths/{i}/from");
            let message = format!("a refresh {} `{}`: {}", fate.verb(), path.from, fate.reason());
            remarks.push(
                Issue::new(at, "redacted_at_refresh", message)
                    .got(path.from.as_str())
                    .fix("map from a path whose keys say what the value means"),
            );
        }
    }
    let is_open = state.artifact.writers().iter().any(Writer::maps_whole_output);
    for binding in template.bindings() {
        let steps = steps(binding);
        let mut paths = sources.iter().flat_map(|source| source.data_paths());
        let is_sources = is_open
            || paths.any(|path| {
                let to: Vec<&str> = path.to.segments().map(|segment| segment.key).collect();
                to.len() < steps.len() && overlap(&steps, &to)
            });
        let Some(fate) = steps.last().and_then(|key| Fate::of(key)).filter(|_| is_sources) else {
            continue;
        };
        let path = &binding.full_path;
        let message = format!("a refresh {} `{path}`: {}", fate.verb(), fate.reason());
        remarks.push(
            Issue::new(position(binding), "redacted_at_refresh", message)
                .got(&**path)
                .fix("bind another key of the same object, whose name says what the value means"),
        );
    }
    remarks
}

/// The treatment of a member of an output because of its key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fate {
    LeftOut,
    Redacted,
}

impl Fate {
    fn of(key: &str) -> Option<Self> {
        if is_denied_key(key) {
            return Some(Self::LeftOut);
        }
        is_credential_key(key).then_some(Self::Redacted)
    }

    const fn verb(self) -> &'static str {
        match self {
            Self::LeftOut => "leaves out",
            Self::Redacted => "redacts every text at",
        }
    }

    const fn reason(self) -> &'static str {
        match self {
            Self::LeftOut => "its key is never stored",
            Self::Redacted => "its key is the name of a credential",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::artifact::Author;
    use crate::decide::created;

    #[track_caller]
    fn codes(mapping: &Value, data: &Value, html: &str) -> Vec<(String, String, String)> {
        let body = json!({ "input": { "title": "T", "document": { "dataJson": data,
            "sourceJson": { "type": "local_file", "input": { "path": "a.json" },
                "outputMapping": mapping } } }, "templateHtml": html });
        let state = created(&body, Author::Agent);
        let (template, _) = Template::compile(html).unwrap();
        let remarks = advice(&state, &template).into_iter();
        remarks.map(|it| (it.path, it.code, it.fix.unwrap_or_default())).collect()
    }

    fn mapped(to: &[&str]) -> Value {
        let paths: Vec<Value> = to.iter().map(|to| json!({ "from": "x", "to": to })).collect();
        json!({ "dataPaths": paths })
    }

    #[test]
    fn a_number_that_no_refresh_reaches_is_named_where_it_stands() {
        let html = "<h1>{{data.title}}</h1>\n<p>{{data.total}} {{data.share}}</p>\n\
            <ul><li data-od-repeat=\"row in data.rows\">{{row.n}}</li></ul>\
            <ul><li data-od-repeat=\"row in data.mine\">{{row.n}}{{row.v}}</li></ul>";
        let data = json!({ "title": "2026", "total": 42, "share": "98.5 %", "rows": [{ "n": 1 }],
            "mine": [{ "n": 7, "v": "1.2.3" }] });
        let found = codes(&mapped(&["rows", "total"]), &data, html);
        let places: Vec<&str> = found.iter().map(|(place, _, _)| place.as_str()).collect();
        assert_eq!(places, ["template.html:1:5", "template.html:2:19", "template.html:3:104"]);
        assert!(found.iter().all(|(_, code, _)| code == "fixed_number"), "{found:?}");
        assert!(found[2].2.contains("\"to\": \"mine\""), "{}", found[2].2);
        // Which keys a whole output has is not known before it ran.
        assert_eq!(codes(&json!({}), &data, html), []);
    }

    #[test]
    fn a_target_that_is_bound_nowhere_is_told_with_a_binding() {
        let data = json!({ "rows": [{ "name": "a" }], "deep": { "n": "x" }, "list": ["a"] });
        let html = "<ul><li data-od-repeat=\"row in data.list\">{{row}}</li></ul>";
        let found = codes(&mapped(&["rows", "deep.n", "list.0"]), &data, html);
        let want = [
            ("0", "<li data-od-repeat=\"row in data.rows\">{{row.name}}</li>"),
            ("1", "{{data.deep.n}}"),
        ];
        for ((place, code, fix), (at, binding)) in found.iter().zip(want) {
            assert_eq!(code, "target_not_bound");
            assert!(place.ends_with(&format!("dataPaths/{at}/to")), "{place}");
            assert_eq!(fix, binding);
        }
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_list_that_is_bound_nowhere_is_told_with_all_columns_that_a_row_shows() {
        let html = "<p>{{data.other}}</p>";
        for (rows, row) in [
            (
                json!([{ "name": "a", "betrag": 1.5, "deep": {}, "sum(n)": 2 }]),
                "{{row.name}} {{row.betrag}}",
            ),
            (json!([{ "sum(n)": 2 }]), "{{row.column}}"),
            (json!([]), "{{row.column}}"),
            (json!([1]), "{{row}}"),
        ] {
            let data = json!({ "rows": rows, "other": "x" });
            let found = codes(&mapped(&["rows"]), &data, html);
            let line = format!("<li data-od-repeat=\"row in data.rows\">{row}</li>");
            assert!(found[0].2.starts_with(&line), "{found:?}");
        }
    }

    #[test]
    fn what_every_refresh_takes_out_is_told_before_the_first() {
        let mapping = json!({ "dataPaths": [
            { "from": "items.0.body", "to": "text" }, { "from": "items", "to": "rows" }] });
        let html = "<p>{{data.text}}</p><ul><li data-od-repeat=\"row in data.rows\">\
            {{row.auth_token}} {{row.tokens_used}}</li></ul>";
        let data = json!({ "text": "t", "rows": [{ "auth_token": "", "tokens_used": 1 }] });
        let found = codes(&mapping, &data, html);
        let places: Vec<&str> = found.iter().map(|(place, _, _)| place.as_str()).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(places[0].ends_with("dataPaths/0/from"), "{places:?}");
        assert_eq!(places[1], "template.html:1:63");
    }
}
