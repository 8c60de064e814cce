//! Deleted artifacts: moved, kept for a week, brought back by moving.

use std::sync::Arc;

use od_core::artifact::{Health, HealthReason, HealthState};
use od_core::ids::{ArtifactId, AttemptId, ProjectId, Revision, Timestamp};
use od_core::ledger::{check_revision, is_trash_expired, trash_expires_at};
use od_ports::store::{StoreError, Stored, Trashed};
use od_ports::system::Clock;

use super::commit::checkpoint::CheckpointQueue;
use super::commit::roll_forward::WrittenCopies;
use super::commit::{Pointer, locks};
use super::dirs::{not_found, open_artifact};
use super::read::{ArtifactReader, newest_generation};
use crate::data_dir::TRASH;
use crate::disk::{Dir, DiskError, EntryKind, is_damage};

/// Begins the name of a deleted artifact while it is removed for good. No id does.
const PURGING: &str = ".purging-";

/// Moves artifacts to the trash and back.
#[derive(Debug)]
pub(crate) struct TrashBin {
    reader: Arc<ArtifactReader>,
    queue: Arc<CheckpointQueue>,
    clock: Arc<dyn Clock>,
}

impl TrashBin {
    pub(crate) fn new(
        reader: Arc<ArtifactReader>,
        queue: Arc<CheckpointQueue>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { reader, queue, clock }
    }

    /// Moves an artifact to the trash.
    pub(crate) fn delete(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        if_revision: Option<Revision>,
    ) -> Result<Trashed, StoreError> {
        let (live, _) = self.reader.dirs.artifact(project, artifact)?;
        let _lock = locks::commit_or_busy(&live, artifact)?;
        let dir = open_artifact(&live, artifact)?.ok_or_else(|| not_found(project, artifact))?;
        let pointer = known_pointer(&dir)?;
        if let Some(expected) = if_revision {
            check_pointer(artifact, expected, pointer.as_ref())?;
        }
        let trash = live.child_or_make(TRASH)?;
        let deleted_at = self.clock.now();
        let name = format!("{artifact}.{}", deleted_at.unix_ms());
        live.rename_new(artifact.as_str(), &trash, &name)?;
        // Where it is now before where it is no more: after a loss of power between the two it is in
        // one of the directories at least.
        trash.sync()?;
        live.sync()?;
        self.reader.forget(project, artifact);
        // The delete is done; old trash that cannot be removed now is removed another time.
        let _ = purge(&trash, deleted_at);
        let title = pointer.map(|pointer| pointer.artifact.heading.title);
        Ok(trashed(artifact.clone(), deleted_at, title))
    }

