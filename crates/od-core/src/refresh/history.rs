//! The history as one entry a refresh.

use super::{ChangeReport, CompactError, RecordConnector, RecordStatus, RecordStep, RefreshRecord};
use crate::ids::{RefreshId, Revision, Timestamp};

/// One refresh, folded from its records.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefreshEntry {
    /// Which refresh.
    pub refresh_id: RefreshId,
    /// How it stands.
    pub status: RecordStatus,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    pub duration_ms: Option<u64>,
    /// What ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector: Option<RecordConnector>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<CompactError>,
    /// What it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangeReport>,
    /// The revision it committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
}

/// Folds records, in the order they were written, into one entry a refresh, newest first.
#[must_use]
pub fn fold_history(records: &[RefreshRecord]) -> Vec<RefreshEntry> {
    let mut entries: Vec<RefreshEntry> = Vec::new();
    for record in records {
        // The records of one refresh stand together, but a rotated log may begin in the middle.
        let known = entries.iter_mut().rev().find(|entry| entry.refresh_id == record.refresh_id);
        match known {
            Some(entry) => entry.take(record),
            None => {
                let mut entry = RefreshEntry::begin(record);
                entry.take(record);
                entries.push(entry);
            }
        }
    }
    entries.sort_by(|a, b| b.refresh_id.cmp(&a.refresh_id));
    entries
}

/// Returns the refresh the records leave open: begun, and without a finished record.
#[must_use]
pub fn open_refresh(records: &[RefreshRecord]) -> Option<RefreshId> {
    let last = records.last()?;
    (!last.step.is_last()).then(|| last.refresh_id.clone())
}

impl RefreshEntry {
    fn begin(record: &RefreshRecord) -> Self {
        Self {
            refresh_id: record.refresh_id.clone(),
            status: RecordStatus::Running,
            started_at: record.at,
            finished_at: None,
            duration_ms: None,
            connector: None,
            error: None,
            changes: None,
            revision: None,
        }
    }

    fn take(&mut self, record: &RefreshRecord) {
        self.connector = record.connector.clone().or(self.connector.take());
        self.error = record.error.clone().or(self.error.take());
        match record.step {
            RecordStep::Started | RecordStep::Source => {}
            RecordStep::Committed | RecordStep::Failed => {
                self.status = record.status;
                self.finished_at = Some(record.at);
                self.duration_ms = record.duration_ms;
                self.changes = record.changes.clone();
                self.revision = record.revision;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(number: u64, step: RecordStep, status: RecordStatus, ms: i64) -> RefreshRecord {
        let at = Timestamp::from_unix_ms(ms);
        RefreshRecord::new(RefreshId::from_number(number), step, status, at)
    }

    #[test]
    fn records_become_entries_newest_first() {
        let records = [
            record(1, RecordStep::Started, RecordStatus::Running, 0),
            record(1, RecordStep::Source, RecordStatus::Succeeded, 1),
            record(1, RecordStep::Committed, RecordStatus::Succeeded, 2),
            record(2, RecordStep::Started, RecordStatus::Running, 3),
        ];
        let entries = fold_history(&records);
        let shown: Vec<_> =
            entries.iter().map(|entry| (entry.refresh_id.number(), entry.status)).collect();
        assert_eq!(shown, [(2, RecordStatus::Running), (1, RecordStatus::Succeeded)]);
        assert_eq!(open_refresh(&records), Some(RefreshId::from_number(2)));
        assert_eq!(open_refresh(&records[..3]), None);
        assert_eq!(open_refresh(&[]), None);
    }
}
