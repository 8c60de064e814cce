//! The commits of an artifact: one record each, in the same chain as the records of refreshes.

use std::collections::BTreeMap;

use crate::artifact::{Artifact, Document, RefreshPermission, SourcePin};
use crate::checks::{self, CheckChange};
use crate::ids::{Digest, RefreshId, Revision, RunId, SourceId, Timestamp};
use crate::json::{self, Map, Value};
use crate::limits;
use crate::refresh::{ChangeReport, RefreshRecord};
use crate::words::words;

words! {
    /// What made a revision.
    CommitKind {
        /// The artifact was created.
        Create = "create",
        /// Its author changed it.
        Update = "update",
        /// A refresh brought new data.
        Refresh = "refresh",
        /// An earlier state was brought back.
        Restore = "restore",
        /// Files were edited by hand, and the next writer found them.
        Edit = "edit",
        /// The permission to refresh was given or taken, and nothing else.
        Permission = "permission",
        /// The schedule was switched on, off or changed, and nothing else.
        Schedule = "schedule",
        /// A damaged artifact was repaired.
        Repair = "repair",
    }
}

words! {
    /// The way in that a change took.
    Door {
        /// The console in a browser.
        Console = "console",
        /// The `od` command.
        CommandLine = "command_line",
        /// A program that speaks HTTP itself.
        Http = "http",
        /// The MCP server.
        Mcp = "mcp",
        /// `od tools`, in an agent's shell.
        ToolShell = "tool_shell",
        /// The clock: the daemon's own, or `od refresh --due`.
        Clock = "clock",
        /// An editor or another program that wrote the files.
        Files = "files",
    }
}

words! {
    /// A part of an artifact that one revision has otherwise than the one before it.
    Part {
        /// `template.html`.
        Template = "template",
        /// `data.json`.
        Data = "data",
        /// The source, the schema, or what the source is pinned to.
        Source = "source",
        /// The permission to refresh.
        Permission = "permission",
        /// The schedule, or whether it is switched on.
        Schedule = "schedule",
        /// `provenance.json`.
        Provenance = "provenance",
        /// The title, description, slug, status, or place in the lists.
        Details = "details",
    }
}

/// The one who made a change.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Actor {
    /// A person.
    Person,
    /// An agent.
    Agent {
        /// Its run.
        run_id: RunId,
        /// The program that was run, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(max = limits::SHORT_TEXT.allowed))]
        agent: Option<String>,
    },
    /// The schedule that a person switched on.
    Schedule,
}

/// The part of a commit record that its writer knows; the rest of the record follows from the two states.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CommitNote {
    /// What makes the revision.
    pub kind: CommitKind,
    /// Who makes it.
    pub actor: Actor,
    /// Through which door.
    pub door: Door,
    /// The places of the data that differ from before.
    pub changes: ChangeReport,
    /// The revision whose state is brought back.
    pub restored_from: Option<Revision>,
}

impl CommitNote {
    /// Returns the note of a commit without further particulars.
    #[must_use]
    pub fn new(kind: CommitKind, actor: Actor, door: Door) -> Self {
        Self { kind, actor, door, changes: ChangeReport::default(), restored_from: None }
    }

    /// Adds the places of the data that differ from before.
    #[must_use]
    pub fn with_changes(self, changes: ChangeReport) -> Self {
        Self { changes, ..self }
    }
}

/// The digests of the contents of a revision, by which they are kept.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct RevisionDigests {
    /// Of the bytes of `template.html`.
    pub template: Digest,
    /// Of the bytes of `data.json`.
    pub data: Digest,
    /// Of the bytes of `provenance.json`.
    pub provenance: Digest,
    /// Of the bytes of the source with its schema and its pin.
    pub source: Digest,
    /// Of the canonical form of the data.
    pub data_content: Digest,
}

impl RevisionDigests {
    /// Returns the digests of a committed artifact.
    #[must_use]
    pub fn of(artifact: &Artifact) -> Self {
        let digests = &artifact.digests;
        Self {
            template: digests.template.raw.clone(),
            data: digests.data.raw.clone(),
            provenance: digests.provenance.raw.clone(),
            source: Digest::of_bytes(&RevisionSource::of(artifact).to_bytes()),
            data_content: digests.data.content.clone(),
        }
    }

    /// Returns the digests that name contents.
    #[must_use]
    pub fn objects(&self) -> [&Digest; 4] {
        [&self.template, &self.data, &self.provenance, &self.source]
    }
}

