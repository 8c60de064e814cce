//! One commit as rows: pointer, contents, records.

use std::collections::BTreeMap;
use std::sync::Arc;

use od_core::artifact::{Artifact, ArtifactState, Digests, FileDigests, Health};
use od_core::ids::{Digest, RefreshId, Revision};
use od_core::json;
use od_core::ledger::{CommitNote, CommitRecord, LogRecord, RefreshLedger, RevisionSource};
use od_core::refresh::RefreshRecord;
use od_ports::store::StoreError;
use tokio_postgres::types::Type;

use crate::content::Loaded;
use crate::fault::{Fault, unavailable};
use crate::log::CheckedLog;
use crate::pool::Param;
use crate::row::{ArtifactRow, Lease, LogEnd};
use crate::write::Transaction;

const INSERT: &str = "WITH a AS (INSERT INTO od.artifact(project, id, revision, pointer, pointer_digest, \
        template, data, provenance, attempt, ledger, log_seq, log_end, log_bytes) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING key), \
    b AS (INSERT INTO od.blob SELECT a.key, u.digest, u.bytes FROM a, \
        unnest($14::text[], $15::bytea[]) AS u(digest, bytes)), \
    r AS (INSERT INTO od.record SELECT a.key, u.seq, u.line, u.is_commit, $16 FROM a, \
        unnest($17::int8[], $18::bytea[], $19::bool[]) AS u(seq, line, is_commit)), \
    v AS (INSERT INTO od.revision SELECT a.key, $3, $4, $5 FROM a) \
    SELECT key FROM a";

/// What is there under a digest already stays, unless it is damaged.
const UPDATE: &str = "WITH b AS (INSERT INTO od.blob AS known SELECT $1, u.digest, u.bytes FROM \
        unnest($10::text[], $11::bytea[]) AS u(digest, bytes) \
        ON CONFLICT (artifact, digest) DO UPDATE SET bytes = excluded.bytes \
        WHERE known.bytes <> excluded.bytes), \
    r AS (INSERT INTO od.record SELECT $1, u.seq, u.line, u.is_commit, $12 FROM \
        unnest($13::int8[], $14::bytea[], $15::bool[]) AS u(seq, line, is_commit)), \
    v AS (INSERT INTO od.revision SELECT $1, $2, $3, $4), \
    l AS (DELETE FROM od.lease WHERE artifact = $1 AND refresh = $16) \
    UPDATE od.artifact SET revision = $2, pointer = $3, pointer_digest = $4, template = $5, data = $6, \
        provenance = $7, ledger = $8, is_open = $9, last_refresh = COALESCE($16, last_refresh), \
        log_seq = $17, log_end = $18, log_bytes = $19 WHERE key = $1";

/// Everything that one commit writes.
pub(crate) struct Generation {
    pub(crate) state: ArtifactState,
    pointer: Vec<u8>,
    pointer_digest: Digest,
    /// The contents by their digest.
    blobs: BTreeMap<Digest, Vec<u8>>,
    lines: Vec<Vec<u8>>,
    pub(crate) refresh: Option<RefreshId>,
    ledger: RefreshLedger,
    log: LogEnd,
}

/// The past that a commit is added to.
pub(crate) struct Past<'a> {
    /// The artifact before it.
    pub(crate) before: Option<&'a Artifact>,
    pub(crate) revision: Revision,
    pub(crate) ledger: RefreshLedger,
    pub(crate) log: LogEnd,
}

