//! An artifact as it is stored and answered.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::digests::Digests;
use super::document::{Pins, RefreshPermission, SourcePin, SourceRef, StaleSource};
use super::provenance::Provenance;
use super::status::{Preview, RefreshStatus, SchemaVersion, Status};
use super::{Document, Heading, Health};
use crate::checks::{CheckResult, CheckSummary};
use crate::decide;
use crate::grant::WithheldGrants;
use crate::ids::{
    ArtifactId, AttemptId, Digest, ProjectId, Revision, RunId, SessionId, SourceId, Timestamp,
};
use crate::json::{BoundedObject, Map};
use crate::limits;
use crate::ownership::{ROOT_SOURCE, Writer};
use crate::query::Query;
use crate::schedule::{RunsSoFar, ScheduleSummary, ScheduleSwitch};
use crate::words::words;

/// A live artifact without its data: `artifact.json`, the commit pointer.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// The version of this shape.
    pub schema_version: SchemaVersion,
    /// The artifact.
    pub id: ArtifactId,
    /// Its project.
    pub project_id: ProjectId,
    /// The chat it came from, if the agent said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The run that created it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by_run_id: Option<RunId>,
    /// What it is called, and whether it is in use.
    #[serde(flatten)]
    pub heading: Heading,
    /// Whether the console keeps it at the top of its lists.
    pub pinned: bool,
    /// How it is shown.
    pub preview: Preview,
    /// How its last refresh went, as of this commit.
    pub refresh_status: RefreshStatus,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last committed.
    pub updated_at: Timestamp,
    /// When a refresh last succeeded, as of this commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_refreshed_at: Option<Timestamp>,
    /// Its document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Document>,
    /// How many commits it has had.
    pub revision: Revision,
    /// The digests of its files at this revision.
    pub digests: Digests,
    /// What the source was when it was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_pin: Option<SourcePin>,
    /// What each of several sources was when it was set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub source_pins: BTreeMap<SourceId, SourcePin>,
    /// The sources that failed in the last refresh and kept their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SOURCES.allowed))]
    pub stale: Vec<StaleSource>,
    /// Who last decided whether it may be refreshed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_set_by: Option<Author>,
    /// The permissions that came with a copy and do not hold here. A store sets it as it reads, and never
    /// writes it.
    #[serde(skip)]
    pub withheld: Option<WithheldGrants>,
    /// The permission to refresh on schedule, if somebody switched that on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule_grant: Option<ScheduleSwitch>,
    /// What its checks came to at this commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::CHECKS.allowed))]
    pub check_results: Vec<CheckResult>,
    /// The attempt that created it, so that the same attempt finds it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by_attempt: Option<Attempt>,
    /// The earlier state that it shows again, until it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<Restored>,
    /// Fields of a newer daemon, kept as they were.
    #[serde(flatten)]
    pub extra: Map,
}

impl Artifact {
    /// Returns the sources, in the order of the document.
    #[must_use]
    pub fn sources(&self) -> Vec<SourceRef<'_>> {
        self.document.as_ref().map(Document::all_sources).unwrap_or_default()
    }

    /// Returns whether there is a source.
    #[must_use]
    pub fn has_source(&self) -> bool {
        self.document
            .as_ref()
            .is_some_and(|document| document.source_json.is_some() || !document.sources.is_empty())
    }

    /// Returns the queries, in the order of the document.
    #[must_use]
    pub fn queries(&self) -> &[Query] {
        self.document.as_ref().map(|document| document.queries.as_slice()).unwrap_or_default()
    }

    /// Returns everything that writes into the data: the sources that map to it, and the queries.
    #[must_use]
    pub fn writers(&self) -> Vec<Writer<'_>> {
        let sources = self.sources().into_iter().filter(|source| !source.is_table);
        let sources = sources.map(|source| Writer::Source {
            id: source.id,
            mapping: source.source.output_mapping.as_ref(),
        });
        sources.chain(self.queries().iter().map(|query| Writer::Query { to: &query.to })).collect()
    }

    /// Returns the pin of a source.
    #[must_use]
    pub fn pin(&self, id: &str) -> Option<&SourcePin> {
        match id.parse::<SourceId>() {
            // A lone source has a fixed id, which one of several may have as well: there the map decides.
            _ if id == ROOT_SOURCE && self.source_pin.is_some() => self.source_pin.as_ref(),
            Ok(id) => self.source_pins.get(&id),
            Err(_) => None,
        }
    }

    /// Returns the pins of all sources.
    #[must_use]
    pub fn pins(&self) -> Pins {
        let sources = self.sources();
        let pin =
            |source: &SourceRef<'_>| Some((source.id.to_owned(), self.pin(source.id)?.clone()));
        sources.iter().filter_map(pin).collect()
    }

    /// Replaces the pins of all sources.
    pub fn set_pins(&mut self, mut pins: Pins) {
        let is_root = self.document.as_ref().is_some_and(|document| document.source_json.is_some());
        self.source_pin = if is_root { pins.remove(ROOT_SOURCE) } else { None };
        let named = pins.into_iter().filter_map(|(id, pin)| Some((id.parse().ok()?, pin)));
        self.source_pins = if is_root { BTreeMap::new() } else { named.collect() };
    }

    /// Returns the refresh permission; none without a source.
    #[must_use]
    pub fn refresh_permission(&self) -> RefreshPermission {
        self.document.as_ref().map_or(RefreshPermission::None, Document::permission)
    }

    /// Returns whether a refresh may be started: active, healthy, with a source whose permission
    /// is granted.
    #[must_use]
    pub fn is_refreshable(&self, health: &Health) -> bool {
        health.is_healthy() && decide::refreshable(self).is_ok()
    }

    /// Names where the data comes from, in a few words: the files and tools of its sources.
    #[must_use]
    pub fn source_label(&self) -> Option<String> {
        let labels: Vec<String> =
            self.sources().iter().filter_map(|source| source.source.label()).collect();
        (!labels.is_empty()).then(|| limits::cut(labels.join(", "), limits::SHORT_TEXT))
    }

    fn account_label(&self) -> Option<String> {
        let sources = self.sources();
        sources.iter().find_map(|source| self.pin(source.id)?.account_label.clone())
    }

    /// Returns the line of a list that stands for the artifact.
    #[must_use]
    pub fn summary(&self, health: Health) -> ArtifactSummary {
        let refreshable = self.is_refreshable(&health);
        ArtifactSummary {
            id: self.id.clone(),
            project_id: self.project_id.clone(),
            heading: self.heading.clone(),
            pinned: self.pinned,
            preview: self.preview.clone(),
            refresh_status: self.refresh_status,
            created_at: self.created_at,
            updated_at: self.updated_at,
            last_refreshed_at: self.last_refreshed_at,
            revision: self.revision,
            has_document: self.document.is_some(),
            refreshable,
            health,
            created_by_run_id: self.created_by_run_id.clone(),
            source_label: self.source_label(),
            account_label: self.account_label(),
            stale: self.stale.clone(),
            edited: None,
            restored: self.restored,
            schedule: ScheduleSummary::of(self, refreshable),
            granted_elsewhere: self.withheld.is_some(),
            checks: CheckSummary::of(&self.check_results),
        }
    }
}

