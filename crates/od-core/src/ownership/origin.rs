//! Where each value of the data comes from, for a reader.

use super::place::Place;
use super::rule::{Owner, Ownership, Writer};
use super::writes::{PathWrite, QueryRead, WrittenBy, changed_places, known_writes};
use crate::artifact::{ArtifactState, Author, Document, StaleSource, source_label};
use crate::credential::REDACTED;
use crate::format::date::written_at;
use crate::format::{Locale, Zone};
use crate::ids::{Revision, Timestamp};
use crate::json::{BoundedObject, Value};
use crate::limits;
use crate::template::InspectedPath;
use crate::words::words;

words! {
    /// Who writes a place of the data.
    PathWriter {
        /// Agents and persons: no refresh changes it.
        Author = "author",
        /// A source: every refresh writes it, and nothing else does.
        Source = "source",
        /// A query: every refresh works it out, and nothing else writes it.
        Query = "query",
    }
}

/// The origin of what stands at a place of the data, and who will write it next.
///
/// It holds for everything inside the place, but for what has an origin of its own.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct PathOrigin {
    /// The place, as a JSON pointer into the data; the empty one is all that has no line of its own.
    pub path: Place,
    /// Who writes it.
    pub writer: PathWriter,
    /// The author who wrote what stands there, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Author>,
    /// What a reader should call the source that gave it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::SHORT_TEXT.allowed))]
    pub label: Option<String>,
    /// The call that was made for it, as far as it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::CALL_TEXT.allowed))]
    pub call: Option<String>,
    /// Where it stood in the source's output; `$` is all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::PATH.allowed))]
    pub from: Option<String>,
    /// The revision that has it first; absent if it is older than od remembers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// When it was written or, by a source, last read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The SQL of the query that worked it out, if one did, as far as it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::CALL_TEXT.allowed))]
    pub query: Option<String>,
    /// The sources that it comes from, by their ids, where the artifact names its sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SOURCES.allowed))]
    pub sources: Vec<String>,
    /// Since when a source of it has failed: it is from before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_since: Option<Timestamp>,
    /// How many texts in it are redacted.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    pub redacted: u64,
    /// All that in one sentence.
    #[schemars(length(max = 2048))]
    pub says: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Returns the origin of every place of the data that has one of its own, the whole data first. Where
/// the data was edited by hand, `committed` is what the last commit wrote.
#[must_use]
pub fn origins(state: &ArtifactState, committed: Option<&BoundedObject>) -> Vec<PathOrigin> {
    let ownership = Ownership::of_state(state);
    let edited = committed.map(|it| changed_places(it.value(), state.data.value()));
    let edited = edited.unwrap_or_default();
    let (writes, data) = (known_writes(state), state.data.value());
    let owned = ownership.places().map(|(place, _)| place);
    let known = writes.iter().map(|write| &write.path).chain(owned).chain(&edited);
    let mut places: Vec<Place> =
        known.filter(|place| place.find(data).is_some()).cloned().collect();
    places.push(Place::root());
    places.sort();
    places.dedup();
    let artifact = &state.artifact;
    // Of a source that maps its whole output nobody knows what it writes before it ran.
    let is_open = artifact.writers().iter().any(Writer::maps_whole_output)
        && !writes.iter().any(|write| write.read().is_some());
    let replaced = if is_open { "what its output has" } else { "it" };
    let sources = artifact.sources();
    let label = |id: &str| sources.iter().find(|source| source.id == id);
    let next = |owner: Owner<'_>| match owner {
        Owner::Source(id) => {
            let label = label(id).map(|source| source_label(source.source)).unwrap_or_default();
            Some(format!("; the next refresh from {label} replaces {replaced}"))
        }
        Owner::Query => Some("; the next refresh works it out by a query".to_owned()),
        Owner::Author => sources.first().filter(|_| is_open).map(|source| {
            let label = source_label(source.source);
            format!("; the next refresh from {label} replaces {replaced}")
        }),
    };
    let is_named = sources.iter().any(|source| source.index.is_some());
    places
        .into_iter()
        .map(|place| {
            let write = last_write(&writes, &place);
            let owner = ownership.owner(&place);
            let writer = match owner {
                Owner::Author if is_open => PathWriter::Source,
                Owner::Author => PathWriter::Author,
                Owner::Source(_) => PathWriter::Source,
                Owner::Query => PathWriter::Query,
            };
            let redacted = match &place {
                // What is inside has lines of its own.
                root if root.depth() == 0 => 0,
                place => place.find(data).map_or(0, count_redacted),
            };
            let is_edited = place.depth() > 0
                && edited.iter().any(|edit| edit.is_within(&place) || place.is_within(edit));
            if is_edited {
                return edited_origin(place, writer, redacted);
            }
            let mut origin = origin(place, writer, write, redacted);
            if !is_named {
                origin.sources.clear();
            }
            let of_it =
                |stale: &&StaleSource| write.is_some_and(|write| comes_from(write, &stale.source));
            let stale = state.provenance.stale.iter().filter(of_it);
            origin.stale_since = stale.map(|stale| stale.since).min();
            let says = sentence(&origin, next(owner).as_deref());
            PathOrigin { says: limits::cut(says, limits::SHORT_TEXT), ..origin }
        })
        .collect()
}

