//! The last writer of each place of the data, and the time.

use std::borrow::Cow;

use super::place::Place;
use super::rule::{Owner, Ownership};
use crate::artifact::{ArtifactState, Author, DataPath, SourceRef, source_call, source_label};
use crate::ids::{Revision, Timestamp};
use crate::json::Value;
use crate::limits;
use crate::query::SqlText;

/// The last write of a place of the data.
///
/// It holds for everything inside the place, but for what has a write of its own. Lists are one place
/// to an author: who changed one of its items wrote the list.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct PathWrite {
    /// The place, as a JSON pointer into the data; the empty one is all of it.
    pub path: Place,
    /// Who wrote it.
    pub by: WrittenBy,
    /// The revision that has it first.
    pub revision: Revision,
    /// When.
    pub at: Timestamp,
}

impl PathWrite {
    /// Returns the part of a source's output that was written, if a refresh wrote it.
    #[must_use]
    pub const fn read(&self) -> Option<&SourceRead> {
        match &self.by {
            WrittenBy::Source(read) => Some(read),
            WrittenBy::Agent | WrittenBy::Person | WrittenBy::Query(_) => None,
        }
    }

    /// Returns whether a refresh wrote it, with what a source or a query gave.
    #[must_use]
    pub const fn is_refreshed(&self) -> bool {
        match &self.by {
            WrittenBy::Source(_) | WrittenBy::Query(_) => true,
            WrittenBy::Agent | WrittenBy::Person => false,
        }
    }
}

/// Who wrote a place.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum WrittenBy {
    /// An agent.
    Agent,
    /// A person.
    Person,
    /// A refresh, with what a source gave.
    Source(SourceRead),
    /// A refresh, with what a query made of the rows of sources.
    Query(QueryRead),
}

impl From<Author> for WrittenBy {
    fn from(author: Author) -> Self {
        match author {
            Author::Agent => Self::Agent,
            Author::Person => Self::Person,
        }
    }
}

/// The part of a source's output that went to a place.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct SourceRead {
    /// The source's id.
    #[schemars(length(max = limits::ID.allowed))]
    pub id: String,
    /// What a reader should call the source.
    #[schemars(length(max = limits::SHORT_TEXT.allowed))]
    pub label: String,
    /// The call that was made, as far as it fits.
    #[schemars(length(max = limits::CALL_TEXT.allowed))]
    pub call: String,
    /// Where the value stood in the output; `$` is all of it.
    #[schemars(length(max = limits::PATH.allowed))]
    pub from: String,
}

/// The query whose result went to a place.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct QueryRead {
    /// The SQL, as far as it fits.
    #[schemars(length(max = limits::CALL_TEXT.allowed))]
    pub sql: String,
    /// The sources whose rows it read.
    #[schemars(length(max = limits::SOURCES.allowed))]
    pub sources: Vec<QueriedSource>,
}

/// A source whose rows a query read.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct QueriedSource {
    /// The source's id.
    #[schemars(length(max = limits::ID.allowed))]
    pub id: String,
    /// What a reader should call the source.
    #[schemars(length(max = limits::SHORT_TEXT.allowed))]
    pub label: String,
}

impl QueryRead {
    /// Names a query and the sources among the tables that it read.
    #[must_use]
    pub fn new(sql: &SqlText, tables: &[String], sources: &[SourceRef<'_>]) -> Self {
        let is_read = |source: &&SourceRef<'_>| {
            tables.iter().any(|table| table.eq_ignore_ascii_case(source.id))
        };
        let named = |source: &SourceRef<'_>| QueriedSource {
            id: source.id.to_owned(),
            label: source_label(source.source),
        };
        Self {
            sql: limits::cut(one_line(sql.as_str()), limits::CALL_TEXT),
            sources: sources.iter().filter(is_read).map(named).collect(),
        }
    }
}