    /// Brings an artifact back.
    pub(crate) fn restore(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Arc<Stored>, StoreError> {
        let missing =
            || StoreError::NotInTrash { project: project.clone(), artifact: artifact.clone() };
        let Some(live) = self.reader.dirs.live(project)? else { return Err(missing()) };
        let newest = |trash: &Dir| -> Result<Option<String>, DiskError> {
            let found = entries(trash)?.into_iter().filter(|entry| entry.artifact == *artifact);
            Ok(found.max_by_key(|entry| entry.deleted_at).map(|entry| entry.name))
        };
        let trash = live.child_or_make(TRASH)?;
        if newest(&trash)?.is_none() {
            return Err(missing());
        }
        let _lock = locks::commit_or_busy(&live, artifact)?;
        let name = newest(&trash)?.ok_or_else(missing)?;
        trash.rename_new(&name, &live, artifact.as_str()).map_err(|err| {
            if err.source.kind() == std::io::ErrorKind::AlreadyExists {
                StoreError::Exists { artifact: artifact.clone() }
            } else {
                err.into()
            }
        })?;
        live.sync()?;
        trash.sync()?;
        let dir = live.child(artifact.as_str())?;
        self.reader.finish(&dir, project, artifact, &self.queue, WrittenCopies::Checked)?;
        self.reader.load(project, artifact)
    }

    /// Lists the trash of a project.
    pub(crate) fn list(&self, project: &ProjectId) -> Result<Vec<Trashed>, StoreError> {
        let Some(live) = self.reader.dirs.live(project)? else { return Ok(Vec::new()) };
        let Some(trash) = open(&live)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for entry in entries(&trash)? {
            let title = match trash.child(&entry.name) {
                Ok(dir) => known_pointer(&dir)?.map(|pointer| pointer.artifact.heading.title),
                Err(_) => None,
            };
            found.push(trashed(entry.artifact, entry.deleted_at, title));
        }
        found.sort_by_key(|trashed| std::cmp::Reverse(trashed.deleted_at));
        Ok(found)
    }

    /// Removes what was deleted too long ago.
    pub(crate) fn purge(&self, live: &Dir) -> Result<(), StoreError> {
        match open(live)? {
            Some(trash) => Ok(purge(&trash, self.clock.now())?),
            None => Ok(()),
        }
    }
}

/// Checks that an artifact is at a revision; one whose revision cannot be read is at none.
fn check_pointer(
    artifact: &ArtifactId,
    expected: Revision,
    pointer: Option<&Pointer>,
) -> Result<(), StoreError> {
    let artifact = artifact.clone();
    match pointer.map(|pointer| pointer.artifact.revision) {
        Some(actual) => check_revision(expected, actual)
            .map_err(|conflict| StoreError::revision_conflict(&artifact, conflict)),
        None => {
            let reason = HealthReason::PointerUnreadable;
            let health = Health::unsound(HealthState::CorruptHead, reason);
            Err(StoreError::NotHealthy { artifact, health })
        }
    }
}

/// Returns the artifacts in the trash that attempts had made, each with its attempt.
pub(crate) fn attempts(live: &Dir) -> Result<Vec<(ArtifactId, AttemptId)>, DiskError> {
    let Some(trash) = open(live)? else { return Ok(Vec::new()) };
    let mut made = Vec::new();
    for entry in entries(&trash)? {
        let Ok(dir) = trash.child(&entry.name) else { continue };
        let made_by = known_pointer(&dir)?.and_then(|pointer| pointer.artifact.created_by_attempt);
        made.extend(made_by.map(|made_by| (entry.artifact, made_by.id)));
    }
    Ok(made)
}

struct TrashEntry {
    name: String,
    artifact: ArtifactId,
    deleted_at: Timestamp,
}

fn open(live: &Dir) -> Result<Option<Dir>, DiskError> {
    match live.child(TRASH) {
        Ok(trash) => Ok(Some(trash)),
        Err(err) if err.is_missing() => Ok(None),
        Err(err) => Err(err),
    }
}

fn entries(trash: &Dir) -> Result<Vec<TrashEntry>, DiskError> {
    let parse = |(name, kind): (String, EntryKind)| {
        let (artifact, time) = name.rsplit_once('.')?;
        let artifact = artifact.parse().ok()?;
        let deleted_at = Timestamp::from_unix_ms(time.parse().ok()?);
        (kind == EntryKind::Directory).then_some(TrashEntry { artifact, deleted_at, name })
    };
    Ok(trash.entries()?.into_iter().filter_map(parse).collect())
}

/// Returns the newest pointer of an artifact that can be believed: one bad file of one artifact is no
/// reason to refuse anything of the others, or to keep it from being deleted.
fn known_pointer(dir: &Dir) -> Result<Option<Pointer>, DiskError> {
    match Pointer::read_sound(dir) {
        Err(err) if is_damage(&err.source) => {
            let newest = newest_generation(dir).ok().flatten();
            Ok(newest.map(|generation| generation.pointer))
        }
        other => other,
    }
}

fn purge(trash: &Dir, now: Timestamp) -> Result<(), DiskError> {
    for entry in entries(trash)? {
        if is_trash_expired(entry.deleted_at, now) {
            // Under another name first: of a restore and a purge of one artifact, one gets it whole.
            match trash.rename(&entry.name, trash, &format!("{PURGING}{}", entry.name)) {
                Err(err) if err.is_missing() => {}
                other => other?,
            }
        }
    }
    let mut outcome = Ok(());
    for (name, _) in trash.entries()?.iter().filter(|(name, _)| name.starts_with(PURGING)) {
        outcome = outcome.and(trash.remove_tree(name));
    }
    outcome
}

fn trashed(artifact_id: ArtifactId, deleted_at: Timestamp, title: Option<String>) -> Trashed {
    Trashed { artifact_id, title, deleted_at, expires_at: trash_expires_at(deleted_at) }
}
