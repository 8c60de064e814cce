//! Repair: says what it keeps and drops, and does it. Every dropped byte stays in `aside/`.

use std::sync::Arc;

use od_core::artifact::{ArtifactState, Health, HealthReason, HealthState, render_stored};
use od_core::ids::{ArtifactId, ProjectId, RefreshId, Revision};
use od_core::json::BoundedObject;
use od_core::ledger::{Actor, CommitKind, CommitNote, Door, next_revision};
use od_core::template::{Grammar, Template};
use od_ports::store::{RepairMode, RepairReport, StoreError, Stored};

use super::inspect::has_unfinished_commit;
use crate::artifacts::commit::checkpoint::CheckpointQueue;
use crate::artifacts::commit::roll_forward::WrittenCopies;
use crate::artifacts::commit::{
    Continued, Generation, POINTER_BYTES_MAX, POINTER_FILE, Pointer, Replaces, SetFile, aside,
    build, locks, obstacle, protocol, roll_forward,
};
use crate::artifacts::dirs::{not_found, open_artifact};
use crate::artifacts::history::{AuditLog, Tail, audit_log};
use crate::artifacts::read::{ArtifactReader, newest_generation};
use crate::disk::{Dir, DiskError, is_foreign};
use crate::grants::GrantGuard;

/// Plans a repair, or carries it out.
pub(crate) fn repair(
    reader: &ArtifactReader,
    queue: &CheckpointQueue,
    project: &ProjectId,
    artifact: &ArtifactId,
    mode: RepairMode,
) -> Result<RepairReport, StoreError> {
    let (live, dir) = reader.dirs.artifact(project, artifact)?;
    let mut report = RepairReport::default();
    for obstacle in obstacle::find(&live, &dir, artifact)? {
        let path = obstacle.path();
        report.drops.push(format!("{path}, which od did not write (kept in aside/)"));
    }
    if has_unfinished_commit(&live, &dir, artifact)? {
        report.keeps.push("the last commit, which is finished".to_owned());
    }
    let _lock = match mode {
        // A plan only reads, and answers while a process that stands still holds the lock.
        RepairMode::Plan => None,
        RepairMode::Apply => {
            obstacle::clear_locks(&live, &dir, artifact)?;
            Some(locks::commit_or_busy(&live, artifact)?)
        }
    };
    let dir = open_artifact(&live, artifact)?.ok_or_else(|| not_found(project, artifact))?;
    // An unfinished commit is no damage: most artifacts that look broken are healthy after this.
    if mode == RepairMode::Apply {
        obstacle::clear_all(&live, &dir, artifact)?;
        report.applied = report != RepairReport::default();
        reader.finish(&dir, project, artifact, queue, WrittenCopies::Checked)?;
    }
    let stored = reader.load(project, artifact)?;
    match stored.health.state {
        HealthState::Healthy => {}
        // Moving the obstacles aside and finishing the commit was all there is to do.
        HealthState::CorruptTail if is_unwritable_only(stored.health) => {
            let kept = stored.revision().map(|revision| revision.to_string());
            let kept = kept.unwrap_or_else(|| "as it is".to_owned());
            report.keeps.push(format!("revision {kept} and its history"));
        }
        HealthState::UnknownVersion => {
            report.keeps.push("everything: a newer program wrote it".to_owned());
        }
        HealthState::CorruptTail => repair_tail(&dir, mode, &mut report)?,
        HealthState::CorruptHead => {
            // What is behind a damaged head may be damaged as well. It comes first: the repair is a
            // commit, and its record has to continue the log.
            if AuditLog::read(&dir)?.tail != Tail::Clean {
                repair_tail(&dir, mode, &mut report)?;
            }
            repair_head(&dir, &stored, mode, &mut report, reader.grants())?;
        }
    }
    if report.applied {
        queue.add(project, artifact);
    }
    reader.invalidate(project, artifact);
    Ok(report)
}

/// Returns whether everything of an artifact is sound, and only writing does not work.
fn is_unwritable_only(health: Health) -> bool {
    matches!(health.reason, Some(HealthReason::Obstructed | HealthReason::RecoveryFailed))
}

/// Keeps the records up to the damage and sets the rest aside.
fn repair_tail(dir: &Dir, mode: RepairMode, report: &mut RepairReport) -> Result<(), DiskError> {
    let log = AuditLog::read(dir)?;
    // Up to the first line that does not continue the chain: what follows may be true, but nothing says so.
    report.keeps.push(format!("{} records of the audit log", log.records));
    report.drops.push("the audit log after its damage (kept in aside/)".to_owned());
    if mode == RepairMode::Apply {
        audit_log::cut_broken_tail(dir, &log)?;
        report.applied = true;
    }
    Ok(())
}

/// The parts of a repaired head.
struct Rescue {
    state: ArtifactState,
    page: Arc<[u8]>,
    revision: Revision,
    last_refresh: Option<RefreshId>,
}