fn one_line(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns who wrote each place of a state last.
///
/// A refresh that finds nothing new commits nothing, and has read everything all the same: after it,
/// what a source maps to was read by it, also where an author had written the same before.
#[must_use]
pub fn known_writes(state: &ArtifactState) -> Cow<'_, [PathWrite]> {
    let (artifact, writes) = (&state.artifact, &state.provenance.paths);
    let confirmed = artifact.last_refreshed_at.filter(|at| *at > artifact.updated_at);
    let Some(at) = confirmed.filter(|_| artifact.has_source()) else {
        return Cow::Borrowed(writes);
    };
    let is_stale = |id: &str| state.provenance.stale.iter().any(|stale| stale.source == id);
    let mut read: Vec<PathWrite> = Vec::new();
    for source in artifact.sources().iter().filter(|source| !is_stale(source.id)) {
        let (label, call) = (source_label(source.source), source_call(source.source));
        let write = |path: &DataPath| PathWrite {
            path: Place::from(&path.to),
            by: WrittenBy::Source(SourceRead {
                id: source.id.to_owned(),
                label: label.clone(),
                call: call.clone(),
                from: path.from.to_string(),
            }),
            revision: artifact.revision,
            at,
        };
        read.extend(source.data_paths().iter().map(write));
        if source.data_paths().is_empty() {
            let its =
                writes.iter().filter(|write| write.read().is_some_and(|it| it.id == source.id));
            read.extend(its.map(|write| PathWrite { at, ..write.clone() }));
        }
    }
    let sources = artifact.sources();
    for query in artifact.queries() {
        let path = Place::from(&query.to);
        let known = writes.iter().find_map(|write| match &write.by {
            WrittenBy::Query(read) => (write.path == path).then(|| read.clone()),
            WrittenBy::Source(_) | WrittenBy::Agent | WrittenBy::Person => None,
        });
        // A query whose first result was what stood there already left no write.
        let query = known.unwrap_or_else(|| {
            let mentioned = sources.iter().filter(|source| query.sql.mentions(source.id));
            let tables: Vec<String> = mentioned.map(|source| source.id.to_owned()).collect();
            QueryRead::new(&query.sql, &tables, &sources)
        });
        if !query.sources.iter().any(|source| is_stale(&source.id)) {
            let by = WrittenBy::Query(query);
            read.push(PathWrite { path, by, revision: artifact.revision, at });
        }
    }
    Cow::Owned(source_wrote(writes, read, state.data.value()))
}

/// Returns the writes after an author changed the data from `old` to `new`. Only what differs was
/// written; what a source wrote and the author kept stays the source's.
#[must_use]
pub fn author_wrote(
    writes: &[PathWrite],
    (old, new): (&Value, &Value),
    ownership: &Ownership<'_>,
    write: &PathWrite,
) -> Vec<PathWrite> {
    let mut after = writes.to_vec();
    for place in changed_places(old, new) {
        let is_kept = |earlier: &PathWrite| match ownership.owner(&earlier.path) {
            Owner::Source(_) | Owner::Query => earlier.path.find(old) == earlier.path.find(new),
            Owner::Author => false,
        };
        after.retain(|earlier| !earlier.path.is_within(&place) || is_kept(earlier));
        after.push(PathWrite { path: place, ..write.clone() });
    }
    forget(&mut after, new);
    bound(&mut after);
    after
}

/// Returns the writes after a refresh wrote these places.
#[must_use]
pub fn source_wrote(
    writes: &[PathWrite],
    written: impl IntoIterator<Item = PathWrite>,
    data: &Value,
) -> Vec<PathWrite> {
    let mut after = writes.to_vec();
    for write in written {
        after.retain(|earlier| !earlier.path.is_within(&write.path));
        after.push(write);
    }
    forget(&mut after, data);
    bound(&mut after);
    after
}

/// Drops the writes of places that are no more.
pub fn forget(writes: &mut Vec<PathWrite>, data: &Value) {
    writes.retain(|write| write.path.find(data).is_some());
}

/// Returns the places that hold something else now: scalars and lists, and objects that are new.
pub(super) fn changed_places(old: &Value, new: &Value) -> Vec<Place> {
    let mut changed = Vec::new();
    collect_changed(old, new, &Place::root(), &mut changed);
    changed
}

