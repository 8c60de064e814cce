//! The ports of one store, as the suites use them together.

use std::sync::Arc;

use od_core::artifact::RefreshStatus;
use od_core::ids::{ArtifactId, ProjectId, RefreshId, Revision};
use od_core::ledger::CommitKind;
use od_core::refresh::{RecordStatus, RecordStep, RefreshRecord};

use super::{
    check_artifact_store, check_refresh_log, check_revision_store, check_store_maintenance,
    check_trash,
};
use crate::contract::sample;
use crate::store::{
    ArtifactStore, Change, RefreshLog, RevisionStore, StoreError, StoreMaintenance, Stored, Trash,
};

/// One store behind its five ports, and an empty project in it.
#[derive(Clone, Copy, Debug)]
pub struct StoreTrial<'a> {
    /// The artifacts.
    pub artifacts: &'a dyn ArtifactStore,
    /// The log of their refreshes.
    pub refresh_log: &'a dyn RefreshLog,
    /// Their earlier states.
    pub revisions: &'a dyn RevisionStore,
    /// The trash.
    pub trash: &'a dyn Trash,
    /// Verify, repair, recovery.
    pub maintenance: &'a dyn StoreMaintenance,
    /// A project that the suites may fill.
    pub project: &'a ProjectId,
}

/// Puts a store with one empty project through the contracts of its five ports.
///
/// # Panics
///
/// When the store breaks one of them.
pub async fn check_store(trial: &StoreTrial<'_>) {
    // The first one wants an empty project, the others bring their own artifacts.
    check_artifact_store(trial).await;
    check_refresh_log(trial).await;
    check_revision_store(trial).await;
    check_trash(trial).await;
    check_store_maintenance(trial).await;
}

impl<'a> StoreTrial<'a> {
    /// Returns the trial of a value that is all five ports.
    pub fn of<S>(store: &'a S, project: &'a ProjectId) -> Self
    where
        S: ArtifactStore + RefreshLog + RevisionStore + StoreMaintenance + Trash,
    {
        Self {
            artifacts: store,
            refresh_log: store,
            revisions: store,
            trash: store,
            maintenance: store,
            project,
        }
    }

    pub(super) async fn create(&self, number: u32, title: &str) -> ArtifactId {
        let id = sample::id(number);
        let new = sample::new(self.project, &id, title);
        self.artifacts.create(new, sample::note(CommitKind::Create)).await.expect("a create works");
        id
    }

    pub(super) async fn load(&self, id: &ArtifactId) -> Arc<Stored> {
        self.artifacts.load(self.project, id).await.expect("the artifact can be read")
    }

    pub(super) async fn title(&self, id: &ArtifactId) -> String {
        title(self.load(id).await.as_ref())
    }

    pub(super) async fn status(&self, id: &ArtifactId) -> RefreshStatus {
        self.load(id).await.summary.refresh_status
    }

    /// Commits another title, made for `expected` or else for the revision that is there.
    pub(super) async fn update(
        &self,
        id: &ArtifactId,
        expected: Option<Revision>,
        title: &str,
    ) -> Result<Arc<Stored>, StoreError> {
        self.commit(id, title, |change| change.expected = expected.unwrap_or(change.expected)).await
    }

    /// Commits another title as what a refresh brought.
    pub(super) async fn commit_refresh(
        &self,
        id: &ArtifactId,
        refresh: &RefreshId,
        title: &str,
    ) -> Result<Arc<Stored>, StoreError> {
        let last = record(refresh, RecordStep::Committed, RecordStatus::Succeeded);
        self.commit(id, title, |change| {
            change.refresh = Some(last);
            change.note.kind = CommitKind::Refresh;
        })
        .await
    }

    pub(super) async fn commit(
        &self,
        id: &ArtifactId,
        title: &str,
        adjust: impl FnOnce(&mut Change),
    ) -> Result<Arc<Stored>, StoreError> {
        let gate = self.artifacts.open_gate(self.project, id).await?;
        let state = gate.stored().state.clone().expect("a gate has a state");
        let mut change = sample::change(&state, title);
        adjust(&mut change);
        self.artifacts.commit(&gate.witness(), change).await
    }
}

/// Returns the title of an artifact, after a look at whether its parts are of one generation.
pub(super) fn title(stored: &Stored) -> String {
    let state = stored.state.as_ref().expect("the artifact has a state");
    assert_eq!(
        state.data.value()["title"].as_str(),
        Some(state.artifact.heading.title.as_str()),
        "data and metadata are of one generation"
    );
    state.artifact.heading.title.clone()
}

pub(super) fn record(id: &RefreshId, step: RecordStep, status: RecordStatus) -> RefreshRecord {
    RefreshRecord::new(id.clone(), step, status, sample::now())
}
