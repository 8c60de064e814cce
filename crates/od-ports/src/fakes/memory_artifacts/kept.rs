//! One artifact as the fake keeps it.

use std::sync::Arc;

use od_core::artifact::{ArtifactState, Digests, FileDigests, Health};
use od_core::ids::{Digest, RefreshId, Revision};
use od_core::json;
use od_core::refresh::{Begun, RefreshRecord};

use crate::store::{InspectedFile, Inspection, Snapshot};

/// One artifact.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) state: ArtifactState,
    pub(super) health: Health,
    pub(super) page: Arc<[u8]>,
    pub(super) log: Vec<RefreshRecord>,
    pub(super) snapshots: Vec<Snapshot>,
}

impl Kept {
    pub(super) fn newest(&self) -> Option<&RefreshId> {
        self.log.iter().map(|record| &record.refresh_id).max()
    }

    pub(super) fn is_open(&self, refresh: &RefreshId) -> bool {
        let mut records = self.log.iter().filter(|record| record.refresh_id == *refresh).peekable();
        records.peek().is_some() && records.all(|record| !record.step.is_last())
    }

    pub(super) fn append(&mut self, mut record: RefreshRecord) {
        record.prev = self.log.last().map(RefreshRecord::digest);
        self.log.push(record);
    }

    /// Returns the newest refresh, if it has no last record.
    pub(super) fn open_refresh(&self) -> Option<Begun> {
        let newest = self.newest().filter(|newest| self.is_open(newest))?;
        let first = self.log.iter().find(|record| record.refresh_id == *newest)?;
        Some(Begun { refresh_id: newest.clone(), started_at: first.at })
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
pub(super) fn finish(state: &mut ArtifactState, page: &[u8], revision: Revision) {
    state.artifact.revision = revision;
    state.artifact.digests = Digests::of(state, page);
}
