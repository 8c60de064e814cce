//! Reading an artifact as it is now: committed, pending, edited by hand, or damaged.
//!
//! Nothing here writes. A copy whose digest is not the pointer's means, in this order: a commit moved
//! the pointer while we read (read again), a commit is not rolled forward (serve its frame), or
//! someone edited the file.

use std::sync::Arc;

use od_core::artifact::{
    Artifact, ArtifactState, ArtifactSummary, Health, HealthReason, HealthState, Provenance,
    check_state,
};
use od_core::ids::{ArtifactId, Digest, ProjectId, RefreshId};
use od_core::json::BoundedObject;
use od_core::ledger::{RefreshLedger, RunningLockState};
use od_core::refresh::RefreshRecord;
use od_ports::store::{Drift, KeptAside, PageKey, Stored};

use super::aside;
use super::audit_log::{AuditLog, Tail};
use super::drift;
use super::entries::{Full, Lasts, Light};
use super::generation::{Generation, SetFile};
use super::locks;
use super::pending::{self, Copies, is_damage, is_foreign};
use super::pointer::{POINTER_BYTES_MAX, POINTER_FILE, Pointer, PointerFault};
use super::summary;
use crate::disk::{Dir, DiskError};

/// How often a reader tries again because the pointer moved. Each time a whole commit went by.
const TRIES_MAX: usize = 100;

/// Reads a whole artifact; `None` if there is none.
pub(crate) fn whole(
    live: &Dir,
    project: &ProjectId,
    id: &ArtifactId,
) -> Result<Option<Full>, DiskError> {
    let Some(dir) = open(live, id)? else { return Ok(None) };
    let mut found = content(&dir)?;
    let mut log = AuditLog::read(&dir)?;
    let mut unplaced = None;
    if let Some(refresh) =
        found.last_refresh.as_ref().filter(|refresh| !log.ledger.has_ended(refresh))
    {
        // The commit comes before its record: it is in the frame, or was appended just now.
        unplaced = pending::audit_line(&dir, refresh)?;
        if unplaced.is_none() {
            log = AuditLog::read(&dir)?;
        }
    }
    let mut ledger = log.ledger.clone();
    let unplaced = unplaced.and_then(|line| serde_json::from_slice::<RefreshRecord>(&line).ok());
    if let Some(record) = unplaced {
        ledger.append(&record);
    }
    if let Some(state) = &mut found.state {
        derive_refresh_fields(live, id, &ledger, &mut state.artifact)?;
    }
    let health = overall(found.health, &log);
    let kept_aside = aside::list(&dir)?;
    Ok(Some(assemble(project, id, found, health, &ledger, kept_aside)))
}

