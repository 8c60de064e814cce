//! Create and commit: who may write, and what is written.

use std::sync::Arc;

use od_core::artifact::{Artifact, ArtifactState, Attempt, Health, HealthReason};
use od_core::decide::Decision;
use od_core::ids::{ArtifactId, Digest, ProjectId};
use od_core::json::BoundedObject;
use od_core::ledger::{
    CommitNote, EarlierAttempt, Maker, check_revision, find_earlier, next_revision,
};
use od_ports::store::{Change, Created, Gate, PageKey, StoreError, Stored};

use super::checkpoint::CheckpointQueue;
use super::generation::{self, Continued, Generation};
use super::locks::{self, HeldCommit, StoreIdentity};
use super::pointer::{POINTER_BYTES_MAX, POINTER_FILE, Pointer};
use super::roll_forward::WrittenCopies;
use super::{protocol, roll_forward};
use crate::artifacts::dirs::{busy, not_found, open_artifact};
use crate::artifacts::history::AuditLog;
use crate::artifacts::read::{ArtifactReader, Validity, reason_of};
use crate::artifacts::trash;
use crate::data_dir::STAGING;
use crate::disk::{Dir, FileLock};

/// Creates artifacts and commits their revisions.
#[derive(Debug)]
pub(crate) struct CommitLog {
    reader: Arc<ArtifactReader>,
    queue: Arc<CheckpointQueue>,
    /// Distinguishes locks of this store from those of another in the same process.
    store: StoreIdentity,
}

/// A commit that is durable and acknowledged, and whose visible copies are still to be written.
#[derive(Debug)]
pub(crate) enum UnwrittenCopies {
    /// Of a new artifact, whose lock nobody has taken yet.
    First { project: ProjectId, artifact: ArtifactId, generation: Box<Generation> },
    /// Of an artifact whose lock is held from before the commit until this is dropped: between the two
    /// nobody reads the copies before it as edits, or commits on top of it.
    Next {
        project: ProjectId,
        artifact: ArtifactId,
        dir: Dir,
        generation: Box<Generation>,
        _lock: Arc<FileLock>,
    },
}

impl CommitLog {
    pub(crate) const fn new(
        reader: Arc<ArtifactReader>,
        queue: Arc<CheckpointQueue>,
        store: StoreIdentity,
    ) -> Self {
        Self { reader, queue, store }
    }

    /// Makes an artifact durable.
    pub(crate) fn create(
        &self,
        new: Decision,
        note: CommitNote,
    ) -> Result<(Created, Option<UnwrittenCopies>), StoreError> {
        let Decision { state, page, .. } = new;
        let (id, project) = (state.artifact.id.clone(), state.artifact.project_id.clone());
        let live = self.reader.dirs.live_or_make(&project)?;
        let attempt = state.artifact.created_by_attempt.clone();
        // One lock for all attempts of a project, taken before the search and kept until the rename:
        // of two creates with one attempt the second finds what the first made.
        let _attempts = match &attempt {
            Some(_) => Some(locks::attempts(&live)?.ok_or_else(|| busy(&id))?),
            None => None,
        };
        if let Some(attempt) = &attempt
            && let Some(stored) = self.earlier_attempt(&live, &project, attempt)?
        {
            return Ok((Created::Replayed(stored), None));
        }
        let staging = live.child_or_make(STAGING)?;
        // Shared with other creates: start-up clears `.staging` only while it has it alone.
        let _staging = locks::staging_shared(&staging)?.ok_or_else(|| busy(&id))?;
        let grants = self.reader.grants();
        let (state, generation) =
            generation::build(state, &page, note, None, Continued::nothing(), grants)?;
        protocol::commit_first(&live, &staging, &id, &generation).map_err(|err| {
            if err.source.kind() == std::io::ErrorKind::AlreadyExists {
                StoreError::Exists { artifact: id.clone() }
            } else {
                err.into()
            }
        })?;
        let stored = committed(&project, state);
        let generation = Box::new(generation);
        let copies = UnwrittenCopies::First { project, artifact: id, generation };
        Ok((Created::Fresh(stored), Some(copies)))
    }

