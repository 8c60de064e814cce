//! Reading one artifact as it is now: its files, its log, its running lock.
//!
//! Nothing here writes.

use std::sync::Arc;

use od_core::artifact::{
    Artifact, ArtifactState, ArtifactSummary, Health, HealthReason, HealthState,
};
use od_core::ids::{ArtifactId, Digest, ProjectId};
use od_core::ledger::{RefreshLedger, RunningLockState};
use od_ports::store::{KeptAside, Stored};

use super::cache_entry::{CommittedFields, ListEntry, LoadedArtifact, Validity};
use super::content::{Content, last_good_content, read_content, read_copy};
use super::summary;
use crate::artifacts::commit::{Pointer, SetFile, aside, locks, obstacle, pending};
use crate::artifacts::dirs::open_artifact;
use crate::artifacts::history::{AuditLog, Tail};
use crate::disk::{Dir, DiskError, is_damage, is_foreign};
use crate::grants::GrantGuard;

/// Reads a whole artifact; `None` if there is none.
pub(super) fn read_artifact(
    live: &Dir,
    project: &ProjectId,
    id: &ArtifactId,
    guard: Option<&GrantGuard>,
) -> Result<Option<LoadedArtifact>, DiskError> {
    let Some(dir) = open_artifact(live, id)? else { return Ok(None) };
    // The files before the log: a refresh commits first and appends its record afterwards, so whatever
    // these files hold has its record in the log read next, or still in a frame.
    let mut found = read_content(&dir)?;
    found.check_grants(guard);
    add_log(live, &dir, project, id, found).map(Some)
}

/// Reads what the log says of an artifact of which nothing else has changed since it was loaded; `None` if
/// there is none, or what was loaded is more than what its pointer names.
///
/// A refresh appends three records, and each is followed by a reader: without this every one of them
/// would read, hash and parse a quarter of a mebibyte of data anew.
pub(super) fn read_log_of(
    live: &Dir,
    project: &ProjectId,
    id: &ArtifactId,
    loaded: &LoadedArtifact,
) -> Result<Option<LoadedArtifact>, DiskError> {
    let LoadedArtifact { stored, committed, bytes, .. } = loaded;
    let (Some(state), Some(committed)) = (&stored.state, committed) else { return Ok(None) };
    let Some(dir) = open_artifact(live, id)? else { return Ok(None) };
    let mut state = ArtifactState::clone(state);
    state.artifact.refresh_status = committed.refresh_status;
    state.artifact.last_refreshed_at = committed.last_refreshed_at;
    let found = Content {
        health: Health::HEALTHY,
        state: Some(state),
        drift: Vec::new(),
        committed_data: None,
        page_key: stored.page_key.clone(),
        last_page: None,
        last_refresh: committed.last_refresh.clone(),
        grants: None,
        bytes: *bytes,
    };
    add_log(live, &dir, project, id, found).map(Some)
}

/// Puts an artifact together from its files and what its log says.
fn add_log(
    live: &Dir,
    dir: &Dir,
    project: &ProjectId,
    id: &ArtifactId,
    mut found: Content,
) -> Result<LoadedArtifact, DiskError> {
    let committed = committed_fields(&found);
    let mut log = AuditLog::read(dir)?;
    let mut unlogged = None;
    if let Some(refresh) =
        found.last_refresh.as_ref().filter(|refresh| !log.ledger.has_ended(refresh))
    {
        unlogged = pending::last_record(dir, refresh)?;
        if unlogged.is_none() {
            // Neither in the log nor in a frame: it went from one to the other between the two reads.
            log = AuditLog::read(dir)?;
        }
    }
    let mut ledger = log.ledger.clone();
    if let Some(record) = unlogged {
        ledger.append(&record);
    }
    if let Some(state) = &mut found.state {
        derive_refresh_fields(live, id, &ledger, &mut state.artifact)?;
    }
    let is_obstructed = !obstacle::find(live, dir, id)?.is_empty();
    let health = overall_health(found.health, &log, is_obstructed);
    let kept_aside = aside::list(dir)?;
    let loaded = assemble(project, id, found, health, &ledger, kept_aside);
    Ok(LoadedArtifact { committed, ..loaded })
}

/// Returns what the log has the last word on, if the files are those that the pointer names.
fn committed_fields(found: &Content) -> Option<CommittedFields> {
    let is_plain = found.health.is_healthy() && found.drift.is_empty();
    let state = found.state.as_ref().filter(|_| is_plain && found.committed_data.is_none())?;
    Some(CommittedFields {
        refresh_status: state.artifact.refresh_status,
        last_refreshed_at: state.artifact.last_refreshed_at,
        last_refresh: found.last_refresh.clone(),
    })
}

/// Reads what a list needs of an artifact; `None` if there is none.
pub(super) fn read_list_entry(
    live: &Dir,
    project: &ProjectId,
    id: &ArtifactId,
    guard: Option<&GrantGuard>,
) -> Result<Option<ListEntry>, DiskError> {
    let read = || match read_unedited_entry(live, id, guard)? {
        Some(entry) => Ok(Some(entry)),
        None => Ok(read_artifact(live, project, id, guard)?.map(|loaded| loaded.entry)),
    };
    match read() {
        // One artifact that the disk does not give hides no other, and is not hidden itself.
        Err(err) if is_foreign(&err) || is_damage(&err.source) => {
            let reason = HealthReason::PointerUnreadable;
            let health = Health::unsound(HealthState::CorruptHead, reason);
            let summary = Arc::new(ArtifactSummary::of_unreadable(project, id, health));
            // Who made it is asked before the same attempt is made again.
            let known = read_despite_damage(live, project, id, guard);
            let attempt = known.and_then(|loaded| loaded.entry.attempt);
            Ok(Some(ListEntry { summary, attempt, validity: Validity::ThisAnswer }))
        }
        other => other,
    }
}

