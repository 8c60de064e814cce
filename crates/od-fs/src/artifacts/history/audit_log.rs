//! `refreshes.jsonl`: one record a line, each with the digest of the line before it.

use std::io::Write as _;

use od_core::artifact::HealthReason;
use od_core::ids::{Digest, Revision};
use od_core::ledger::{LogRecord, RefreshLedger, is_synced_at_once, needs_rotation};
use od_core::limits::AUDIT_LOG;

use super::{archive, log_cache};
use crate::artifacts::commit::{LogPart, aside};
use crate::disk::{Dir, DiskError, EntryKind, FileStat, is_foreign};

pub(crate) const LOG: &str = "refreshes.jsonl";
/// The log before the last rotation. One is kept: history is bounded.
pub(crate) const ROTATED: &str = "refreshes.1.jsonl";
/// A log is rotated soon after its limit; anything much longer is not ours.
pub(super) const LOG_BYTES_MAX: u64 = 8 * AUDIT_LOG.allowed;

/// The log as it was read, as far as its chain holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuditLog {
    /// The records, folded, those of the file rotated away included.
    pub(crate) ledger: RefreshLedger,
    /// Records of the present file.
    pub(crate) records: usize,
    /// The newest commit that there is a record of.
    pub(crate) newest_commit: Option<Revision>,
    /// The digest of the last good line, of this file or the one rotated away.
    last: Option<Digest>,
    /// Bytes of the file that are whole lines with an unbroken chain.
    good_bytes: u64,
    /// The end of the file, after them.
    pub(crate) tail: Tail,
    /// Whether the last good line lacks only its line end.
    ends_open: bool,
    /// See [`AuditLog::unsynced_steps`].
    steps: Vec<u8>,
}

/// The end of a log, after its good part.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) enum Tail {
    /// Nothing.
    #[default]
    Clean,
    /// The start of one line: a write that was cut short.
    Torn(Vec<u8>),
    /// A whole line that is no record, or does not continue the chain.
    Broken(HealthReason),
}

impl AuditLog {
    /// Reads the log, or remembers it if the file has not changed; a missing one is empty and goes on
    /// where the one rotated away ended.
    pub(crate) fn read(artifact: &Dir) -> Result<Self, DiskError> {
        match Self::read_if_there(artifact)? {
            Some(log) => Ok(log),
            None => Ok(rotated(artifact)?.continued()),
        }
    }

    /// Reads the log, or remembers it; `None` if there is none.
    fn read_if_there(artifact: &Dir) -> Result<Option<Self>, DiskError> {
        match artifact.stat(LOG)? {
            Some(stat) if stat.kind == EntryKind::Regular => {
                if let Some(log) = log_cache::get(&stat) {
                    return Ok(Some(log));
                }
                let (mut log, mut bytes) = Self::read_with(artifact, |_| {})?;
                if matches!(log.tail, Tail::Broken(_)) && artifact.stat(LOG)? != Some(stat) {
                    // It was rotated while it was read: its end was taken for what it continues.
                    (log, bytes) = Self::read_with(artifact, |_| {})?;
                }
                if log.tail == Tail::Clean && bytes == stat.bytes {
                    log_cache::put(stat, &log);
                }
                Ok(Some(log))
            }
            Some(_) => Ok(Some(Self::unreadable())),
            None => Ok(None),
        }
    }

    /// Reads the log and every record of it from the disk, oldest first.
    pub(crate) fn read_records(artifact: &Dir) -> Result<(Self, Vec<LogRecord>), DiskError> {
        let mut records = Vec::new();
        let (log, _) = Self::read_with(artifact, |record| records.push(record))?;
        Ok((log, records))
    }

