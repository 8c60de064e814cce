//! Create and commit.

use std::sync::Arc;

use od_core::artifact::{ArtifactState, Attempt, Health};
use od_core::ids::{ArtifactId, ProjectId};
use od_core::ledger::{EarlierAttempt, Maker, check_revision, find_earlier, next_revision};
use od_core::refresh::RefreshRecord;
use od_ports::store::{Change, Created, Gate, NewArtifact, PageKey, StoreError, Stored};

use super::audit_log::AuditLog;
use super::build::{self, Draft};
use super::entries::Lasts;
use super::generation::{Generation, RefreshPart};
use super::locks::{self, HeldCommit};
use super::pointer::{POINTER_BYTES_MAX, POINTER_FILE, Pointer};
use super::shared::{Shared, busy, not_found};
use super::{commit, read, roll, trash};
use crate::data_dir::STAGING;
use crate::disk::{Dir, FileLock};

/// A commit that is durable, and whose visible copies are to be written.
#[derive(Debug)]
pub(crate) struct Placing {
    project: ProjectId,
    artifact: ArtifactId,
    commit: DurableCommit,
}

#[derive(Debug)]
enum DurableCommit {
    /// Of a new artifact, whose lock nobody has taken yet.
    First,
    /// Of an artifact whose lock is held from before the commit until this is dropped.
    Next { dir: Dir, generation: Box<Generation>, _lock: Arc<FileLock> },
}

impl Shared {
    /// Writes the visible copies of a durable commit. What fails here is done by the next holder.
    pub(crate) fn place(&self, placing: Placing) {
        let Placing { project, artifact, commit } = placing;
        let _ = match commit {
            DurableCommit::First => self.place_first(&project, &artifact),
            DurableCommit::Next { dir, generation, _lock } => {
                roll::place(&dir, &generation).map_err(StoreError::from)
            }
        };
        // Settling comes back to what could not be placed.
        self.backlog.add(&project, &artifact);
    }