/// Reads what a list needs of an artifact; `None` if there is none.
pub(crate) fn list_entry(
    live: &Dir,
    project: &ProjectId,
    id: &ArtifactId,
) -> Result<Option<Light>, DiskError> {
    let read = || match settled_entry(live, id)? {
        Some(entry) => Ok(Some(entry)),
        None => Ok(whole(live, project, id)?.map(|full| full.light)),
    };
    match read() {
        // One artifact that the disk does not give hides no other, and is not hidden itself.
        Err(err) if is_foreign(&err) || is_damage(&err.source) => {
            let reason = HealthReason::PointerUnreadable;
            let health = Health::unsound(HealthState::CorruptHead, reason);
            let summary = Arc::new(summary::of_unreadable(project, id, health));
            // Who made it is asked before the same attempt is made again.
            let known = despite_damage(live, project, id);
            let attempt = known.and_then(|full| full.light.attempt);
            Ok(Some(Light { summary, attempt, lasts: Lasts::ForThisAnswer }))
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
fn settled_entry(live: &Dir, id: &ArtifactId) -> Result<Option<Light>, DiskError> {
    let Some(dir) = open(live, id)? else { return Ok(None) };
    let Some(pointer) = Pointer::read_sound(&dir)? else { return Ok(None) };
    for file in SetFile::SOURCES {
        let committed = &file.digests(&pointer.artifact.digests).raw;
        if read_copy(&dir, file)?.is_none_or(|bytes| Digest::of_bytes(&bytes) != *committed) {
            return Ok(None);
        }
    }
    let log = AuditLog::read(&dir)?;
    let committed = pointer.store.last_refresh.as_ref();
    let is_unplaced = committed.is_some_and(|refresh| !log.ledger.has_ended(refresh));
    if is_unplaced || !overall(Health::HEALTHY, &log).is_healthy() {
        return Ok(None);
    }
    let Pointer { mut artifact, .. } = pointer;
    derive_refresh_fields(live, id, &log.ledger, &mut artifact)?;
    Ok(Some(Light {
        summary: Arc::new(artifact.summary(Health::HEALTHY)),
        attempt: artifact.created_by_attempt,
        lasts: lasting(&log.ledger),
    }))
}

/// Returns what can be proved good of an artifact that the disk does not give whole, if anything.
pub(crate) fn despite_damage(live: &Dir, project: &ProjectId, id: &ArtifactId) -> Option<Full> {
    let dir = open(live, id).ok()??;
    let found = last_good(&dir, HealthReason::FileUnreadable).ok()?;
    let has_page = found.state.is_some() || found.last_page.is_some();
    let health = found.health;
    has_page.then(|| assemble(project, id, found, health, &RefreshLedger::default(), Vec::new()))
}

/// Opens an artifact's directory; `None` if there is none, or it is no directory of ours.
pub(crate) fn open(live: &Dir, id: &ArtifactId) -> Result<Option<Dir>, DiskError> {
    match live.child(id.as_str()) {
        Ok(dir) => Ok(Some(dir)),
        // One that may not be entered is there.
        Err(err) if err.source.kind() == std::io::ErrorKind::PermissionDenied => Err(err),
        Err(err) if err.is_missing() || is_foreign(&err) => Ok(None),
        Err(err) => Err(err),
    }
}

fn assemble(
    project: &ProjectId,
    id: &ArtifactId,
    found: Content,
    health: Health,
    ledger: &RefreshLedger,
    kept_aside: Vec<KeptAside>,
) -> Full {
    let state = found.state.map(Arc::new);
    let summary = Arc::new(match &state {
        Some(state) => ArtifactSummary {
            edited: drift::digest(&found.drift),
            ..state.artifact.summary(health)
        },
        None => summary::of_unreadable(project, id, health),
    });
    let light = Light {
        summary: Arc::clone(&summary),
        attempt: state.as_ref().and_then(|state| state.artifact.created_by_attempt.clone()),
        lasts: lasting(ledger),
    };
    let stored = Stored {
        id: id.clone(),
        project: project.clone(),
        summary,
        health,
        drift: found.drift,
        kept_aside,
        page_key: state.is_some().then_some(found.page_key).flatten(),
        state,
        last_page: found.last_page,
    };
    Full { stored: Arc::new(stored), light, bytes: found.bytes }
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
        // Nothing hangs on it then, and a probe takes three calls of the system.
        None => RunningLockState::Free,
    };
    artifact.refresh_status = ledger.refresh_status(artifact.refresh_status, lock);
    artifact.last_refreshed_at = ledger.last_refreshed_at(artifact.last_refreshed_at);
    Ok(())
}

fn lasting(ledger: &RefreshLedger) -> Lasts {
    if ledger.open().is_empty() { Lasts::UntilAChange } else { Lasts::WhileARefreshRuns }
}

/// Damage of the head is told before damage of the tail.
pub(crate) fn overall(head: Health, log: &AuditLog) -> Health {
    match &log.tail {
        Tail::Broken(reason) if head.is_healthy() => {
            Health::unsound(HealthState::CorruptTail, *reason)
        }
        Tail::Broken(_) | Tail::Clean | Tail::Torn(_) => head,
    }
}

/// What the set of files says, without the log.
#[derive(Debug)]
struct Content {
    health: Health,
    state: Option<ArtifactState>,
    drift: Vec<Drift>,
    page_key: Option<PageKey>,
    last_page: Option<Arc<[u8]>>,
    /// The last refresh that committed.
    last_refresh: Option<RefreshId>,
    bytes: usize,
}

/// The three source files as they were read.
struct Sources {
    template: Vec<u8>,
    data: Vec<u8>,
    provenance: Vec<u8>,
}

fn content(dir: &Dir) -> Result<Content, DiskError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let pointer_bytes = match read_pointer(dir) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return last_good(dir, HealthReason::PointerUnreadable),
            Err(err) if is_foreign(&err) => {
                return last_good(dir, HealthReason::PointerUnreadable);
            }
            Err(err) => return Err(err),
        };
        let pointer = match Pointer::decode(&pointer_bytes) {
            Ok(pointer) => pointer,
            Err(fault) => return last_good(dir, reason(&fault)),
        };
        if let Some(content) = committed(dir, &pointer, &pointer_bytes)? {
            return Ok(content);
        }
        let moved = read_pointer(dir)?.as_ref() != Some(&pointer_bytes);
        if moved && tries < TRIES_MAX {
            continue;
        }
        if is_unrolled(dir, &pointer)? {
            // A writer may be placing the copies at this moment; a second look tells.
            if tries < TRIES_MAX && committed(dir, &pointer, &pointer_bytes)?.is_some() {
                continue;
            }
            return last_good(dir, HealthReason::PendingUnreadable);
        }
        let found = edited(dir, pointer)?;
        // Copies of a commit that was placed meanwhile are no edit of the one before.
        if tries < TRIES_MAX && read_pointer(dir)?.as_ref() != Some(&pointer_bytes) {
            continue;
        }
        return Ok(found);
    }
}

