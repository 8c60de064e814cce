//! Revisions: the timeline of commits, and the contents that are kept of the newest of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use od_core::artifact::HealthReason;
use od_core::ids::{ArtifactId, Digest, RefreshId, Revision};
use od_core::json::BoundedObject;
use od_core::ledger::{
    CommitRecord, LogRecord, Part, RevisionDigests, RevisionSource, kept_commits, kept_objects,
};
use od_core::limits::REVISIONS;
use od_ports::store::{
    KeptRevision, RevisionFault, Snapshot, SnapshotSummary, StoreError, Timeline,
};

use super::archive;
use super::audit_log::{self, AuditLog, LOG, Tail};
use super::objects::Objects;
use super::snapshots;
use super::timeline_cache::{LogFiles, TIMELINES};
use crate::artifacts::commit::pending::{self, PendingFile};
use crate::artifacts::commit::{Generation, Pointer};
use crate::disk::{Dir, DiskError};

/// Tries to read a log that goes on meanwhile.
const TRIES_MAX: usize = 100;
/// Moves of a frame that a reader may fall between: its copies are written, then its contents are kept
/// and it becomes `last-good`, then the next one takes its place.
const FRAME_MOVES_MAX: usize = 3;

/// Reads every record that there is, oldest first, those of commits that are not rolled forward
/// included.
pub(super) fn read_log(dir: &Dir) -> Result<(AuditLog, Vec<LogRecord>), DiskError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let before = dir.stat(LOG)?;
        let (log, present) = AuditLog::read_records(dir)?;
        let mut records = audit_log::rotated_records(dir)?;
        records.extend(present);
        records.extend(unlogged_records(dir, &log)?);
        // A record that went from its frame to the log meanwhile was seen in neither.
        if dir.stat(LOG)? == before || tries >= TRIES_MAX {
            return Ok((log, records));
        }
    }
}

/// Returns the records of commits that are not in the log yet, as far as they continue it.
fn unlogged_records(dir: &Dir, log: &AuditLog) -> Result<Vec<LogRecord>, DiskError> {
    let mut end = log.chain_end();
    let mut records = Vec::new();
    let frames = pending::list(dir)?;
    if frames.iter().all(|file| Some(file.revision) <= log.newest_commit) {
        return Ok(records);
    }
    let Some(pointer) = Pointer::read_sound(dir)? else { return Ok(records) };
    // A frame that is newer than the pointer never became a commit; that of a commit whose record is in
    // the log, which is the last that it brings, has nothing that is not there.
    let is_unlogged = |file: &PendingFile| {
        file.revision <= pointer.artifact.revision && Some(file.revision) > log.newest_commit
    };
    for file in frames.into_iter().filter(is_unlogged) {
        let Some(generation) = pending::read(dir, &file)? else { continue };
        for line in generation.log.lines() {
            let Ok(record) = LogRecord::parse(line) else { continue };
            if record.prev() == end.as_ref() {
                end = Some(Digest::of_bytes(line));
                records.push(record);
            }
        }
    }
    Ok(records)
}

/// Returns the commits, newest first, or remembers them.
pub(crate) fn timeline(dir: &Dir) -> Result<Arc<Timeline>, DiskError> {
    // The frames before the log: a record that goes from one to the other is then seen twice, not never.
    let newest_frame = pending::list(dir)?.last().map(|file| file.revision);
    let files = LogFiles::look(dir)?;
    let is_logged = |timeline: &Timeline| {
        newest_frame <= timeline.commits.first().map(|commit| commit.revision)
    };
    if let Some(known) = TIMELINES.get(&files).filter(|known| is_logged(known)) {
        return Ok(known);
    }
    let timeline = Arc::new(read_timeline(dir)?);
    if timeline.broken.is_none() && newest_frame.is_none() && LogFiles::look(dir)? == files {
        TIMELINES.put(files, &timeline, timeline.commits.len());
    }
    Ok(timeline)
}

/// Reads the commits from the disk, newest first.
fn read_timeline(dir: &Dir) -> Result<Timeline, DiskError> {
    let (log, records) = read_log(dir)?;
    let archived = archive::archived_commits(dir)?;
    let commits =
        archived.into_iter().chain(records.into_iter().filter_map(LogRecord::into_commit));
    // By revision: a rotation that was cut short leaves some of them in two files.
    let commits: BTreeMap<Revision, CommitRecord> =
        commits.map(|commit| (commit.revision, commit)).collect();
    Ok(Timeline { commits: commits.into_values().rev().collect(), broken: broken(&log) })
}