impl Generation {
    /// Builds the rows of a commit, and sets revision and digests of the state to match.
    pub(crate) fn build(
        mut state: ArtifactState,
        page: &[u8],
        note: CommitNote,
        refresh: Option<RefreshRecord>,
        past: Past<'_>,
    ) -> Result<Self, StoreError> {
        let unwritable = |_| {
            unavailable("the artifact cannot be written as JSON", od_ports::store::Outcome::NotDone)
        };
        let Past { before, revision, mut ledger, mut log } = past;
        let provenance = serde_json::to_value(&state.provenance).map_err(unwritable)?;
        let template_bytes = state.template_html.as_bytes().to_vec();
        let data_bytes = json::pretty_bytes(state.data.value());
        let provenance_bytes = json::pretty_bytes(&provenance);
        state.artifact.revision = revision;
        state.artifact.digests = Digests {
            template: FileDigests::of_html(&template_bytes),
            data: FileDigests::of_json(state.data.value(), &data_bytes),
            provenance: FileDigests::of_json(&provenance, &provenance_bytes),
            index: FileDigests::of_html(page),
        };
        let refresh_id = refresh.as_ref().map(|record| record.refresh_id.clone());
        let commit = CommitRecord::new(note, before, &state.artifact);
        let source = RevisionSource::of(&state.artifact).to_bytes();
        let source_digest = commit.digests.source.clone();
        state.artifact.withheld = None;
        let pointer = serde_json::to_vec(&state.artifact).map_err(unwritable)?;
        let mut lines = Vec::with_capacity(2);
        if let Some(record) = refresh {
            ledger.append(&record);
            lines.push(log.push(LogRecord::Refresh(record)));
        }
        let commit = CommitRecord { refresh_id: refresh_id.clone(), ..commit };
        lines.push(log.push(LogRecord::Commit(commit)));
        let digests = &state.artifact.digests;
        let blobs = BTreeMap::from([
            (digests.template.raw.clone(), template_bytes),
            (digests.data.raw.clone(), data_bytes),
            (digests.provenance.raw.clone(), provenance_bytes),
            (source_digest, source),
        ]);
        let pointer_digest = Digest::of_bytes(&pointer);
        Ok(Self { state, pointer, pointer_digest, blobs, lines, refresh: refresh_id, ledger, log })
    }

    /// Returns the number of the last record.
    pub(crate) const fn last_seq(&self) -> i64 {
        self.log.seq
    }

    /// Leaves out contents that the artifact has already.
    pub(crate) fn without_known(mut self, before: &Artifact) -> Self {
        let known = od_core::ledger::RevisionDigests::of(before);
        for digest in known.objects() {
            self.blobs.remove(digest);
        }
        self
    }

    /// Writes a new artifact; returns its key.
    pub(crate) async fn insert(
        &self,
        transaction: &Transaction,
        writer: &str,
    ) -> Result<i64, Fault> {
        let artifact = &self.state.artifact;
        let rows = self.rows();
        let attempt = artifact.created_by_attempt.as_ref().map(|attempt| attempt.id.as_str());
        let (project, id) = (artifact.project_id.as_str(), artifact.id.as_str());
        let params: [Param<'_>; 19] = [
            (&project, Type::TEXT),
            (&id, Type::TEXT),
            (&rows.revision, Type::INT8),
            (&self.pointer, Type::BYTEA),
            (&rows.pointer_digest, Type::TEXT),
            (&rows.template, Type::TEXT),
            (&rows.data, Type::TEXT),
            (&rows.provenance, Type::TEXT),
            (&attempt, Type::TEXT),
            (&rows.ledger, Type::TEXT),
            (&self.log.seq, Type::INT8),
            (&rows.log_end, Type::TEXT),
            (&self.log.bytes, Type::INT8),
            (&rows.digests, Type::TEXT_ARRAY),
            (&rows.contents, Type::BYTEA_ARRAY),
            (&writer, Type::TEXT),
            (&rows.seqs, Type::INT8_ARRAY),
            (&self.lines, Type::BYTEA_ARRAY),
            (&rows.are_commits, Type::BOOL_ARRAY),
        ];
        let inserted = transaction.rows(INSERT, &params).await?;
        let key = inserted.first().map(|row| row.try_get(0));
        key.transpose().ok().flatten().ok_or(Fault::Lost)
    }

    /// Writes the next revision of an artifact.
    pub(crate) async fn update(
        &self,
        transaction: &Transaction,
        key: i64,
        writer: &str,
    ) -> Result<(), Fault> {
        let rows = self.rows();
        let refresh = self.refresh.as_ref().map(RefreshId::as_str);
        let is_open = !self.ledger.open().is_empty();
        let params: [Param<'_>; 19] = [
            (&key, Type::INT8),
            (&rows.revision, Type::INT8),
            (&self.pointer, Type::BYTEA),
            (&rows.pointer_digest, Type::TEXT),
            (&rows.template, Type::TEXT),
            (&rows.data, Type::TEXT),
            (&rows.provenance, Type::TEXT),
            (&rows.ledger, Type::TEXT),
            (&is_open, Type::BOOL),
            (&rows.digests, Type::TEXT_ARRAY),
            (&rows.contents, Type::BYTEA_ARRAY),
            (&writer, Type::TEXT),
            (&rows.seqs, Type::INT8_ARRAY),
            (&self.lines, Type::BYTEA_ARRAY),
            (&rows.are_commits, Type::BOOL_ARRAY),
            (&refresh, Type::TEXT),
            (&self.log.seq, Type::INT8),
            (&rows.log_end, Type::TEXT),
            (&self.log.bytes, Type::INT8),
        ];
        transaction.rows(UPDATE, &params).await.map(drop)
    }

