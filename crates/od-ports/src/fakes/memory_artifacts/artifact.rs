//! One artifact as the fake keeps it.

use std::sync::Arc;

use od_core::artifact::{ArtifactState, Digests, FileDigests, Health};
use od_core::ids::{Digest, RefreshId, Revision};
use od_core::json;
use od_core::ledger::{CommitNote, CommitRecord, RefreshLedger, kept_commits, next_revision};
use od_core::refresh::RefreshRecord;

use crate::store::{InspectedFile, Inspection};

/// One artifact.
#[derive(Clone, Debug)]
pub(super) struct KeptArtifact {
    pub(super) state: ArtifactState,
    pub(super) health: Health,
    pub(super) page: Arc<[u8]>,
    pub(super) log: Vec<RefreshRecord>,
    pub(super) ledger: RefreshLedger,
    /// Every revision, oldest first, with what was committed.
    pub(super) revisions: Vec<(CommitRecord, ArtifactState)>,
}

impl KeptArtifact {
    /// Returns an artifact at its first revision.
    pub(super) fn new(mut state: ArtifactState, page: Arc<[u8]>, note: CommitNote) -> Self {
        finish(&mut state, &page, next_revision([]));
        let (health, ledger) = (Health::HEALTHY, RefreshLedger::default());
        let commit = CommitRecord::new(note, None, &state.artifact);
        let revisions = vec![(commit, state.clone())];
        Self { state, health, page, log: Vec::new(), ledger, revisions }
    }

    /// Takes the next state, by a refresh or without one.
    pub(super) fn commit(
        &mut self,
        mut state: ArtifactState,
        page: Arc<[u8]>,
        note: CommitNote,
        refresh_id: Option<RefreshId>,
    ) {
        finish(&mut state, &page, next_revision([self.state.artifact.revision]));
        let commit = CommitRecord::new(note, Some(&self.state.artifact), &state.artifact);
        self.revisions.push((CommitRecord { refresh_id, ..commit }, state.clone()));
        self.state = state;
        self.page = page;
    }

    /// Returns the last refresh that committed.
    pub(super) fn last_refresh(&self) -> Option<&RefreshId> {
        self.revisions.iter().rev().find_map(|(commit, _)| commit.refresh_id.as_ref())
    }

    /// Returns the commits, newest first.
    pub(super) fn commits(&self) -> Vec<CommitRecord> {
        self.revisions.iter().rev().map(|(commit, _)| commit.clone()).collect()
    }

    /// Returns the revisions that are kept, newest first.
    pub(super) fn kept(&self) -> Vec<&(CommitRecord, ArtifactState)> {
        let commits = self.commits();
        let kept: Vec<Revision> = kept_commits(&commits).map(|commit| commit.revision).collect();
        let newest_first = self.revisions.iter().rev();
        newest_first.filter(|(commit, _)| kept.contains(&commit.revision)).collect()
    }

    pub(super) fn append(&mut self, mut record: RefreshRecord) {
        record.prev = self.log.last().map(RefreshRecord::digest);
        self.ledger.append(&record);
        self.log.push(record);
    }

    /// Shows every file as the real store would have written it.
    pub(super) fn inspect(&self) -> Inspection {
        let digests = &self.state.artifact.digests;
        let provenance = serde_json::to_value(&self.state.provenance).unwrap_or_default();
        let file = |name, digests: &FileDigests, bytes: Vec<u8>| InspectedFile {
            name,
            content_expected: Some(digests.content.clone()),
            raw_expected: Some(digests.raw.clone()),
            raw_found: Some(Digest::of_bytes(&bytes)),
            bytes: Some(bytes.into()),
            content_found: Some(digests.content.clone()),
        };
        Inspection {
            health: self.health,
            artifact: Some(self.state.artifact.clone()),
            files: vec![
                file(
                    "template.html",
                    &digests.template,
                    self.state.template_html.as_bytes().to_vec(),
                ),
                file("data.json", &digests.data, json::pretty_bytes(self.state.data.value())),
                file("provenance.json", &digests.provenance, json::pretty_bytes(&provenance)),
                file("index.html", &digests.index, self.page.to_vec()),
            ],
            log_records: self.log.len(),
            log_fault: None,
            snapshots: 0,
            snapshot_faults: Vec::new(),
            obstacles: Vec::new(),
            has_unfinished_commit: false,
            revisions: self.kept().len(),
            revision_faults: Vec::new(),
        }
    }
}

/// Sets the fields that belong to the store.
fn finish(state: &mut ArtifactState, page: &[u8], revision: Revision) {
    state.artifact.revision = revision;
    state.artifact.digests = Digests::of(state, page);
}