fn collect_changed(old: &Value, new: &Value, here: &Place, changed: &mut Vec<Place>) {
    if let (Value::Object(old), Value::Object(new)) = (old, new) {
        for (key, value) in new {
            let place = here.key(key);
            match old.get(key) {
                // A key that is too long to be remembered is remembered by what is above it.
                Some(before) if before != value && !place.is_short() => changed.push(here.clone()),
                None if !place.is_short() => changed.push(here.clone()),
                Some(before) => collect_changed(before, value, &place, changed),
                None => changed.push(place),
            }
        }
    } else if old != new {
        changed.push(here.clone());
    }
}

/// Merges the deepest writes of authors into what is above them until there are few enough: then the
/// newest of them stands for the object that holds them.
fn bound(writes: &mut Vec<PathWrite>) {
    let is_authors = |write: &&PathWrite| !write.is_refreshed();
    // The mappings and the queries bound the places of refreshes.
    while !limits::PATH_WRITES.allows(writes.iter().filter(is_authors).count()) {
        let depths = writes.iter().filter(is_authors).map(|write| write.path.depth());
        let depth = depths.max().unwrap_or_default();
        let mut merged: Vec<PathWrite> = Vec::new();
        for mut write in std::mem::take(writes) {
            if is_authors(&&write) && write.path.depth() == depth {
                write.path = write.path.parent().unwrap_or_default();
            }
            match merged.iter_mut().find(|known| known.path == write.path) {
                Some(known) if known.revision < write.revision => *known = write,
                Some(_) => {}
                None => merged.push(write),
            }
        }
        *writes = merged;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn write(path: &str, revision: u64, by: WrittenBy) -> PathWrite {
        PathWrite {
            path: Place::try_from(path.to_owned()).unwrap(),
            by,
            revision: serde_json::from_value(json!(revision)).unwrap(),
            at: Timestamp::from_unix_ms(0),
        }
    }

    fn read() -> WrittenBy {
        let text = || "x".to_owned();
        WrittenBy::Source(SourceRead { id: text(), label: text(), call: text(), from: text() })
    }

    fn places(writes: &[PathWrite]) -> Vec<(&str, u64)> {
        writes.iter().map(|write| (write.path.as_str(), write.revision.get())).collect()
    }

    #[test]
    fn an_author_wrote_what_differs_and_nothing_else() {
        let old = json!({ "a": { "b": 1, "c": 2 }, "list": [1, 2], "gone": 1 });
        let new = json!({ "a": { "b": 1, "c": 3 }, "list": [1, 3], "new": { "d": 1 } });
        let writes = [write("", 1, WrittenBy::Agent), write("/gone", 2, WrittenBy::Agent)];
        let by = write("", 3, WrittenBy::Person);
        let after = author_wrote(&writes, (&old, &new), &Ownership::default(), &by);
        assert_eq!(places(&after), [("", 1), ("/a/c", 3), ("/list", 3), ("/new", 3)]);
        assert_eq!(author_wrote(&after, (&new, &new), &Ownership::default(), &by), after);
    }

    #[test]
    fn a_source_wrote_over_what_stood_at_its_places() {
        let data = json!({ "rows": [1], "title": "T" });
        let writes = [write("", 1, WrittenBy::Agent), write("/rows/0", 2, WrittenBy::Agent)];
        let after = source_wrote(&writes, [write("/rows", 4, read())], &data);
        assert_eq!(places(&after), [("", 1), ("/rows", 4)]);
    }

    #[test]
    fn many_writes_are_merged_into_what_is_above_them() {
        let many: serde_json::Map<_, _> = (0..90).map(|i| (format!("k{i}"), json!(i))).collect();
        let new = json!({ "a": many, "b": many, "c": { "d": many, "e": many }, "top": 1 });
        let old = json!({ "a": {}, "b": {}, "c": { "d": {}, "e": {} } });
        let writes = [write("", 1, WrittenBy::Agent), write("/top", 2, read())];
        let by = write("", 3, WrittenBy::Agent);
        let owned = Ownership::default();
        let after = author_wrote(&writes, (&old, &new), &owned, &by);
        let found = places(&after);
        assert!(found.contains(&("/c/d", 3)) && found.contains(&("/a/k5", 3)), "{found:?}");
        assert_eq!(found.len(), 2 + 2 * 90 + 2, "the deepest, and only they, are merged");
    }
}