    fn rows(&self) -> Rows<'_> {
        let artifact = &self.state.artifact;
        let digests = &artifact.digests;
        let first = self.log.seq - i64::try_from(self.lines.len()).unwrap_or(0) + 1;
        let last = self.lines.len() - 1;
        Rows {
            revision: i64::try_from(artifact.revision.get()).unwrap_or(i64::MAX),
            pointer_digest: self.pointer_digest.as_str(),
            template: digests.template.raw.as_str(),
            data: digests.data.raw.as_str(),
            provenance: digests.provenance.raw.as_str(),
            ledger: ledger_text(&self.ledger),
            log_end: self.log.digest.as_ref().map(Digest::as_str),
            digests: self.blobs.keys().map(Digest::as_str).collect(),
            contents: self.blobs.values().map(Vec::as_slice).collect(),
            seqs: (first..=self.log.seq).collect(),
            // The record of the commit comes last, behind that of the refresh that made it.
            are_commits: (0..self.lines.len()).map(|at| at == last).collect(),
        }
    }

    /// Returns the artifact as it is after the commit, without reading it back.
    pub(crate) fn into_loaded(self, key: i64, version: i64, before: Option<&Loaded>) -> Loaded {
        let Self { state, pointer, refresh, ledger, log, blobs, .. } = self;
        let mut checked =
            before.map_or_else(CheckedLog::default, |before| CheckedLog::clone(&before.log));
        checked.continue_to(log.seq, log.digest.clone(), ledger.clone(), state.artifact.revision);
        let earlier = before.map(|before| &before.row);
        let is_its_lease =
            |lease: &Lease| refresh.as_ref().is_none_or(|refresh| lease.refresh != *refresh);
        let lease = before.and_then(|before| before.lease.clone()).filter(is_its_lease);
        let row = ArtifactRow {
            key,
            project: state.artifact.project_id.clone(),
            id: state.artifact.id.clone(),
            pointer: Ok(state.artifact.clone()),
            pointer_bytes: pointer,
            last_refresh: refresh.or_else(|| earlier.and_then(|row| row.last_refresh.clone())),
            ledger: Some(ledger),
            log,
            lease: lease.clone(),
            deleted_at: None,
            version,
        };
        let bytes = blobs.values().map(|bytes| 3 * bytes.len()).sum::<usize>();
        let bytes = bytes.max(before.map_or(0, |before| before.bytes));
        let held_until = lease.as_ref().map_or(i64::MIN, |lease| lease.until_ms - 1);
        let (row, log) = (Arc::new(row), Arc::new(checked));
        let loaded = Loaded::assemble(row, Some(state), Health::HEALTHY, log, lease, held_until);
        loaded.sized(bytes)
    }
}

/// The values of the columns.
struct Rows<'a> {
    revision: i64,
    pointer_digest: &'a str,
    template: &'a str,
    data: &'a str,
    provenance: &'a str,
    ledger: String,
    log_end: Option<&'a str>,
    digests: Vec<&'a str>,
    contents: Vec<&'a [u8]>,
    seqs: Vec<i64>,
    are_commits: Vec<bool>,
}

/// Writes the folded records as text.
pub(crate) fn ledger_text(ledger: &RefreshLedger) -> String {
    // Strings, times and numbers only: writing them cannot fail.
    serde_json::to_string(ledger).unwrap_or_default()
}

impl LogEnd {
    /// Adds a record; returns its line.
    pub(crate) fn push(&mut self, record: LogRecord) -> Vec<u8> {
        let line = record.to_line_after(self.digest.take());
        self.digest = Some(Digest::of_bytes(&line));
        self.seq += 1;
        self.bytes += i64::try_from(line.len()).unwrap_or(0);
        line
    }
}

impl CheckedLog {
    /// Takes in records that were written here a moment ago, and need no check.
    pub(crate) fn continue_to(
        &mut self,
        seq: i64,
        digest: Option<Digest>,
        ledger: RefreshLedger,
        revision: Revision,
    ) {
        self.records += usize::try_from(seq - self.seq).unwrap_or(0);
        self.seq = seq;
        self.digest = digest;
        self.set_folded(ledger, revision);
    }
}
