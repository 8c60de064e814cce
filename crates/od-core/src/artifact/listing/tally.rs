//! Artifacts of a list, counted: what is asked for far more often than it changes.

use crate::artifact::{ArtifactSummary, HealthState, RefreshStatus, Status};

/// Artifacts of a list, counted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ListTally {
    /// Those that were read, by health in the order of [`HealthState::ALL`].
    pub by_health: [usize; HealthState::ALL.len()],
    /// Those that are there and were not read yet.
    pub unread: usize,
    /// Those that are archived.
    pub archived: usize,
    /// Those whose last refresh failed.
    pub failed: usize,
}

impl ListTally {
    /// Returns the number of all artifacts.
    #[must_use]
    pub fn total(&self) -> usize {
        self.unread + self.by_health.iter().sum::<usize>()
    }

    /// Returns the number of those in a state of health.
    #[must_use]
    pub fn in_health(&self, state: HealthState) -> usize {
        let at = HealthState::ALL.iter().position(|known| *known == state);
        at.and_then(|at| self.by_health.get(at)).copied().unwrap_or_default()
    }

    /// Returns the number of those that were read and are not healthy.
    #[must_use]
    pub fn damaged(&self) -> usize {
        self.by_health.iter().sum::<usize>() - self.in_health(HealthState::Healthy)
    }

    /// Counts one more artifact.
    pub fn add(&mut self, summary: &ArtifactSummary) {
        self.change(summary, |count| *count += 1);
    }

    /// Counts one artifact less, that was counted before.
    pub fn take(&mut self, summary: &ArtifactSummary) {
        self.change(summary, |count| *count = count.saturating_sub(1));
    }

    fn change(&mut self, summary: &ArtifactSummary, step: impl Fn(&mut usize)) {
        for (state, count) in HealthState::ALL.iter().zip(&mut self.by_health) {
            if *state == summary.health.state {
                step(count);
            }
        }
        if summary.heading.status == Status::Archived {
            step(&mut self.archived);
        }
        if summary.refresh_status == RefreshStatus::Failed {
            step(&mut self.failed);
        }
    }

    /// Counts the artifacts of another list, too.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.by_health.iter_mut().zip(other.by_health) {
            *count += more;
        }
        self.unread += other.unread;
        self.archived += other.archived;
        self.failed += other.failed;
    }
}