/// Returns the origin of a place that differs from the last commit.
fn edited_origin(path: Place, writer: PathWriter, redacted: u64) -> PathOrigin {
    let future = match writer {
        PathWriter::Author => "no refresh changes it",
        PathWriter::Source => "the next change brings back what the source gave",
        PathWriter::Query => "the next change brings back what the query gave",
    };
    PathOrigin {
        path,
        writer,
        by: Some(Author::Person),
        label: None,
        call: None,
        from: None,
        revision: None,
        at: None,
        query: None,
        sources: Vec::new(),
        stale_since: None,
        redacted,
        says: format!("edited by hand since the last commit; {future}"),
    }
}

/// Returns the write that holds for a place: its own, or that of the nearest place above it.
pub(crate) fn last_write<'w>(writes: &'w [PathWrite], place: &Place) -> Option<&'w PathWrite> {
    let above = writes.iter().filter(|write| place.is_within(&write.path));
    above.max_by_key(|write| write.path.depth())
}

fn origin(path: Place, writer: PathWriter, write: Option<&PathWrite>, redacted: u64) -> PathOrigin {
    let read = write.and_then(PathWrite::read);
    let by = write.and_then(|write| match write.by {
        WrittenBy::Agent => Some(Author::Agent),
        WrittenBy::Person => Some(Author::Person),
        WrittenBy::Source(_) | WrittenBy::Query(_) => None,
    });
    let query = write.and_then(|write| match &write.by {
        WrittenBy::Query(query) => Some(query),
        WrittenBy::Agent | WrittenBy::Person | WrittenBy::Source(_) => None,
    });
    let label = |query: &QueryRead| {
        let labels: Vec<&str> = query.sources.iter().map(|source| source.label.as_str()).collect();
        match labels.as_slice() {
            [] => "a query".to_owned(),
            labels => {
                limits::cut(format!("a query over {}", labels.join(", ")), limits::SHORT_TEXT)
            }
        }
    };
    let sources = match (read, query) {
        (Some(read), _) => vec![read.id.clone()],
        (None, Some(query)) => query.sources.iter().map(|source| source.id.clone()).collect(),
        (None, None) => Vec::new(),
    };
    PathOrigin {
        path,
        writer,
        by,
        label: read.map(|read| read.label.clone()).or_else(|| query.map(label)),
        call: read.map(|read| read.call.clone()),
        from: read.map(|read| read.from.clone()),
        revision: write.map(|write| write.revision),
        at: write.map(|write| write.at),
        query: query.map(|query| query.sql.clone()),
        sources,
        stale_since: None,
        redacted,
        says: String::new(),
    }
}

/// Returns whether what was written came from a source, alone or through a query.
fn comes_from(write: &PathWrite, source: &str) -> bool {
    match &write.by {
        WrittenBy::Source(read) => read.id == source,
        WrittenBy::Query(query) => query.sources.iter().any(|read| read.id == source),
        WrittenBy::Agent | WrittenBy::Person => false,
    }
}

fn sentence(origin: &PathOrigin, next: Option<&str>) -> String {
    let at = origin.at.map(|at| at.to_string()).unwrap_or_default();
    let past = match (&origin.call, &origin.query, origin.by, origin.revision) {
        (Some(call), _, _, _) => format!("read from {call}{} at {at}", part(origin)),
        (None, Some(sql), _, _) => {
            let label = origin.label.as_deref().unwrap_or("a query");
            format!("worked out by {label} at {at}: {sql}")
        }
        (None, None, Some(by), Some(revision)) => {
            format!("written by {} at revision {revision}, {at}", name(by))
        }
        (None, None, _, _) => "written before od kept track of writers".to_owned(),
    };
    let is_read = origin.call.is_some() || origin.query.is_some();
    let future = match (origin.writer, is_read, next) {
        (PathWriter::Source | PathWriter::Query, true, _) => String::new(),
        (PathWriter::Source | PathWriter::Query, false, Some(next)) => next.to_owned(),
        (PathWriter::Source | PathWriter::Query, false, None) => {
            "; the next refresh replaces it".to_owned()
        }
        (PathWriter::Author, _, _) => "; no refresh changes it".to_owned(),
    };
    let stale = match origin.stale_since {
        Some(since) => format!("; stale: its source has failed since {since}"),
        None => String::new(),
    };
    let redacted = match origin.redacted {
        0 => String::new(),
        1 => "; one text in it is redacted".to_owned(),
        count => format!("; {count} texts in it are redacted"),
    };
    format!("{past}{future}{stale}{redacted}")
}