impl ArtifactSummary {
    /// Returns what is known of an artifact of which nothing can be read: that it is there, and damaged.
    #[must_use]
    pub fn of_unreadable(project: &ProjectId, id: &ArtifactId, health: Health) -> Self {
        let unknown = Timestamp::from_unix_ms(0);
        Self {
            id: id.clone(),
            project_id: project.clone(),
            heading: Heading { status: Status::Error, ..Heading::of_title(id.as_str()) },
            pinned: false,
            preview: Preview::html(),
            refresh_status: RefreshStatus::Idle,
            created_at: unknown,
            updated_at: unknown,
            last_refreshed_at: None,
            revision: Revision::first(),
            has_document: false,
            refreshable: false,
            health,
            created_by_run_id: None,
            source_label: None,
            stale: Vec::new(),
            account_label: None,
            edited: None,
            restored: None,
            schedule: None,
            granted_elsewhere: false,
            checks: None,
        }
    }

    /// Adds what the records of its refreshes say, where a schedule asks for it.
    #[must_use]
    pub fn with_runs(mut self, runs: &RunsSoFar) -> Self {
        if let Some(schedule) = &mut self.schedule {
            schedule.runs = runs.clone();
        }
        self
    }
}

/// An earlier state that was made the current one again.
#[derive(
    Clone, Copy, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Restored {
    /// The revision whose state it is, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// When it was restored.
    pub at: Timestamp,
    /// When that state was made.
    pub state_of: Timestamp,
}

words! {
    /// Who did something.
    Author {
        /// An agent.
        Agent = "agent",
        /// A person, in the console or on the command line.
        Person = "person",
    }
}

/// One attempt to create an artifact.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// The id the client gave it.
    pub id: AttemptId,
    /// The digest of the request's canonical form.
    pub digest: Digest,
}

/// A whole stored state: what a commit writes and a reader sees.
#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactState {
    /// The metadata.
    pub artifact: Artifact,
    /// The template.
    pub template_html: Arc<str>,
    /// The data.
    pub data: BoundedObject,
    /// Where the data came from.
    pub provenance: Provenance,
}

/// The line of a list that stands for an artifact.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactSummary {
    /// The artifact.
    pub id: ArtifactId,
    /// Its project.
    pub project_id: ProjectId,
    /// What it is called, and whether it is in use.
    #[serde(flatten)]
    pub heading: Heading,
    /// Whether the console keeps it at the top of its lists.
    pub pinned: bool,
    /// How it is shown.
    pub preview: Preview,
    /// How its last refresh went.
    pub refresh_status: RefreshStatus,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last committed.
    pub updated_at: Timestamp,
    /// When a refresh last succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_refreshed_at: Option<Timestamp>,
    /// How many commits it has had.
    pub revision: Revision,
    /// Whether it has a document.
    pub has_document: bool,
    /// Whether a refresh may be started.
    pub refreshable: bool,
    /// Whether its files are sound.
    pub health: Health,
    /// Which run made it, if an agent did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by_run_id: Option<RunId>,
    /// Where its data comes from, in a few words: a file or a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::SHORT_TEXT.allowed))]
    pub source_label: Option<String>,
    /// The sources that failed in the last refresh and kept their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SOURCES.allowed))]
    pub stale: Vec<StaleSource>,
    /// The account that its source reads as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::SHORT_TEXT.allowed))]
    pub account_label: Option<String>,
    /// The digest of the edits by hand since the last commit, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<Digest>,
    /// The earlier state that it shows again, until it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<Restored>,
    /// Its schedule, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<ScheduleSummary>,
    /// Whether it was allowed to be refreshed in a copy of this data directory or on another machine, and
    /// waits for a person to allow it here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub granted_elsewhere: bool,
    /// Its checks, counted; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<CheckSummary>,
}
