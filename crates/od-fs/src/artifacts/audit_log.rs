//! `refreshes.jsonl`: one record a line, each with the digest of the line before it.

use std::io::Write as _;

use od_core::artifact::HealthReason;
use od_core::ids::{Digest, RefreshId, Timestamp};
use od_core::refresh::{RecordStatus, RefreshRecord};

use super::aside;
use super::pending::is_foreign;
use crate::disk::{Dir, DiskError};

pub(crate) const LOG: &str = "refreshes.jsonl";
/// The log before the last rotation. One is kept: history is bounded.
pub(crate) const ROTATED: &str = "refreshes.1.jsonl";
const ROTATE_AT_BYTES: u64 = 1024 * 1024;
/// A log is rotated soon after a mebibyte; anything much longer is not ours.
const LOG_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The log as it was read, as far as its chain holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuditLog {
    /// The records of the present file, oldest first.
    pub(crate) records: Vec<RefreshRecord>,
    /// The digest of the last good line, of this file or the one rotated away.
    last: Option<Digest>,
    /// Bytes of the file that are whole lines with an unbroken chain.
    good_bytes: u64,
    /// What follows them.
    pub(crate) tail: Tail,
    /// Whether the last good line lacks only its line end.
    ends_open: bool,
}

/// What follows the good part of a log.
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
    /// Reads the log; a missing one is empty.
    pub(crate) fn read(artifact: &Dir) -> Result<Self, DiskError> {
        let bytes = match artifact.read_if_there(LOG, LOG_BYTES_MAX) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(err) if is_foreign(&err) => {
                let tail = Tail::Broken(HealthReason::AuditUnreadable);
                return Ok(Self { tail, ..Self::default() });
            }
            Err(err) => return Err(err),
        };
        let before =
            if bytes.is_empty() || !starts_chain(&bytes) { rotated_last(artifact)? } else { None };
        Ok(Self::parse(&bytes, before))
    }

    fn parse(bytes: &[u8], before: Option<Digest>) -> Self {
        let mut log = Self { last: before, ..Self::default() };
        let mut rest = bytes;
        while !rest.is_empty() {
            let (line, after, ended) = match rest.iter().position(|byte| *byte == b'\n') {
                Some(at) => (&rest[..at], &rest[at + 1..], true),
                None => (rest, &[][..], false),
            };
            match serde_json::from_slice::<RefreshRecord>(line) {
                Ok(record) if record.prev == log.last => {
                    log.last = Some(Digest::of_bytes(line));
                    log.records.push(record);
                    log.good_bytes += line.len() as u64 + u64::from(ended);
                    log.ends_open = !ended;
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

    /// Returns the digest the next record has to carry.
    pub(crate) fn chain_end(&self) -> Option<Digest> {
        self.last.clone()
    }

    /// Returns the newest refresh id, if there is any.
    pub(crate) fn newest(&self) -> Option<&RefreshId> {
        self.records.iter().map(|record| &record.refresh_id).max()
    }

    /// Tells whether a refresh has begun and has no terminal record.
    pub(crate) fn is_open(&self, refresh: &RefreshId) -> bool {
        let mut seen = false;
        for record in self.records.iter().filter(|record| record.refresh_id == *refresh) {
            seen = true;
            if is_terminal(record) {
                return false;
            }
        }
        seen
    }

    /// Tells whether a refresh has a terminal record.
    pub(crate) fn has_ended(&self, refresh: &RefreshId) -> bool {
        self.records.iter().any(|record| record.refresh_id == *refresh && is_terminal(record))
    }

    /// Returns the newest refresh and the time of its first record, if it is open.
    pub(crate) fn open_refresh(&self) -> Option<(&RefreshId, Timestamp)> {
        let newest = self.newest()?;
        let first = self.records.iter().find(|record| record.refresh_id == *newest)?;
        self.is_open(newest).then_some((newest, first.at))
    }

    /// Returns every refresh that has begun and has no terminal record, with its first time.
    pub(crate) fn open_refreshes(&self) -> Vec<(RefreshId, Timestamp)> {
        let mut open: Vec<(RefreshId, Timestamp)> = Vec::new();
        for record in &self.records {
            if is_terminal(record) {
                open.retain(|(id, _)| *id != record.refresh_id);
            } else if !open.iter().any(|(id, _)| *id == record.refresh_id) {
                open.push((record.refresh_id.clone(), record.at));
            }
        }
        open
    }

    /// Appends a line, unless it is the last one already, without syncing.
    pub(crate) fn append_once(&self, artifact: &Dir, line: &[u8]) -> Result<(), DiskError> {
        if self.last.as_ref() == Some(&Digest::of_bytes(line)) {
            return Ok(());
        }
        self.append(artifact, line).map(|_| ())
    }

    /// Appends a line and syncs it.
    pub(crate) fn append_synced(&self, artifact: &Dir, line: &[u8]) -> Result<(), DiskError> {
        let is_new = self.good_bytes == 0;
        let file = self.append(artifact, line)?;
        file.sync_data().map_err(|err| DiskError::new("sync the audit log", err))?;
        if is_new { artifact.sync() } else { Ok(()) }
    }

    fn append(&self, artifact: &Dir, line: &[u8]) -> Result<std::fs::File, DiskError> {
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
        Ok(file)
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
    let long = artifact.stat(LOG)?.is_some_and(|stat| stat.bytes >= ROTATE_AT_BYTES);
    if !long || AuditLog::read(artifact)?.tail != Tail::Clean {
        return Ok(());
    }
    artifact.rename(LOG, artifact, ROTATED)?;
    artifact.sync()
}

/// Tells whether the first record of a log begins a chain rather than continuing one.
fn starts_chain(bytes: &[u8]) -> bool {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice::<RefreshRecord>(line).is_ok_and(|record| record.prev.is_none())
}

fn rotated_last(artifact: &Dir) -> Result<Option<Digest>, DiskError> {
    Ok(rotated(artifact)?.last)
}

/// Reads the log before the last rotation. Its own beginning was rotated away: it is taken on trust.
pub(crate) fn rotated(artifact: &Dir) -> Result<AuditLog, DiskError> {
    let bytes = match artifact.read_if_there(ROTATED, LOG_BYTES_MAX) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(err) if is_foreign(&err) => Vec::new(),
        Err(err) => return Err(err),
    };
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let before = serde_json::from_slice::<RefreshRecord>(first).ok().and_then(|record| record.prev);
    Ok(AuditLog::parse(&bytes, before))
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

/// Tells the record that ends a refresh.
pub(crate) fn is_terminal(record: &RefreshRecord) -> bool {
    record.step.is_last()
}

/// Tells the record that ends a refresh well.
pub(crate) fn is_success(record: &RefreshRecord) -> bool {
    is_terminal(record) && record.status == RecordStatus::Succeeded
}