/// Tells copies that were never rolled forward from copies that were edited.
///
/// If the frame that should replace them is damaged or gone, they are the generation before the
/// pointer's: serving them with its metadata would mix the two.
fn is_unrolled(dir: &Dir, pointer: &Pointer) -> Result<bool, DiskError> {
    let revision = pointer.artifact.revision;
    let files = pending::list(dir)?;
    if files.iter().any(|file| file.revision == revision && file.copies == Copies::Unknown) {
        return Ok(true);
    }
    if files.iter().any(|file| file.revision == revision) {
        return Ok(false);
    }
    let Some(before) = pending::read_last_good(dir)? else { return Ok(false) };
    if before.revision() >= revision {
        return Ok(false);
    }
    for file in SetFile::SOURCES {
        let old = &file.digests(&before.pointer.artifact.digests).raw;
        let is_old = read_copy(dir, file)?.is_some_and(|bytes| Digest::of_bytes(&bytes) == *old);
        if is_old && file.digests(&pointer.artifact.digests).raw != *old {
            return Ok(true);
        }
    }
    Ok(false)
}

fn read_pointer(dir: &Dir) -> Result<Option<Vec<u8>>, DiskError> {
    dir.read_if_there(POINTER_FILE, POINTER_BYTES_MAX)
}

pub(crate) fn reason(fault: &PointerFault) -> HealthReason {
    match fault {
        PointerFault::Checksum => HealthReason::PointerUnreadable,
        PointerFault::Version(_) => HealthReason::SchemaVersionUnknown,
        PointerFault::Shape(_) => HealthReason::PointerInvalid,
    }
}

/// Returns the state the pointer names, from the visible copies or from its frame.
fn committed(
    dir: &Dir,
    pointer: &Pointer,
    pointer_bytes: &[u8],
) -> Result<Option<Content>, DiskError> {
    let mut copies = Vec::with_capacity(SetFile::SOURCES.len());
    for file in SetFile::SOURCES {
        let Some(bytes) = read_copy(dir, file)? else { break };
        if Digest::of_bytes(&bytes) != file.digests(&pointer.artifact.digests).raw {
            break;
        }
        copies.push(bytes);
    }
    if let Ok([template, data, provenance]) = <[Vec<u8>; 3]>::try_from(copies) {
        return Ok(sound(pointer, Sources { template, data, provenance }));
    }
    let revision = pointer.artifact.revision;
    let files = pending::list(dir)?;
    let Some(file) =
        files.iter().find(|file| file.revision == revision && file.copies == Copies::Unknown)
    else {
        return Ok(None);
    };
    match pending::read(dir, file)? {
        Some(generation) if generation.pointer_bytes == pointer_bytes => {
            let Generation { template, data, provenance, .. } = generation;
            Ok(sound(pointer, Sources { template, data, provenance }))
        }
        Some(_) | None => Ok(None),
    }
}

fn read_copy(dir: &Dir, file: SetFile) -> Result<Option<Vec<u8>>, DiskError> {
    match dir.read_if_there(file.name(), file.bytes_max()) {
        Err(err) if is_foreign(&err) => Ok(None),
        other => other,
    }
}