/// Writes a new revision from the parts that can be proved good.
fn repair_head(
    dir: &Dir,
    stored: &Stored,
    mode: RepairMode,
    report: &mut RepairReport,
    grants: Option<&GrantGuard>,
) -> Result<(), DiskError> {
    let base = newest_generation(dir)?;
    let pointer = Pointer::read_sound(dir)?.map(|pointer| pointer.checked(grants));
    let Some(rescue) = rescue(dir, stored, base.as_ref(), pointer.as_ref(), report)? else {
        report.drops.push(
            "nothing of it can be proved good; delete it, it stays in the trash for 7 days"
                .to_owned(),
        );
        return Ok(());
    };
    if mode == RepairMode::Plan {
        return Ok(());
    }
    // Before the commit, whose rename replaces it.
    set_damaged_aside(dir, pointer.is_none())?;
    let log = AuditLog::read(dir)?;
    // Only a person repairs, and only the command line has the verb.
    let note = CommitNote::new(CommitKind::Repair, Actor::Person, Door::CommandLine);
    let continued = Continued {
        revision: rescue.revision,
        last_refresh: rescue.last_refresh,
        before: pointer.map(|pointer| pointer.artifact),
        unsynced: log.unsynced_steps().to_vec(),
        log_end: log.chain_end(),
        data: None,
    };
    let (_, mut generation) = build(rescue.state, &rescue.page, note, None, continued, grants)?;
    // It replaces nothing that it did not write itself: every copy that is there is kept aside.
    generation.replaces = Replaces::new();
    protocol::commit_next(dir, &generation)?;
    roll_forward::write_copies(dir, &generation)?;
    report.applied = true;
    Ok(())
}

/// Chooses, for each file, the copy a person may have edited if it is good, else the last commit's.
fn rescue(
    dir: &Dir,
    stored: &Stored,
    base: Option<&Generation>,
    pointer: Option<&Pointer>,
    report: &mut RepairReport,
) -> Result<Option<Rescue>, DiskError> {
    let Some(state) = stored.state.as_deref() else { return Ok(None) };
    let mut state = state.clone();
    let frame_is_lost = stored.health.reason == Some(HealthReason::PendingUnreadable);
    if let Some(pointer) = pointer.filter(|_| frame_is_lost) {
        let lost = pointer.artifact.revision;
        report.keeps.push(format!("revision {}", state.artifact.revision));
        report.drops.push(format!("revision {lost}, whose frame is damaged (kept in aside/)"));
    } else if let Some(pointer) = pointer {
        state.artifact = pointer.artifact.clone();
        report.keeps.push("the metadata".to_owned());
    } else {
        report.keeps.push(format!("the metadata of revision {}", state.artifact.revision));
        report.drops.push("artifact.json as it is (kept in aside/)".to_owned());
    }
    let committed = state.clone();
    take_visible(dir, &mut state, report)?;
    let page = match render(&state) {
        Some(page) => page,
        None => {
            // Each edit is good by itself but they do not go together.
            state.template_html = committed.template_html;
            state.data = committed.data;
            report
                .drops
                .push("the edits of template.html and data.json (kept in aside/)".to_owned());
            match render(&state) {
                Some(page) => page,
                None => return Ok(None),
            }
        }
    };
    let known = [base.map(Generation::revision), pointer.map(|pointer| pointer.artifact.revision)];
    let revision = next_revision(known.into_iter().flatten());
    let last_refresh = pointer
        .or_else(|| base.map(|base| &base.pointer))
        .and_then(|pointer| pointer.store.last_refresh.clone());
    Ok(Some(Rescue { state, page, revision, last_refresh }))
}

fn take_visible(
    dir: &Dir,
    state: &mut ArtifactState,
    report: &mut RepairReport,
) -> Result<(), DiskError> {
    for file in SetFile::SOURCES {
        let bytes = match dir.read_if_there(file.name(), file.bytes_max()) {
            Err(err) if is_foreign(&err) => None,
            other => other?,
        };
        if bytes.is_some_and(|bytes| adopt(state, file, &bytes)) {
            report.keeps.push(format!("{} as it is", file.name()));
        } else {
            report.keeps.push(format!("{} of the last commit", file.name()));
            report.drops.push(format!("{} as it is (kept in aside/)", file.name()));
        }
    }
    Ok(())
}

/// Puts a copy into the state if it is good.
fn adopt(state: &mut ArtifactState, file: SetFile, bytes: &[u8]) -> bool {
    match file {
        SetFile::Template => {
            let Ok(html) = std::str::from_utf8(bytes) else { return false };
            let document = state.artifact.document.as_ref();
            let grammar = document.map_or(Grammar::V1, |document| document.format.grammar());
            if Template::compile_as(html, grammar).is_err() {
                return false;
            }
            state.template_html = html.into();
        }
        SetFile::Data => {
            let Ok(data) = BoundedObject::parse(bytes) else { return false };
            state.data = data;
        }
        SetFile::Provenance => {
            let Ok(provenance) = serde_json::from_slice(bytes) else { return false };
            state.provenance = provenance;
        }
        SetFile::Index => return false,
    }
    true
}

fn render(state: &ArtifactState) -> Option<Arc<[u8]>> {
    render_stored(&state.template_html, state.data.value(), &state.page_settings(), None)
        .ok()
        .map(Into::into)
}

/// Copies aside what the commit is about to replace. The visible copies are kept by roll-forward,
/// which replaces nothing it does not know.
fn set_damaged_aside(dir: &Dir, pointer_is_damaged: bool) -> Result<(), DiskError> {
    if !pointer_is_damaged {
        return Ok(());
    }
    match dir.read_if_there(POINTER_FILE, POINTER_BYTES_MAX) {
        Ok(Some(bytes)) => aside::keep_bytes(dir, POINTER_FILE, &bytes),
        Ok(None) => Ok(()),
        Err(err) if is_foreign(&err) => aside::keep_file(dir, POINTER_FILE),
        Err(err) => Err(err),
    }
}
