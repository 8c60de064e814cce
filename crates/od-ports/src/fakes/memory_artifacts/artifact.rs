//! One artifact as the fake keeps it.

use std::sync::Arc;

use od_core::artifact::{ArtifactState, Digests, FileDigests, Health};
use od_core::ids::{Digest, RefreshId, Revision};
use od_core::json;
use od_core::ledger::{RefreshLedger, excess_snapshots, next_revision};
use od_core::refresh::RefreshRecord;

use crate::store::{InspectedFile, Inspection, Snapshot};

/// One artifact.
#[derive(Clone, Debug)]
pub(super) struct KeptArtifact {
    pub(super) state: ArtifactState,
    pub(super) health: Health,
    pub(super) page: Arc<[u8]>,
    pub(super) log: Vec<RefreshRecord>,
    pub(super) ledger: RefreshLedger,
    pub(super) snapshots: Vec<Snapshot>,
}

impl KeptArtifact {
    /// Returns an artifact at its first revision.
    pub(super) fn new(mut state: ArtifactState, page: Arc<[u8]>) -> Self {
        finish(&mut state, &page, next_revision([]));
        let (health, ledger) = (Health::HEALTHY, RefreshLedger::default());
        Self { state, health, page, log: Vec::new(), ledger, snapshots: Vec::new() }
    }

    /// Takes the next state.
    pub(super) fn commit(&mut self, mut state: ArtifactState, page: Arc<[u8]>) {
        finish(&mut state, &page, next_revision([self.state.artifact.revision]));
        self.state = state;
        self.page = page;
    }

    pub(super) fn append(&mut self, mut record: RefreshRecord) {
        record.prev = self.log.last().map(RefreshRecord::digest);
        self.ledger.append(&record);
        self.log.push(record);
    }

    /// Adds the snapshot of a refresh, and drops those that are too many.
    pub(super) fn add_snapshot(&mut self, refresh_id: RefreshId, state: &ArtifactState) {
        let (data, provenance) = (state.data.clone(), state.provenance.clone());
        self.snapshots.insert(0, Snapshot { refresh_id, data, provenance });
        let ids: Vec<RefreshId> =
            self.snapshots.iter().map(|snapshot| snapshot.refresh_id.clone()).collect();
        self.snapshots.truncate(ids.len() - excess_snapshots(&ids).len());
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
            snapshots: self.snapshots.len(),
            snapshot_faults: Vec::new(),
        }
    }
}

/// Sets the fields that belong to the store.
fn finish(state: &mut ArtifactState, page: &[u8], revision: Revision) {
    state.artifact.revision = revision;
    state.artifact.digests = Digests::of(state, page);
}