/// Reads one revision that is kept.
pub(crate) fn read(
    dir: &Dir,
    artifact: &ArtifactId,
    revision: Revision,
) -> Result<KeptRevision, StoreError> {
    let timeline = timeline(dir)?;
    let commit = kept_commits(&timeline.commits).find(|commit| commit.revision == revision);
    let Some(commit) = commit else {
        return Err(StoreError::RevisionNotFound { artifact: artifact.clone(), revision });
    };
    read_commit(dir, artifact, commit.clone())
}

fn read_commit(
    dir: &Dir,
    artifact: &ArtifactId,
    commit: CommitRecord,
) -> Result<KeptRevision, StoreError> {
    let revision = commit.revision;
    let damaged = |part| StoreError::RevisionDamaged { artifact: artifact.clone(), revision, part };
    // A frame that is renamed between being listed and being read is found in neither place: rolling back
    // to a commit that was just acknowledged was refused as damaged under load.
    let mut moves = 0;
    let contents = loop {
        match read_contents(dir, &commit)? {
            Ok(contents) => break contents,
            Err(_) if moves < FRAME_MOVES_MAX => moves += 1,
            Err(part) => return Err(damaged(part)),
        }
    };
    let template = String::from_utf8(contents.template).map_err(|_| damaged(Part::Template))?;
    Ok(KeptRevision {
        template_html: template.into(),
        data: BoundedObject::parse(&contents.data).map_err(|_| damaged(Part::Data))?,
        provenance: serde_json::from_slice(&contents.provenance)
            .map_err(|_| damaged(Part::Provenance))?,
        source: serde_json::from_slice(&contents.source).map_err(|_| damaged(Part::Source))?,
        commit,
    })
}

/// Reads the bytes of a revision from its frame, else from the objects; names the part that is in neither.
fn read_contents(dir: &Dir, commit: &CommitRecord) -> Result<Result<Contents, Part>, DiskError> {
    // The frame before the objects: a checkpoint writes the objects first and lets go of the frame then.
    if let Some(generation) = pending::find(dir, commit.revision)? {
        return Ok(Ok(Contents::of(generation)));
    }
    let objects = Objects::open(dir)?;
    let mut parts = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    for (bytes, (part, digest)) in parts.iter_mut().zip(kept_parts(&commit.digests)) {
        match objects.read(digest)? {
            Some(content) => *bytes = content,
            None => return Ok(Err(part)),
        }
    }
    let [template, data, provenance, source] = parts;
    Ok(Ok(Contents { template, data, provenance, source }))
}

/// The bytes of one revision.
struct Contents {
    template: Vec<u8>,
    data: Vec<u8>,
    provenance: Vec<u8>,
    source: Vec<u8>,
}

impl Contents {
    fn of(generation: Generation) -> Self {
        let source = RevisionSource::of(&generation.pointer.artifact).to_bytes();
        let Generation { template, data, provenance, .. } = generation;
        Self { template, data, provenance, source }
    }

    fn part(&self, part: Part) -> &[u8] {
        match part {
            Part::Template => &self.template,
            Part::Data => &self.data,
            Part::Provenance => &self.provenance,
            Part::Source | Part::Permission | Part::Schedule | Part::Details => &self.source,
        }
    }
}

/// Returns the parts whose contents are kept, each with its digest.
fn kept_parts(digests: &RevisionDigests) -> [(Part, &Digest); 4] {
    [
        (Part::Template, &digests.template),
        (Part::Data, &digests.data),
        (Part::Provenance, &digests.provenance),
        (Part::Source, &digests.source),
    ]
}

/// Keeps the contents of frames, oldest first, and waits until they are on the disk. The caller holds
/// the commit lock, and lets go of the frames afterwards.
pub(crate) fn keep(dir: &Dir, files: &[PendingFile]) -> Result<(), DiskError> {
    let mut objects = Objects::open(dir)?;
    let mut chains = BTreeSet::new();
    let mut before =
        pending::read_last_good(dir)?.map(|last| RevisionDigests::of(&last.pointer.artifact));
    for file in files {
        let Some(generation) = pending::read(dir, file)? else { continue };
        let Some(commit) = generation.log.commit() else {
            if let Some(refresh) = &generation.log.refresh {
                snapshots::sync(dir, refresh)?;
            }
            continue;
        };
        let contents = Contents::of(generation);
        for (part, digest) in kept_parts(&commit.digests) {
            let like = before.as_ref().and_then(|before| {
                kept_parts(before).into_iter().find(|(other, _)| *other == part)
            });
            let like = like.map(|(_, digest)| digest);
            chains.insert(objects.write(dir, digest, contents.part(part), like)?);
        }
        before = Some(commit.digests);
    }
    objects.sync(&chains)
}