/// Reads what a list needs of an artifact whose copies are those that its pointer names; `None` if
/// there is more to it.
///
/// Nearly every artifact is like that, and its digests then say that data, template and provenance are
/// what a commit has checked. Data may take a quarter of a mebibyte, and parsing it takes many times
/// what its digest takes.
fn read_unedited_entry(
    live: &Dir,
    id: &ArtifactId,
    guard: Option<&GrantGuard>,
) -> Result<Option<ListEntry>, DiskError> {
    let Some(dir) = open_artifact(live, id)? else { return Ok(None) };
    let Some(pointer) = Pointer::read_sound(&dir)? else { return Ok(None) };
    let pointer = pointer.checked(guard);
    for file in SetFile::SOURCES {
        let committed = &file.digests(&pointer.artifact.digests).raw;
        if read_copy(&dir, file)?.is_none_or(|bytes| Digest::of_bytes(&bytes) != *committed) {
            return Ok(None);
        }
    }
    let log = AuditLog::read(&dir)?;
    let committed = pointer.store.last_refresh.as_ref();
    let is_unlogged = committed.is_some_and(|refresh| !log.ledger.has_ended(refresh));
    let is_obstructed = !obstacle::find(live, &dir, id)?.is_empty();
    if is_unlogged || !overall_health(Health::HEALTHY, &log, is_obstructed).is_healthy() {
        return Ok(None);
    }
    let Pointer { mut artifact, .. } = pointer;
    derive_refresh_fields(live, id, &log.ledger, &mut artifact)?;
    Ok(Some(ListEntry {
        summary: Arc::new(artifact.summary(Health::HEALTHY).with_runs(log.ledger.runs())),
        attempt: artifact.created_by_attempt,
        validity: Validity::of(&log.ledger, Health::HEALTHY),
    }))
}

/// Returns what can be proved good of an artifact that the disk does not give whole, if anything.
pub(super) fn read_despite_damage(
    live: &Dir,
    project: &ProjectId,
    id: &ArtifactId,
    guard: Option<&GrantGuard>,
) -> Option<LoadedArtifact> {
    let dir = open_artifact(live, id).ok()??;
    let mut found = last_good_content(&dir, HealthReason::FileUnreadable).ok()?;
    found.check_grants(guard);
    let has_page = found.state.is_some() || found.last_page.is_some();
    let health = found.health;
    has_page.then(|| assemble(project, id, found, health, &RefreshLedger::default(), Vec::new()))
}

/// Sets the fields of an artifact that its log and its running lock decide.
fn derive_refresh_fields(
    live: &Dir,
    id: &ArtifactId,
    ledger: &RefreshLedger,
    artifact: &mut Artifact,
) -> Result<(), DiskError> {
    let lock = match ledger.running() {
        Some(_) => locks::running_state(live, id)?,
        // Nothing hangs on it then, and a probe costs three system calls.
        None => RunningLockState::Free,
    };
    artifact.refresh_status = ledger.refresh_status(artifact.refresh_status, lock);
    artifact.last_refreshed_at = ledger.last_refreshed_at(artifact.last_refreshed_at);
    Ok(())
}

/// Returns the health of head, log and directory together. Damage of the head is reported before damage of the
/// log: the one keeps the artifact from being served as it is, the other only from being written.
fn overall_health(head: Health, log: &AuditLog, is_obstructed: bool) -> Health {
    match &log.tail {
        Tail::Broken(reason) if head.is_healthy() => {
            Health::unsound(HealthState::CorruptTail, *reason)
        }
        Tail::Clean | Tail::Torn(_) if head.is_healthy() && is_obstructed => {
            Health::unsound(HealthState::CorruptTail, HealthReason::Obstructed)
        }
        Tail::Broken(_) | Tail::Clean | Tail::Torn(_) => head,
    }
}

fn assemble(
    project: &ProjectId,
    id: &ArtifactId,
    found: Content,
    health: Health,
    ledger: &RefreshLedger,
    kept_aside: Vec<KeptAside>,
) -> LoadedArtifact {
    let state = found.state.map(Arc::new);
    let summary = Arc::new(match &state {
        Some(state) => ArtifactSummary {
            edited: summary::digest_of_drift(&found.drift),
            ..state.artifact.summary(health).with_runs(ledger.runs())
        },
        None => ArtifactSummary::of_unreadable(project, id, health),
    });
    let entry = ListEntry {
        summary: Arc::clone(&summary),
        attempt: state.as_ref().and_then(|state| state.artifact.created_by_attempt.clone()),
        validity: Validity::of(ledger, health),
    };
    let stored = Stored {
        id: id.clone(),
        project: project.clone(),
        summary,
        health,
        drift: found.drift,
        committed_data: found.committed_data.map(Arc::new),
        kept_aside,
        page_key: state.is_some().then_some(found.page_key).flatten(),
        state,
        last_page: found.last_page,
    };
    LoadedArtifact { stored: Arc::new(stored), entry, bytes: found.bytes, committed: None }
}