    /// Reads the file; returns how many bytes it had as well.
    fn read_with(artifact: &Dir, each: impl FnMut(LogRecord)) -> Result<(Self, u64), DiskError> {
        let bytes = match artifact.read_if_there(LOG, LOG_BYTES_MAX) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(err) if is_foreign(&err) => return Ok((Self::unreadable(), 0)),
            Err(err) => return Err(err),
        };
        let before = if bytes.is_empty() || !starts_chain(&bytes) {
            rotated(artifact)?.continued()
        } else {
            Self::default()
        };
        Ok((before.parse(&bytes, each), bytes.len() as u64))
    }

    /// Returns the empty log that goes on where this one ends, and knows what came before it.
    fn continued(self) -> Self {
        let Self { ledger, newest_commit, last, .. } = self;
        Self { ledger, newest_commit, last, ..Self::default() }
    }

    fn unreadable() -> Self {
        Self { tail: Tail::Broken(HealthReason::AuditUnreadable), ..Self::default() }
    }

    /// Adds the lines of a file, as far as they continue the chain.
    fn parse(self, bytes: &[u8], mut each: impl FnMut(LogRecord)) -> Self {
        let mut log = self;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (line, after, ended) = match rest.iter().position(|byte| *byte == b'\n') {
                Some(at) => (&rest[..at], &rest[at + 1..], true),
                None => (rest, &[][..], false),
            };
            match LogRecord::parse(line) {
                Ok(record) if record.prev() == log.last.as_ref() => {
                    log.append_line(&record, line, ended);
                    each(record);
                }
                Ok(_) if ended => {
                    log.tail = Tail::Broken(HealthReason::AuditChainBroken);
                    return log;
                }
                Err(_) if ended => {
                    log.tail = Tail::Broken(HealthReason::AuditUnreadable);
                    return log;
                }
                Ok(_) | Err(_) => {
                    log.tail = Tail::Torn(line.to_vec());
                    return log;
                }
            }
            rest = after;
        }
        log
    }

    fn append_line(&mut self, record: &LogRecord, line: &[u8], ended: bool) {
        let is_synced = match record {
            LogRecord::Refresh(record) => {
                self.ledger.append(record);
                is_synced_at_once(record.step)
            }
            LogRecord::Commit(record) => {
                self.newest_commit = self.newest_commit.max(Some(record.revision));
                // By the frame that brought it, with everything before it.
                true
            }
        };
        self.records += 1;
        if is_synced {
            self.steps.clear();
        } else {
            self.steps.extend_from_slice(line);
            self.steps.push(b'\n');
        }
        self.last = Some(Digest::of_bytes(line));
        self.good_bytes += line.len() as u64 + u64::from(ended);
        self.ends_open = !ended;
    }

    /// Returns the digest the next record has to carry.
    pub(crate) fn chain_end(&self) -> Option<Digest> {
        self.last.clone()
    }

    /// Returns the lines since the last one that is known to be on the disk, with their line ends.
    ///
    /// The first and the last record of a refresh are synced, and what comes before them with them.
    pub(crate) fn unsynced_steps(&self) -> &[u8] {
        &self.steps
    }

    /// Appends a line without waiting until it is on the disk: the record that ends the refresh
    /// takes it along.
    pub(crate) fn append_step(&self, artifact: &Dir, line: &[u8]) -> Result<(), DiskError> {
        self.append(artifact, line).map(drop)
    }

    /// Appends a line and syncs it.
    pub(crate) fn append_synced(&self, artifact: &Dir, line: &[u8]) -> Result<(), DiskError> {
        let is_new = self.good_bytes == 0;
        let file = self.append(artifact, line)?;
        file.sync_data().map_err(|err| DiskError::new("sync the audit log", err))?;
        if is_new { artifact.sync() } else { Ok(()) }
    }

    fn append(&self, artifact: &Dir, line: &[u8]) -> Result<std::fs::File, DiskError> {
        if !self.is_continued_by(line) {
            let source =
                std::io::Error::new(std::io::ErrorKind::InvalidData, "the chain is broken");
            return Err(DiskError::new("append to the audit log", source));
        }
        let mut bytes = Vec::with_capacity(line.len() + 2);
        if self.ends_open {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
        let mut file = artifact.append(LOG)?;
        if let Err(err) = file.write_all(&bytes) {
            // Half a line would be cut by the next holder; better it never sees one.
            let _ = file.set_len(self.good_bytes);
            return Err(DiskError::new("append to the audit log", err));
        }
        self.remember_appended(&file, line);
        Ok(file)
    }

    /// Returns whether a line may follow: the log is sound, and the line's record names its end.
    fn is_continued_by(&self, line: &[u8]) -> bool {
        let record = LogRecord::parse(line);
        self.tail == Tail::Clean && record.is_ok_and(|record| record.prev() == self.last.as_ref())
    }

    /// Remembers what the file is after a line of ours, if nothing else was written to it.
    fn remember_appended(&self, file: &std::fs::File, line: &[u8]) {
        let Ok(stat) = FileStat::of_file(file) else { return };
        let Ok(record) = LogRecord::parse(line) else { return };
        let mut log = self.clone();
        log.good_bytes += u64::from(self.ends_open);
        log.append_line(&record, line, true);
        if self.tail == Tail::Clean && stat.bytes == log.good_bytes {
            log_cache::put(stat, &log);
        }
    }
}

/// Appends those of the lines of a commit that the log does not have, without syncing.
///
/// The log ends before them, or somewhere among them if a loss of power took what was not synced, or
/// has gone on since. A log that is damaged before them stays as it is: behind the damage they would
/// say nothing.
pub(crate) fn append_missing(artifact: &Dir, part: &LogPart) -> Result<(), DiskError> {
    let lines: Vec<&[u8]> = part.lines().collect();
    let end = AuditLog::read(artifact)?.chain_end();
    let is_end = |line: &&[u8]| end.as_ref() == Some(&Digest::of_bytes(line));
    let there = lines.iter().rposition(is_end).map_or(0, |at| at + 1);
    for line in lines.iter().skip(there) {
        let log = AuditLog::read(artifact)?;
        if !log.is_continued_by(line) {
            return keep_unlogged(artifact, &log, part);
        }
        log.append(artifact, line)?;
    }
    Ok(())
}