/// Removes contents that no kept revision names. The caller holds the commit lock.
pub(crate) fn sweep(dir: &Dir) -> Result<(), DiskError> {
    let Some(pointer) = Pointer::read_sound(dir)? else { return Ok(()) };
    // Most artifacts never have so many.
    if REVISIONS.allowed >= pointer.artifact.revision.get() {
        return Ok(());
    }
    let timeline = read_timeline(dir)?;
    // Of an artifact that is not healthy nothing is removed: a repair decides with everything there.
    if timeline.broken.is_some() {
        return Ok(());
    }
    Objects::open(dir)?.sweep(&kept_objects(&timeline.commits))
}

/// Lists the snapshots, newest first: those of earlier versions, and the revisions that refreshes made.
pub(crate) fn snapshots(dir: &Dir) -> Result<Vec<SnapshotSummary>, DiskError> {
    let timeline = timeline(dir)?;
    let objects = Objects::open(dir)?;
    let mut found = snapshots::list(dir)?;
    for commit in kept_commits(&timeline.commits) {
        let Some(refresh_id) = commit.refresh_id.clone() else { continue };
        let bytes = match objects.content_bytes(&commit.digests.data) {
            Some(bytes) => bytes as u64,
            None => pending::find(dir, commit.revision)?
                .map_or(0, |generation| generation.data.len() as u64),
        };
        let data_digest = commit.digests.data_content.clone();
        found.push(SnapshotSummary { refresh_id, generated_at: commit.at, data_digest, bytes });
    }
    found.sort_by(|a, b| b.refresh_id.cmp(&a.refresh_id));
    found.dedup_by(|a, b| a.refresh_id == b.refresh_id);
    Ok(found)
}

/// Reads one snapshot.
pub(crate) fn snapshot(
    dir: &Dir,
    artifact: &ArtifactId,
    refresh: &RefreshId,
) -> Result<Snapshot, StoreError> {
    let timeline = timeline(dir)?;
    let of_refresh = |commit: &&CommitRecord| commit.refresh_id.as_ref() == Some(refresh);
    if let Some(commit) = kept_commits(&timeline.commits).find(of_refresh) {
        let kept = read_commit(dir, artifact, commit.clone())?;
        return Ok(Snapshot {
            refresh_id: refresh.clone(),
            revision: Some(kept.commit.revision),
            data: kept.data,
            provenance: kept.provenance,
        });
    }
    let missing =
        || StoreError::SnapshotNotFound { artifact: artifact.clone(), refresh: refresh.clone() };
    snapshots::read(dir, refresh)?.ok_or_else(missing)
}

/// Reads every kept revision back; returns how many there are, and what of them is damaged.
pub(crate) fn inspect(dir: &Dir) -> Result<(usize, Vec<RevisionFault>), DiskError> {
    let mut moves = 0;
    loop {
        let found = inspect_once(dir)?;
        // What a checkpoint let go of meanwhile is no damage; real damage is found again.
        if found.1.is_empty() || moves >= FRAME_MOVES_MAX {
            return Ok(found);
        }
        moves += 1;
    }
}

fn inspect_once(dir: &Dir) -> Result<(usize, Vec<RevisionFault>), DiskError> {
    let timeline = read_timeline(dir)?;
    let objects = Objects::open(dir)?;
    let mut sound: BTreeMap<Digest, bool> = BTreeMap::new();
    let mut faults = Vec::new();
    let mut count = 0;
    for commit in kept_commits(&timeline.commits) {
        count += 1;
        if pending::find(dir, commit.revision)?.is_some() {
            continue;
        }
        for (part, digest) in kept_parts(&commit.digests) {
            let is_sound = match sound.get(digest) {
                Some(known) => *known,
                None => {
                    let read = objects.read(digest)?.is_some();
                    sound.insert(digest.clone(), read);
                    read
                }
            };
            if !is_sound {
                let (revision, object) = (commit.revision, digest.clone());
                faults.push(RevisionFault { revision, part, object });
            }
        }
    }
    Ok((count, faults))
}

/// Returns why records of a log may be missing.
pub(super) fn broken(log: &AuditLog) -> Option<HealthReason> {
    match log.tail {
        Tail::Broken(reason) => Some(reason),
        Tail::Clean | Tail::Torn(_) => None,
    }
}