/// The part of a revision that stands in `artifact.json`: where its data comes from.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RevisionSource {
    /// The document: schema and source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Document>,
    /// What the source was pinned to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_pin: Option<SourcePin>,
    /// What each of several sources was pinned to.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub source_pins: BTreeMap<SourceId, SourcePin>,
}

impl RevisionSource {
    /// Returns that part of an artifact.
    #[must_use]
    pub fn of(artifact: &Artifact) -> Self {
        Self {
            document: artifact.document.clone(),
            source_pin: artifact.source_pin.clone(),
            source_pins: artifact.source_pins.clone(),
        }
    }

    /// Returns the bytes that are kept of it.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // Strings, integers and JSON only: writing them cannot fail.
        json::pretty_bytes(&serde_json::to_value(self).unwrap_or_default())
    }

    /// Returns the permission to refresh.
    #[must_use]
    pub fn permission(&self) -> RefreshPermission {
        self.document.as_ref().map_or(RefreshPermission::None, Document::permission)
    }
}

/// One commit: a line of `refreshes.jsonl`, never a payload, never a credential.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitRecord {
    /// The revision it made.
    pub revision: Revision,
    /// What made it.
    pub kind: CommitKind,
    /// When it was decided.
    pub at: Timestamp,
    /// Who made it.
    pub actor: Actor,
    /// Through which door.
    pub door: Door,
    /// The parts that are other than in the revision before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 7))]
    pub changed: Vec<Part>,
    /// The places of the data that are other than in the revision before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangeReport>,
    /// The revision whose state was brought back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored_from: Option<Revision>,
    /// The refresh that brought the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_id: Option<RefreshId>,
    /// The checks whose state is another than in the revision before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::CHECKS.allowed))]
    pub checks: Vec<CheckChange>,
    /// The contents of the revision.
    pub digests: RevisionDigests,
    /// The digest of the record before this one; absent in the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prev: Option<Digest>,
    /// Fields of a newer daemon, kept as they were.
    #[serde(flatten)]
    pub extra: Map,
}

impl CommitRecord {
    /// Makes the record of the commit that leads from one state to the next.
    ///
    /// An update that changes the permission alone is one of the permission; so it is with the schedule.
    #[must_use]
    pub fn new(note: CommitNote, before: Option<&Artifact>, after: &Artifact) -> Self {
        let CommitNote { kind, actor, door, changes, restored_from } = note;
        let changed = before.map_or_else(Vec::new, |before| changed_parts(before, after));
        let kind = match (kind, &changed[..]) {
            (CommitKind::Update, [Part::Permission]) => CommitKind::Permission,
            (CommitKind::Update, [Part::Schedule] | [Part::Permission, Part::Schedule]) => {
                CommitKind::Schedule
            }
            (kind, _) => kind,
        };
        Self {
            revision: after.revision,
            kind,
            at: after.updated_at,
            actor,
            door,
            changed,
            changes: changes.is_changed().then_some(changes),
            restored_from,
            refresh_id: None,
            checks: checks::changes(
                before.map(|before| before.check_results.as_slice()).unwrap_or_default(),
                &after.check_results,
            ),
            digests: RevisionDigests::of(after),
            prev: None,
            extra: Map::new(),
        }
    }
}

/// Returns the parts that differ between two states of an artifact.
fn changed_parts(before: &Artifact, after: &Artifact) -> Vec<Part> {
    let (was, is) = (&before.digests, &after.digests);
    let source = |artifact: &Artifact| {
        let mut source = RevisionSource::of(artifact);
        if let Some(document) = &mut source.document {
            document.refresh = None;
            document.set_permission(RefreshPermission::None);
        }
        source
    };
    let schedule = |artifact: &Artifact| {
        let refresh = artifact.document.as_ref().and_then(|document| document.refresh.clone());
        (refresh, artifact.schedule_grant.clone())
    };
    let details = |artifact: &Artifact| (artifact.heading.clone(), artifact.pinned);
    Part::ALL
        .iter()
        .copied()
        .filter(|part| match part {
            Part::Template => was.template.content != is.template.content,
            Part::Data => was.data.content != is.data.content,
            Part::Source => source(before) != source(after),
            Part::Permission => before.refresh_permission() != after.refresh_permission(),
            Part::Schedule => schedule(before) != schedule(after),
            Part::Provenance => was.provenance.content != is.provenance.content,
            Part::Details => details(before) != details(after),
        })
        .collect()
}