    /// Returns what an attempt made before; without its lock, since one that is made at this moment is
    /// found by `create`.
    pub(crate) fn find_attempt(
        &self,
        project: &ProjectId,
        attempt: &Attempt,
    ) -> Result<Option<Arc<Stored>>, StoreError> {
        match self.reader.dirs.live(project)? {
            Some(live) => self.earlier_attempt(&live, project, attempt),
            None => Ok(None),
        }
    }

    /// Returns what an attempt made before, or why it may not be made again.
    fn earlier_attempt(
        &self,
        live: &Dir,
        project: &ProjectId,
        attempt: &Attempt,
    ) -> Result<Option<Arc<Stored>>, StoreError> {
        let made = self.reader.list_entries(project)?.into_iter().map(|(artifact, entry)| {
            let maker = match entry.validity {
                Validity::ThisAnswer if entry.attempt.is_none() => Maker::Unreadable,
                Validity::ThisAnswer | Validity::UntilChanged | Validity::WhileRefreshOpen => {
                    Maker::known(entry.attempt)
                }
            };
            (artifact, maker)
        });
        let attempted = attempt.id.clone();
        match find_earlier(attempt, made, || trash::attempts(live))? {
            EarlierAttempt::Nothing => Ok(None),
            EarlierAttempt::SameRequest(artifact) => {
                // Whoever made it may have been killed between the rename and the sync after it: what
                // is answered here is acknowledged, so it has to be durable.
                live.sync()?;
                self.reader.load(project, &artifact).map(Some)
            }
            EarlierAttempt::OtherRequest(artifact) => {
                Err(StoreError::AttemptConflict { attempt: attempted, artifact })
            }
            EarlierAttempt::Trashed(artifact) => {
                Err(StoreError::AttemptTrashed { attempt: attempted, artifact })
            }
            EarlierAttempt::Unreadable(artifact) => {
                let message = format!("artifact `{artifact}` cannot be read; repair or delete it");
                let source = std::io::Error::other(message);
                Err(StoreError::Io { action: "look for an earlier attempt", source })
            }
        }
    }

