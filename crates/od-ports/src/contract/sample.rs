//! Artifacts to try an adapter with.

use std::sync::Arc;

use od_core::artifact::{
    Artifact, ArtifactState, Attempt, Digests, Document, FileDigests, GeneratedBy, Heading,
    Preview, Provenance, RefreshStatus, SchemaVersion,
};
use od_core::decide::Decision;
use od_core::ids::{ArtifactId, Digest, ProjectId, Revision, Slug, Timestamp};
use od_core::json::{BoundedObject, Map};
use od_core::ledger::{Actor, CommitKind, CommitNote, Door};
use od_core::refresh::ChangeReport;

use crate::store::Change;

/// The template of every sample.
pub const TEMPLATE: &str = "<!doctype html><title>{{data.title}}</title><p>{{data.title}}</p>\n";

/// Returns the time of every sample.
pub fn now() -> Timestamp {
    Timestamp::from_unix_ms(1_777_000_000_000)
}

/// Returns an id made from a number.
pub fn id(number: u32) -> ArtifactId {
    ArtifactId::generate(
        &Slug::from_title("sample"),
        [0, 0, (number >> 24) as u8, (number >> 16) as u8, (number >> 8) as u8, number as u8],
    )
}

/// Returns a state whose data has the given title.
///
/// # Panics
///
/// When the title is longer than the rules allow.
pub fn state(project: &ProjectId, id: &ArtifactId, title: &str) -> ArtifactState {
    let mut data = Map::new();
    data.insert("title".to_owned(), title.into());
    let data = BoundedObject::check(data.into()).expect("a title is bounded JSON");
    let file = FileDigests::of_html(b"");
    let artifact = Artifact {
        schema_version: SchemaVersion::FIRST,
        id: id.clone(),
        project_id: project.clone(),
        session_id: None,
        created_by_run_id: None,
        heading: Heading::of_title(title),
        pinned: false,
        preview: Preview::html(),
        refresh_status: RefreshStatus::Idle,
        created_at: now(),
        updated_at: now(),
        last_refreshed_at: None,
        document: Some(Document::new(None, None)),
        revision: Revision::first(),
        digests: Digests {
            template: file.clone(),
            data: file.clone(),
            provenance: file.clone(),
            index: file,
        },
        source_pin: None,
        source_pins: std::collections::BTreeMap::new(),
        stale: Vec::new(),
        permission_set_by: None,
        withheld: None,
        check_results: Vec::new(),
        schedule_grant: None,
        created_by_attempt: None,
        restored: None,
        extra: Map::new(),
    };
    let provenance = Provenance {
        generated_at: now(),
        generated_by: GeneratedBy::Agent,
        notes: None,
        sources: Vec::new(),
        paths: Vec::new(),
        stale: Vec::new(),
        extra: Map::new(),
    };
    ArtifactState { artifact, template_html: TEMPLATE.into(), data, provenance }
}

/// Returns the page of a state with the given title.
pub fn page(title: &str) -> Arc<[u8]> {
    format!("<!doctype html><title>{title}</title><p>{title}</p>\n").into_bytes().into()
}

/// Returns a new artifact, decided on.
pub fn new(project: &ProjectId, id: &ArtifactId, title: &str) -> Decision {
    let (changes, warnings) = (ChangeReport::default(), Vec::new());
    Decision { state: state(project, id, title), page: page(title), changes, warnings }
}

/// Returns a new artifact made by a named attempt.
///
/// # Panics
///
/// When the attempt's name is no attempt id.
pub fn attempt(project: &ProjectId, id: &ArtifactId, title: &str, attempt: &str) -> Decision {
    let mut new = new(project, id, title);
    let id = attempt.parse().expect("the suite's attempts are well named");
    let digest = Digest::of_bytes(title.as_bytes());
    new.state.artifact.created_by_attempt = Some(Attempt { id, digest });
    new
}

/// Returns a change of a state to another title.
pub fn change(from: &ArtifactState, title: &str) -> Change {
    let mut state = state(&from.artifact.project_id, &from.artifact.id, title);
    state.artifact.created_by_attempt = from.artifact.created_by_attempt.clone();
    let (expected, note) = (from.artifact.revision, note(CommitKind::Update));
    Change { expected, state, page: page(title), refresh: None, note }
}

/// Returns the note of a person's commit.
pub fn note(kind: CommitKind) -> CommitNote {
    CommitNote::new(kind, Actor::Person, Door::CommandLine)
}