/// Keeps the records of a commit aside that a damaged log has no place for.
fn keep_unlogged(artifact: &Dir, log: &AuditLog, part: &LogPart) -> Result<(), DiskError> {
    let has_ended = |id| log.ledger.has_ended(id);
    let is_logged = part.refresh.as_ref().is_some_and(has_ended)
        || part.commit().is_some_and(|commit| log.newest_commit >= Some(commit.revision));
    if log.tail == Tail::Clean || is_logged {
        return Ok(());
    }
    let lines: Vec<u8> = part.lines().flat_map(|line| [line, b"\n"].concat()).collect();
    aside::keep_bytes(artifact, "refreshes.unplaced", &lines)
}

/// Waits until every record is on the disk.
pub(crate) fn sync(artifact: &Dir) -> Result<(), DiskError> {
    match artifact.open_regular(LOG) {
        Ok((file, _)) => file.sync_data().map_err(|err| DiskError::new("sync the audit log", err)),
        Err(err) if err.is_missing() => Ok(()),
        Err(err) => Err(err),
    }
}

/// Cuts off and keeps aside a line that was never finished. The caller holds the commit lock.
pub(crate) fn cut_torn_tail(artifact: &Dir) -> Result<(), DiskError> {
    let log = AuditLog::read(artifact)?;
    if let Tail::Torn(bytes) = &log.tail {
        aside::keep_bytes(artifact, "refreshes.torn", bytes)?;
        artifact.cut(LOG, log.good_bytes)?;
    }
    Ok(())
}

/// Starts a new file once the log is long. Its first record continues the chain of the old one.
pub(crate) fn rotate(artifact: &Dir) -> Result<(), DiskError> {
    let Some(stat) = artifact.stat(LOG)? else { return Ok(()) };
    // Most logs are short, and are not read to find that out.
    if stat.bytes < AUDIT_LOG.allowed {
        return Ok(());
    }
    let log = AuditLog::read(artifact)?;
    if log.tail != Tail::Clean || !needs_rotation(stat.bytes, &log.ledger) {
        return Ok(());
    }
    archive::keep_records(artifact)?;
    artifact.rename(LOG, artifact, ROTATED)?;
    // An empty log looks different from none: whoever remembers that there was none looks again.
    artifact.append(LOG)?;
    artifact.sync()
}

/// Returns whether the first record of a log begins a chain rather than continuing one.
fn starts_chain(bytes: &[u8]) -> bool {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    LogRecord::parse(line).is_ok_and(|record| record.prev().is_none())
}

/// Reads the log before the last rotation. Its own beginning was rotated away: it is taken on trust.
pub(crate) fn rotated(artifact: &Dir) -> Result<AuditLog, DiskError> {
    let stat = match artifact.stat(ROTATED)? {
        Some(stat) if stat.kind == EntryKind::Regular => stat,
        Some(_) | None => return Ok(AuditLog::default()),
    };
    if let Some(log) = log_cache::get(&stat) {
        return Ok(log);
    }
    let (log, bytes) = read_rotated(artifact, |_| {})?;
    if log.tail == Tail::Clean && bytes == stat.bytes {
        log_cache::put(stat, &log);
    }
    Ok(log)
}

/// Returns every record from before the last rotation, oldest first.
pub(crate) fn rotated_records(artifact: &Dir) -> Result<Vec<LogRecord>, DiskError> {
    let mut records = Vec::new();
    read_rotated(artifact, |record| records.push(record))?;
    Ok(records)
}

fn read_rotated(artifact: &Dir, each: impl FnMut(LogRecord)) -> Result<(AuditLog, u64), DiskError> {
    let bytes = match artifact.read_if_there(ROTATED, LOG_BYTES_MAX) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(err) if is_foreign(&err) => Vec::new(),
        Err(err) => return Err(err),
    };
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let before = LogRecord::parse(first).ok().and_then(|record| record.prev().cloned());
    let before = AuditLog { last: before, ..AuditLog::default() };
    Ok((before.parse(&bytes, each), bytes.len() as u64))
}

/// Cuts a log at its damage, keeping all of it aside. The caller holds the commit lock.
pub(crate) fn cut_broken_tail(artifact: &Dir, log: &AuditLog) -> Result<(), DiskError> {
    match artifact.read_if_there(LOG, LOG_BYTES_MAX) {
        Ok(Some(bytes)) => {
            aside::keep_bytes(artifact, LOG, &bytes)?;
            artifact.cut(LOG, log.good_bytes)
        }
        Ok(None) => Ok(()),
        Err(err) if is_foreign(&err) => aside::keep_file(artifact, LOG),
        Err(err) => Err(err),
    }
}