    /// Takes the commit lock, finishes what a crashed holder left, and checks health.
    pub(crate) fn open_gate(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Gate, StoreError> {
        // Opened before the lock is taken: lock files are never removed, and one for every id that
        // somebody guesses would fill the disk.
        let (live, _) = self.reader.dirs.artifact(project, artifact)?;
        let lock = locks::commit_or_busy(&live, artifact)?;
        // And once more under the lock: it may have been deleted while we waited.
        let dir = open_artifact(&live, artifact)?.ok_or_else(|| not_found(project, artifact))?;
        let believed = WrittenCopies::Believed;
        if let Err(err) = self.reader.finish(&dir, project, artifact, &self.queue, believed) {
            // No retry gets past an obstacle: the refusal has to name the repair, not the disk.
            let health = self.reader.load(project, artifact)?.health;
            if health.reason == Some(HealthReason::Obstructed) {
                return Err(StoreError::NotHealthy { artifact: artifact.clone(), health });
            }
            return Err(err.into());
        }
        let stored = self.reader.cached_or_load(project, artifact)?;
        let held = HeldCommit { lock: Arc::new(lock), store: self.store };
        Gate::open(project.clone(), artifact.clone(), Box::new(held), stored)
    }

    /// Returns the lock behind a gate if it is one of this store.
    pub(crate) fn own_lock(&self, lock: &dyn std::any::Any) -> Option<HeldCommit> {
        lock.downcast_ref::<HeldCommit>().filter(|held| held.store == self.store).cloned()
    }

    /// Makes the next revision durable.
    pub(crate) fn commit(
        &self,
        before: &Stored,
        change: Change,
        held: &HeldCommit,
    ) -> Result<(Arc<Stored>, Option<UnwrittenCopies>), StoreError> {
        let (project, id) = (&before.project, &before.id);
        let (_, dir) = self.reader.dirs.artifact(project, id)?;
        // Read again although the lock is held: a gate is used up by its commit, and its own state says
        // nothing of that.
        let pointer = current_pointer(&dir, project, id, before.health)?;
        let pointer = pointer.checked(self.reader.grants());
        let actual = pointer.artifact.revision;
        check_revision(change.expected, actual)
            .map_err(|conflict| StoreError::revision_conflict(id, conflict))?;
        let log = AuditLog::read(&dir)?;
        if let Some(record) = &change.refresh {
            // The pointer too: the record of the last commit may still be in its frame, where the log
            // does not know of it.
            log.ledger
                .admit_commit(&record.refresh_id, pointer.store.last_refresh.as_ref())
                .map_err(|closed| StoreError::refresh_closed(id, closed))?;
        }
        let refresh_id = change.refresh.as_ref().map(|record| record.refresh_id.clone());
        let continued = Continued {
            revision: next_revision([actual]),
            last_refresh: refresh_id.or_else(|| pointer.store.last_refresh.clone()),
            before: Some(pointer.artifact.clone()),
            unsynced: log.unsynced_steps().to_vec(),
            log_end: log.chain_end(),
            data: committed_data(before, &pointer.artifact),
        };
        let Change { state, page, note, refresh, .. } = change;
        let grants = self.reader.grants();
        let (state, mut generation) =
            generation::build(state, &page, note, refresh, continued, grants)?;
        generation.replaces =
            generation::replaceable(before, &pointer.artifact.digests, &state.artifact.digests);
        protocol::commit_next(&dir, &generation)?;
        let copies = UnwrittenCopies::Next {
            project: project.clone(),
            artifact: id.clone(),
            dir,
            generation: Box::new(generation),
            _lock: Arc::clone(&held.lock),
        };
        Ok((committed(project, state), Some(copies)))
    }

    /// Writes the visible copies of a durable commit. What fails here is done by the next holder of the
    /// lock, or by the checkpoint that is queued in any case.
    pub(crate) fn write_copies(&self, copies: UnwrittenCopies) {
        match copies {
            UnwrittenCopies::First { project, artifact, generation } => {
                let _ = self.write_first_copies(&project, &artifact, &generation);
                self.queue.add(&project, &artifact);
            }
            UnwrittenCopies::Next { project, artifact, dir, generation, _lock } => {
                let _ = roll_forward::write_copies(&dir, &generation);
                self.queue.add(&project, &artifact);
            }
        }
    }

    /// Writes the copies of a new artifact. Whoever comes to it first does this, and may have changed
    /// or deleted it since: so it is a recovery, under the lock, of whatever is there now.
    fn write_first_copies(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        generation: &Generation,
    ) -> Result<(), StoreError> {
        let Some(live) = self.reader.dirs.live(project)? else { return Ok(()) };
        let Some(_lock) = locks::commit(&live, artifact, locks::CLEARING_TIMEOUT)? else {
            return Ok(());
        };
        match open_artifact(&live, artifact)? {
            Some(dir) => Ok(roll_forward::write_first_copies(&dir, generation)?),
            None => Ok(()),
        }
    }
}

/// Returns the data of a gate's state with its digest, if it is what the pointer names.
fn committed_data(before: &Stored, committed: &Artifact) -> Option<(BoundedObject, Digest)> {
    let is_committed = before.drift.is_empty() && before.revision() == Some(committed.revision);
    let state = before.state.as_ref().filter(|_| is_committed)?;
    Some((state.data.clone(), committed.digests.data.content.clone()))
}

fn current_pointer(
    dir: &Dir,
    project: &ProjectId,
    id: &ArtifactId,
    health: Health,
) -> Result<Pointer, StoreError> {
    let bytes = dir
        .read_if_there(POINTER_FILE, POINTER_BYTES_MAX)?
        .ok_or_else(|| not_found(project, id))?;
    Pointer::decode(&bytes).map_err(|fault| StoreError::NotHealthy {
        artifact: id.clone(),
        health: Health { reason: Some(reason_of(&fault)), ..health },
    })
}

/// Builds what a reader would see of a state that was just committed.
fn committed(project: &ProjectId, state: ArtifactState) -> Arc<Stored> {
    let digests = &state.artifact.digests;
    let page_key = PageKey {
        template: digests.template.raw.clone(),
        data: digests.data.raw.clone(),
        provenance: digests.provenance.raw.clone(),
    };
    Arc::new(Stored {
        id: state.artifact.id.clone(),
        project: project.clone(),
        summary: Arc::new(state.artifact.summary(Health::HEALTHY)),
        health: Health::HEALTHY,
        drift: Vec::new(),
        committed_data: None,
        kept_aside: Vec::new(),
        page_key: Some(page_key),
        state: Some(Arc::new(state)),
        last_page: None,
    })
}