    /// Whoever comes first to a new artifact places it, and may have changed or deleted it since.
    fn place_first(&self, project: &ProjectId, artifact: &ArtifactId) -> Result<(), StoreError> {
        let Some(live) = self.live_if_there(project)? else { return Ok(()) };
        let Some(_lock) = locks::commit(&live, artifact, locks::CLEARING_PATIENCE)? else {
            return Ok(());
        };
        match read::open(&live, artifact)? {
            Some(dir) => {
                roll::recover(&dir)?;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Makes an artifact durable.
    pub(crate) fn create(
        &self,
        new: NewArtifact,
    ) -> Result<(Created, Option<Placing>), StoreError> {
        let NewArtifact { project, state, page } = new;
        let id = state.artifact.id.clone();
        let live = self.live(&project)?;
        let attempt = state.artifact.created_by_attempt.clone();
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
        let _staging = locks::staging_shared(&staging)?.ok_or_else(|| busy(&id))?;
        let draft =
            Draft { state, page, revision: next_revision([]), last_refresh: None, refresh: None };
        let (state, generation) = build::generation(draft)?;
        commit::first_generation(&live, &staging, &id, &generation).map_err(|err| {
            if err.source.kind() == std::io::ErrorKind::AlreadyExists {
                StoreError::Exists { artifact: id.clone() }
            } else {
                err.into()
            }
        })?;
        let stored = committed(&project, state);
        let placing = Placing { project, artifact: id, commit: DurableCommit::First };
        Ok((Created::Fresh(stored), Some(placing)))
    }

    /// Returns what an attempt made before; without its lock, for one that is made at this moment is
    /// found by `create`.
    pub(crate) fn find_attempt(
        &self,
        project: &ProjectId,
        attempt: &Attempt,
    ) -> Result<Option<Arc<Stored>>, StoreError> {
        match self.live_if_there(project)? {
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
        let made = self.lights(project)?.into_iter().map(|(artifact, light)| {
            let maker = match light.lasts {
                Lasts::ForThisAnswer if light.attempt.is_none() => Maker::Unreadable,
                Lasts::ForThisAnswer | Lasts::UntilAChange | Lasts::WhileARefreshRuns => {
                    Maker::known(light.attempt)
                }
            };
            (artifact, maker)
        });
        let attempted = attempt.id.clone();
        match find_earlier(attempt, made, || trash::attempts(live))? {
            EarlierAttempt::Nothing => Ok(None),
            EarlierAttempt::SameRequest(artifact) => {
                // It may have ended, or been ended, just before its last sync.
                live.sync()?;
                self.load(project, &artifact).map(Some)
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
        let Some(live) = self.live_if_there(project)? else {
            return Err(not_found(project, artifact));
        };
        // Locks are made for ids that exist; a lock file for every guess would fill the disk.
        if read::open(&live, artifact)?.is_none() {
            return Err(not_found(project, artifact));
        }
        let lock = self.lock(&live, artifact)?;
        let Some(dir) = read::open(&live, artifact)? else {
            return Err(not_found(project, artifact));
        };
        self.finish(&dir, project, artifact)?;
        let stored = match self.cached(project, artifact)? {
            Some(stored) => stored,
            None => self.load(project, artifact)?,
        };
        let held = HeldCommit { lock: Arc::new(lock), store: self.store };
        Gate::open(project.clone(), artifact.clone(), Box::new(held), stored)
    }

    /// Makes the next revision durable.
    pub(crate) fn commit(
        &self,
        before: &Stored,
        change: Change,
        held: &HeldCommit,
    ) -> Result<(Arc<Stored>, Option<Placing>), StoreError> {
        let (project, id) = (&before.project, &before.id);
        let live = self.live(project)?;
        let dir = read::open(&live, id)?.ok_or_else(|| not_found(project, id))?;
        let pointer = current_pointer(&dir, project, id, before.health)?;
        let actual = pointer.artifact.revision;
        check_revision(change.expected, actual)
            .map_err(|conflict| StoreError::revision_conflict(id, conflict))?;
        let refresh = match change.refresh {
            Some(record) => Some(refresh_part(&dir, id, &pointer, record)?),
            None => None,
        };
        let last_refresh = refresh
            .as_ref()
            .map(|refresh| refresh.id.clone())
            .or_else(|| pointer.store.last_refresh.clone());
        let draft = Draft {
            state: change.state,
            page: change.page,
            revision: next_revision([actual]),
            last_refresh,
            refresh,
        };
        let (state, mut generation) = build::generation(draft)?;
        generation.replaces =
            build::replaces(before, &pointer.artifact.digests, &state.artifact.digests);
        commit::next_generation(&dir, &generation)?;
        let commit = DurableCommit::Next {
            dir,
            generation: Box::new(generation),
            _lock: Arc::clone(&held.lock),
        };
        let placing = Placing { project: project.clone(), artifact: id.clone(), commit };
        Ok((committed(project, state), Some(placing)))
    }
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
        health: Health { reason: Some(read::reason(&fault)), ..health },
    })
}

/// Checks that a refresh may still write, and continues the chain with its record.
fn refresh_part(
    dir: &Dir,
    id: &ArtifactId,
    pointer: &Pointer,
    mut record: RefreshRecord,
) -> Result<RefreshPart, StoreError> {
    let log = AuditLog::read(dir)?;
    let refresh = record.refresh_id.clone();
    log.ledger
        .admit_commit(&refresh, pointer.store.last_refresh.as_ref())
        .map_err(|closed| StoreError::refresh_closed(id, closed))?;
    record.prev = log.chain_end();
    let steps = log.unsynced_steps().to_vec();
    Ok(RefreshPart { id: refresh, steps, audit_line: record.to_line() })
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
        kept_aside: Vec::new(),
        page_key: Some(page_key),
        state: Some(Arc::new(state)),
        last_page: None,
    })
}