/// One line of `refreshes.jsonl`: a record of a refresh, or that of a commit.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "most lines of a log are of refreshes")]
pub enum LogRecord {
    /// Of a refresh; its last one closes it.
    Refresh(RefreshRecord),
    /// Of a commit.
    Commit(CommitRecord),
}

impl LogRecord {
    /// Reads a line, without its line end.
    ///
    /// # Errors
    ///
    /// Fails if it is neither kind of record.
    pub fn parse(line: &[u8]) -> Result<Self, serde_json::Error> {
        #[derive(serde::Deserialize)]
        struct Kind {
            kind: Option<serde::de::IgnoredAny>,
        }
        // Only commits have a kind, and a record of either sort keeps fields that it does not know: read
        // as the wrong one, a damaged line could pass.
        match serde_json::from_slice::<Kind>(line)?.kind {
            Some(_) => serde_json::from_slice(line).map(Self::Commit),
            None => serde_json::from_slice(line).map(Self::Refresh),
        }
    }

    /// Returns the digest of the record before it.
    #[must_use]
    pub fn prev(&self) -> Option<&Digest> {
        match self {
            Self::Refresh(record) => record.prev.as_ref(),
            Self::Commit(record) => record.prev.as_ref(),
        }
    }

    /// Returns the record as the line that follows the one with this digest, without its line end.
    #[must_use]
    pub fn to_line_after(mut self, prev: Option<Digest>) -> Vec<u8> {
        // Strings, integers and JSON only: writing them cannot fail.
        let value: Value = match &mut self {
            Self::Refresh(record) => {
                record.prev = prev;
                serde_json::to_value(record).unwrap_or_default()
            }
            Self::Commit(record) => {
                record.prev = prev;
                serde_json::to_value(record).unwrap_or_default()
            }
        };
        json::canonical_bytes(&value)
    }

    /// Returns the commit, if it is one.
    #[must_use]
    pub fn into_commit(self) -> Option<CommitRecord> {
        match self {
            Self::Commit(record) => Some(record),
            Self::Refresh(_) => None,
        }
    }

    /// Returns the record of a refresh, if it is one.
    #[must_use]
    pub fn into_refresh(self) -> Option<RefreshRecord> {
        match self {
            Self::Refresh(record) => Some(record),
            Self::Commit(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::artifact::Author;
    use crate::decide::created;
    use crate::refresh::{RecordStatus, RecordStep};

    fn artifact(permission: &str) -> Artifact {
        let source = json!({ "type": "local_file", "input": { "path": "a.json" },
            "refreshPermission": permission });
        let body = json!({ "input": { "title": "T", "document": {
            "dataJson": { "n": 1 }, "sourceJson": source } } });
        created(&body, Author::Person).artifact
    }

    fn note(kind: CommitKind) -> CommitNote {
        CommitNote::new(kind, Actor::Person, Door::Console)
    }

    #[test]
    fn an_update_of_the_permission_alone_is_one_of_the_permission() {
        let before = artifact("none");
        let mut after = artifact("manual_refresh_granted_for_read_only");
        let record = CommitRecord::new(note(CommitKind::Update), Some(&before), &after);
        assert_eq!(
            (record.kind, &record.changed[..]),
            (CommitKind::Permission, &[Part::Permission][..])
        );
        after.heading.title = "U".to_owned();
        let record = CommitRecord::new(note(CommitKind::Update), Some(&before), &after);
        assert_eq!(record.kind, CommitKind::Update);
        assert_eq!(record.changed, [Part::Permission, Part::Details]);
    }

    #[test]
    fn each_line_is_read_as_what_it_is_and_continues_the_chain() {
        let commit = CommitRecord::new(note(CommitKind::Create), None, &artifact("none"));
        let first = LogRecord::Commit(commit).to_line_after(None);
        let at = Timestamp::from_unix_ms(0);
        let record = RefreshRecord::new(
            RefreshId::from_number(1),
            RecordStep::Started,
            RecordStatus::Running,
            at,
        );
        let prev = Some(Digest::of_bytes(&first));
        let second = LogRecord::Refresh(record).to_line_after(prev.clone());
        let first = LogRecord::parse(&first).unwrap();
        assert_eq!(first.prev(), None);
        assert_eq!(first.into_commit().unwrap().kind, CommitKind::Create);
        let second = LogRecord::parse(&second).unwrap();
        assert_eq!(second.prev(), prev.as_ref());
        assert!(second.into_commit().is_none());
        assert!(LogRecord::parse(br#"{"kind":"refresh:committed"}"#).is_err());
        assert!(LogRecord::parse(br#"{"revision":1}"#).is_err());
    }
}
