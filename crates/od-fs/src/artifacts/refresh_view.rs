//! `refreshStatus` and `lastRefreshedAt`, derived from lock and log.

use od_core::artifact::{Artifact, RefreshStatus};
use od_core::ids::{ArtifactId, RefreshId, Timestamp};
use od_core::refresh::RefreshRecord;

use super::audit_log::{AuditLog, is_success, is_terminal};
use super::locks;
use crate::disk::{Dir, DiskError};

/// What lock and log say of an artifact's refreshes.
#[derive(Clone, Debug, Default)]
pub(crate) struct RefreshView {
    /// The refresh that has no terminal record.
    pub(crate) open: Option<RefreshId>,
    status: Option<RefreshStatus>,
    last_refreshed_at: Option<Timestamp>,
}

impl RefreshView {
    /// Derives it; `unplaced` is the record of a commit that is not in the log yet.
    pub(crate) fn derive(
        live: &Dir,
        id: &ArtifactId,
        log: &AuditLog,
        unplaced: Option<&[u8]>,
    ) -> Result<Self, DiskError> {
        let unplaced: Option<RefreshRecord> =
            unplaced.and_then(|line| serde_json::from_slice(line).ok());
        let mut view = Self::default();
        for record in log.records.iter().chain(&unplaced) {
            view.take(record);
        }
        if view.open.is_some() {
            // A free lock means that whoever ran it is gone.
            let running = locks::is_running(live, id)?;
            view.status =
                Some(if running { RefreshStatus::Running } else { RefreshStatus::Failed });
        }
        Ok(view)
    }

    fn take(&mut self, record: &RefreshRecord) {
        let is_older = self.open.as_ref().is_some_and(|open| record.refresh_id < *open);
        if is_older {
            return;
        }
        if !is_terminal(record) {
            self.open = Some(record.refresh_id.clone());
            return;
        }
        self.open = None;
        if is_success(record) {
            self.status = Some(RefreshStatus::Succeeded);
            self.last_refreshed_at = Some(record.at);
        } else {
            self.status = Some(RefreshStatus::Failed);
        }
    }

    /// Sets the derived fields of an artifact; what the log does not say stays as committed.
    pub(crate) fn apply(&self, artifact: &mut Artifact) {
        if let Some(status) = self.status {
            artifact.refresh_status = status;
        }
        if self.last_refreshed_at.is_some() {
            artifact.last_refreshed_at = self.last_refreshed_at;
        }
    }
}
