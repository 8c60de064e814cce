//! What the records of a log come to: all the store needs of them, in constant space.

use od_core::artifact::RefreshStatus;
use od_core::ids::{ArtifactId, RefreshId, Timestamp};
use od_core::refresh::{Begun, RecordStatus, RefreshRecord};

use super::locks;
use crate::disk::{Dir, DiskError};

/// The records of a log, folded.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct LogView {
    /// How many records the present file has.
    pub(crate) records: usize,
    newest: Option<RefreshId>,
    /// Refreshes that have begun and have no last record, oldest first.
    open: Vec<Begun>,
    /// How the last refresh that is over ended.
    status: Option<RefreshStatus>,
    last_refreshed_at: Option<Timestamp>,
}

impl LogView {
    /// Takes the next record in.
    pub(crate) fn take(&mut self, record: &RefreshRecord) {
        self.records += 1;
        let id = &record.refresh_id;
        let is_newest = self.newest.as_ref().is_none_or(|newest| newest <= id);
        if is_newest {
            self.newest = Some(id.clone());
        }
        if !record.step.is_last() {
            if !self.is_open(id) {
                self.open.push(Begun { refresh_id: id.clone(), started_at: record.at });
            }
            return;
        }
        self.open.retain(|begun| begun.refresh_id != *id);
        // Closing an old one late says nothing of how the artifact's refreshes stand.
        if !is_newest {
            return;
        }
        self.status = record.outcome().or(self.status);
        if record.status == RecordStatus::Succeeded {
            self.last_refreshed_at = Some(record.at);
        }
    }

    /// Returns what is known at the beginning of the file after this one.
    pub(crate) fn continued(self) -> Self {
        Self { records: 0, ..self }
    }

    /// Returns the newest refresh id, if there is any.
    pub(crate) const fn newest(&self) -> Option<&RefreshId> {
        self.newest.as_ref()
    }

    /// Returns every refresh that has begun and has no last record.
    pub(crate) fn open(&self) -> &[Begun] {
        &self.open
    }

    /// Tells whether a refresh has begun and has no last record.
    pub(crate) fn is_open(&self, refresh: &RefreshId) -> bool {
        self.open.iter().any(|begun| begun.refresh_id == *refresh)
    }

    /// Tells whether a refresh is over. Ids only grow, so one before the newest has begun too.
    pub(crate) fn has_ended(&self, refresh: &RefreshId) -> bool {
        self.newest.as_ref().is_some_and(|newest| refresh <= newest) && !self.is_open(refresh)
    }

    /// Returns the newest refresh if it is open.
    pub(crate) fn running(&self) -> Option<&Begun> {
        self.open.last().filter(|begun| Some(&begun.refresh_id) == self.newest.as_ref())
    }

    /// Sets the derived fields of an artifact; what the log does not say stays as committed.
    pub(crate) fn apply(
        &self,
        live: &Dir,
        id: &ArtifactId,
        refresh_status: &mut RefreshStatus,
        last_refreshed_at: &mut Option<Timestamp>,
    ) -> Result<(), DiskError> {
        if self.running().is_some() {
            // A free lock means that whoever ran it is gone.
            let runs = locks::is_running(live, id)?;
            *refresh_status = if runs { RefreshStatus::Running } else { RefreshStatus::Failed };
        } else if let Some(status) = self.status {
            *refresh_status = status;
        }
        if self.last_refreshed_at.is_some() {
            *last_refreshed_at = self.last_refreshed_at;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use od_core::refresh::RecordStep;

    use super::*;

    fn record(number: u64, status: RecordStatus, ms: i64) -> RefreshRecord {
        let step = match status {
            RecordStatus::Running => RecordStep::Started,
            RecordStatus::Succeeded
            | RecordStatus::Failed
            | RecordStatus::Cancelled
            | RecordStatus::TimedOut
            | RecordStatus::Abandoned => RecordStep::last(status),
        };
        let at = Timestamp::from_unix_ms(ms);
        RefreshRecord::new(RefreshId::from_number(number), step, status, at)
    }

    #[test]
    fn a_cancelled_refresh_leaves_the_status_as_it_was() {
        let mut view = LogView::default();
        view.take(&record(1, RecordStatus::Running, 0));
        view.take(&record(1, RecordStatus::Cancelled, 10));
        assert_eq!(view.status, None, "nothing has failed and nothing has succeeded");
        for (number, ends, status) in [
            (2, RecordStatus::Succeeded, RefreshStatus::Succeeded),
            (4, RecordStatus::TimedOut, RefreshStatus::Failed),
        ] {
            view.take(&record(number, ends, 20));
            view.take(&record(number + 1, RecordStatus::Cancelled, 30));
            assert_eq!(view.status, Some(status));
            assert!(view.has_ended(&RefreshId::from_number(number + 1)));
        }
    }

    #[test]
    fn an_old_refresh_that_is_closed_late_changes_nothing_but_itself() {
        let mut view = LogView::default();
        for (number, status, ms) in [
            (1, RecordStatus::Running, 0),
            (2, RecordStatus::Running, 10),
            (2, RecordStatus::Succeeded, 20),
        ] {
            view.take(&record(number, status, ms));
        }
        assert_eq!(view.open().len(), 1);
        assert_eq!(view.running(), None, "the newest is over");
        assert!(view.has_ended(&RefreshId::from_number(2)));
        assert!(!view.has_ended(&RefreshId::from_number(1)));
        let before = view.clone();
        view.take(&record(1, RecordStatus::Abandoned, 30));
        assert_eq!(
            (view.status, view.last_refreshed_at),
            (before.status, before.last_refreshed_at)
        );
        assert!(view.open().is_empty());
        assert!(!view.has_ended(&RefreshId::from_number(3)), "what never began has not ended");
    }
}