fn part(origin: &PathOrigin) -> String {
    match origin.from.as_deref() {
        None | Some("$") => String::new(),
        Some(from) => format!(", `{from}` of its output,"),
    }
}

const fn name(author: Author) -> &'static str {
    match author {
        Author::Agent => "an agent",
        Author::Person => "a person",
    }
}

fn count_redacted(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => u64::from(text.contains(REDACTED)),
        Value::Array(items) => items.iter().map(count_redacted).sum(),
        Value::Object(map) => map.values().map(count_redacted).sum(),
    }
}

/// The way times are written for the person who inspects a page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reader {
    locale: Locale,
    zone: Zone,
    /// Set where the page has a zone of its own, which need not be that of the reader.
    is_named: bool,
}

impl Reader {
    /// Returns the reader of a document's page, who sits in a zone.
    #[must_use]
    pub fn of(document: Option<&Document>, zone: Zone) -> Self {
        let named = document.and_then(|document| document.time_zone.clone());
        let locale = document.and_then(|document| document.locale).unwrap_or_default();
        let is_named = named.is_some();
        Self { locale, zone: named.unwrap_or(zone), is_named }
    }

    fn time(&self, at: Timestamp) -> String {
        let time = written_at(at, self.locale, &self.zone);
        if self.is_named { format!("{time} ({})", self.zone.name()) } else { time }
    }
}