/// Builds the content from files whose digests are the pointer's.
fn sound(pointer: &Pointer, sources: Sources) -> Option<Content> {
    let bytes = sources.template.len() + 3 * sources.data.len() + sources.provenance.len();
    let digests = &pointer.artifact.digests;
    let page_key = PageKey {
        template: digests.template.raw.clone(),
        data: digests.data.raw.clone(),
        provenance: digests.provenance.raw.clone(),
    };
    let state = ArtifactState {
        artifact: pointer.artifact.clone(),
        template_html: String::from_utf8(sources.template).ok()?.into(),
        data: BoundedObject::parse(&sources.data).ok()?,
        provenance: serde_json::from_slice(&sources.provenance).ok()?,
    };
    Some(Content {
        health: Health::HEALTHY,
        state: Some(state),
        drift: Vec::new(),
        page_key: Some(page_key),
        last_page: None,
        last_refresh: pointer.store.last_refresh.clone(),
        bytes,
    })
}

/// Judges copies that no commit wrote: valid ones are drift, others make the artifact unhealthy.
fn edited(dir: &Dir, pointer: Pointer) -> Result<Content, DiskError> {
    let mut read = Vec::with_capacity(SetFile::SOURCES.len());
    for file in SetFile::SOURCES {
        match dir.read_if_there(file.name(), file.bytes_max()) {
            Ok(Some(bytes)) => read.push(bytes),
            Ok(None) => return last_good(dir, HealthReason::FileMissing),
            Err(err) if is_foreign(&err) => return last_good(dir, HealthReason::FileUnreadable),
            Err(err) => return Err(err),
        }
    }
    let Ok([template, data, provenance]) = <[Vec<u8>; 3]>::try_from(read) else {
        return last_good(dir, HealthReason::FileMissing);
    };
    let bytes = template.len() + 3 * data.len() + provenance.len();
    let sources = Sources { template, data, provenance };
    let page_key = PageKey {
        template: Digest::of_bytes(&sources.template),
        data: Digest::of_bytes(&sources.data),
        provenance: Digest::of_bytes(&sources.provenance),
    };
    let last_refresh = pointer.store.last_refresh.clone();
    let state = match validate(pointer, &sources) {
        Ok(state) => state,
        Err(reason) => return last_good(dir, reason),
    };
    let drift = drift::of(&state, &sources.template);
    Ok(Content {
        health: Health::HEALTHY,
        state: Some(state),
        drift,
        page_key: Some(page_key),
        last_page: None,
        last_refresh,
        bytes,
    })
}

/// Applies the rules of create to edited files.
fn validate(pointer: Pointer, sources: &Sources) -> Result<ArtifactState, HealthReason> {
    let data = BoundedObject::parse(&sources.data).map_err(|_| HealthReason::DataInvalid)?;
    let provenance: Provenance =
        serde_json::from_slice(&sources.provenance).map_err(|_| HealthReason::ProvenanceInvalid)?;
    let template_html =
        std::str::from_utf8(&sources.template).map_err(|_| HealthReason::TemplateInvalid)?;
    check_state(&pointer.artifact, template_html, &data, &provenance)?;
    Ok(ArtifactState {
        artifact: pointer.artifact,
        template_html: template_html.into(),
        data,
        provenance,
    })
}

/// Serves the newest whole generation there is of a damaged artifact.
fn last_good(dir: &Dir, reason: HealthReason) -> Result<Content, DiskError> {
    let state = if reason == HealthReason::SchemaVersionUnknown {
        HealthState::UnknownVersion
    } else {
        HealthState::CorruptHead
    };
    let health = Health::unsound(state, reason);
    let content = newest_generation(dir)?.and_then(|generation| {
        let Generation { pointer, template, data, provenance, .. } = generation;
        sound(&pointer, Sources { template, data, provenance })
    });
    Ok(match content {
        Some(content) => Content { health, ..content },
        None => Content {
            health,
            state: None,
            drift: Vec::new(),
            page_key: None,
            last_page: read_copy(dir, SetFile::Index)?.map(Arc::from),
            last_refresh: None,
            bytes: 0,
        },
    })
}

/// Finds the newest whole generation among the frames of an artifact.
pub(crate) fn newest_generation(dir: &Dir) -> Result<Option<Generation>, DiskError> {
    let mut newest = pending::read_last_good(dir)?;
    for file in pending::list(dir)? {
        if let Some(found) = pending::read(dir, &file)?
            && newest.as_ref().is_none_or(|newest| newest.revision() < found.revision())
        {
            newest = Some(found);
        }
    }
    Ok(newest)
}