impl PathOrigin {
    /// Returns what inspection draws on the values of this place, with times as a person reads them.
    #[must_use]
    pub fn inspected(&self, reader: &Reader) -> InspectedPath {
        let path = match self.path.depth() {
            0 => "data".to_owned(),
            _ => format!("data.{}", self.path.dotted()),
        };
        let at = self.at.map(|at| reader.time(at)).unwrap_or_default();
        let is_fixed = self.writer == PathWriter::Author;
        let source = match (&self.label, self.by, self.revision) {
            (Some(label), _, _) if is_fixed => format!("{label}; no refresh changes it"),
            // A page has no code in backticks.
            (Some(label), _, _) => match self.from.as_deref() {
                None | Some("$") => label.clone(),
                Some(from) => format!("{label}, “{from}” of its output"),
            },
            (None, Some(by), Some(revision)) => {
                let future =
                    if is_fixed { "no refresh changes it" } else { "the next refresh replaces it" };
                format!("written by {} at revision {revision}; {future}", name(by))
            }
            (None, Some(_), None) => self.says.clone(),
            (None, None, _) => "written before od kept track of writers".to_owned(),
        };
        let time = match self.stale_since {
            _ if is_fixed && !at.is_empty() => format!("since {at}"),
            Some(since) => format!("{at}, stale since {}", reader.time(since)),
            None => at,
        };
        InspectedPath { path, source, time, is_fixed }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::decide::{created, refreshed_with};

    fn refreshed() -> ArtifactState {
        let body = json!({ "input": { "title": "T", "document": {
            "dataJson": { "rows": [], "note": "n", "later": 1 },
            "sourceJson": { "type": "local_file", "input": { "path": "a.json" },
                "outputMapping": { "dataPaths": [{ "from": "items", "to": "rows" }] } } } },
            "templateHtml": "<p></p>" });
        let before = created(&body, Author::Agent);
        let key = ["gh", "p_abcdefghij0123456789klmn"].concat();
        let output = json!({ "items": [{ "t": crate::credential::redact_text(&key) }] });
        let decision = refreshed_with(&before, &output, 1_000).unwrap().unwrap();
        decision.state_at(before.artifact.revision.next())
    }

    #[test]
    fn every_place_says_who_wrote_it_and_who_will() {
        let said: Vec<(String, String)> =
            origins(&refreshed(), None).into_iter().map(|it| (it.path.dotted(), it.says)).collect();
        let want = [
            (
                "$",
                "written by an agent at revision 1, 1970-01-01T00:00:00.000Z; no refresh changes it",
            ),
            (
                "rows",
                "read from local_file a.json, `items` of its output, at 1970-01-01T00:00:01.000Z; one text in it is redacted",
            ),
        ];
        assert_eq!(said, want.map(|(path, says)| (path.to_owned(), says.to_owned())));
    }

    #[test]
    fn a_refresh_without_news_has_read_everything_again() {
        let mut state = refreshed();
        state.artifact.last_refreshed_at = Some(Timestamp::from_unix_ms(5_000));
        let rows = &origins(&state, None)[1];
        assert_eq!(rows.at, Some(Timestamp::from_unix_ms(5_000)));
        // A state that came back later was not read then.
        state.artifact.updated_at = Timestamp::from_unix_ms(6_000);
        assert_eq!(origins(&state, None)[1].at, Some(Timestamp::from_unix_ms(1_000)));
    }

    #[test]
    fn before_a_whole_output_ran_nothing_is_said_to_be_fixed() {
        let body = json!({ "input": { "title": "T", "document": { "dataJson": { "n": 1 },
            "sourceJson": { "type": "local_file", "input": { "path": "a.json" } } } } });
        let found = origins(&created(&body, Author::Person), None);
        let want = "; the next refresh from a.json replaces what its output has";
        assert!(found[0].says.ends_with(want), "{}", found[0].says);
        assert!(!found[0].inspected(&Reader::of(None, Zone::utc())).is_fixed);
    }

    #[test]
    fn inspection_writes_times_as_the_reader_does() {
        let mut state = refreshed();
        let time = |state: &ArtifactState, zone: &str| {
            let reader = Reader::of(state.artifact.document.as_ref(), zone.parse().unwrap());
            let said =
                origins(state, None).into_iter().map(|origin| origin.inspected(&reader).time);
            // Some locales put a space there at which no line breaks.
            said.map(|time| time.replace('\u{202f}', " ")).collect::<Vec<_>>()
        };
        let here = time(&state, "UTC");
        assert_eq!(here, ["since Jan 1, 1970, 12:00 AM", "Jan 1, 1970, 12:00 AM"]);
        let there = time(&state, "Asia/Tokyo");
        assert_eq!(there, ["since Jan 1, 1970, 9:00 AM", "Jan 1, 1970, 9:00 AM"]);
        let document = state.artifact.document.as_mut().unwrap();
        document.time_zone = Some("Europe/Berlin".parse().unwrap());
        assert!(time(&state, "UTC")[1].ends_with(", 1:00 AM (Europe/Berlin)"), "the page's own");
    }

    #[test]
    fn an_edit_by_hand_is_not_said_to_come_from_the_source() {
        let mut state = refreshed();
        let committed = state.data.clone();
        let mut edited = committed.value().clone();
        edited["rows"] = json!([]);
        edited["note"] = json!("mine");
        state.data = BoundedObject::check(edited).unwrap();
        let found = origins(&state, Some(&committed));
        let said: Vec<(String, &str)> =
            found.iter().map(|it| (it.path.dotted(), it.says.as_str())).skip(1).collect();
        assert_eq!(said[0].0, "note");
        assert!(said[0].1.starts_with("edited by hand") && said[1].1.starts_with("edited by hand"));
        let (adopted, restored) =
            crate::ownership::adopt(&state, &committed, Timestamp::from_unix_ms(9_000));
        assert_eq!(restored.iter().map(Place::dotted).collect::<Vec<_>>(), ["rows"]);
        assert_eq!(adopted.data.value()["rows"], committed.value()["rows"]);
        assert_eq!(adopted.data.value()["note"], "mine");
        let after = origins(&adopted, None);
        let note = after.iter().find(|it| it.path.dotted() == "note").unwrap();
        assert_eq!(note.by, Some(Author::Person));
    }

    #[test]
    fn a_source_that_is_gone_or_never_ran_is_not_said_to_have_written() {
        let mut state = refreshed();
        let document = state.artifact.document.as_mut().unwrap();
        let source = document.source_json.take();
        let rows = &origins(&state, None)[1];
        assert_eq!(rows.writer, PathWriter::Author);
        assert!(rows.says.contains("read from local_file a.json"), "{}", rows.says);
        assert!(rows.says.contains("no refresh changes it"), "{}", rows.says);
        state.artifact.document.as_mut().unwrap().source_json = source;
        state.provenance.paths.clear();
        state.artifact.last_refreshed_at = None;
        let all = origins(&state, None);
        assert!(all[0].says.starts_with("written before od kept track"), "{}", all[0].says);
        assert!(all[1].says.contains("next refresh from a.json replaces it"), "{}", all[1].says);
    }
}
