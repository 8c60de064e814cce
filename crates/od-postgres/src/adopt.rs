//! Artifacts of another store, taken over with their history.

use std::collections::BTreeMap;

use async_trait::async_trait;
use od_core::artifact::ArtifactState;
use od_core::ids::{Digest, RefreshId};
use od_core::json;
use od_core::ledger::{LogRecord, RefreshLedger, RevisionSource};
use od_ports::store::{Archive, KeptRevision, Outcome, StoreError, StoreTransfer};
use tokio_postgres::types::Type;

use crate::fault::{Fault, unavailable};
use crate::generation::ledger_text;
use crate::pool::Param;
use crate::row::LogEnd;
use crate::store::PgStore;
use crate::write::{Probe, Transaction};

const INSERT: &str = "WITH a AS (INSERT INTO od.artifact(project, id, revision, pointer, pointer_digest, \
        template, data, provenance, last_refresh, attempt, ledger, is_open, log_seq, log_end, log_base, \
        log_base_end, log_bytes) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) \
        RETURNING key), \
    b AS (INSERT INTO od.blob SELECT a.key, u.digest, u.bytes FROM a, \
        unnest($18::text[], $19::bytea[]) AS u(digest, bytes)), \
    r AS (INSERT INTO od.record SELECT a.key, u.seq, u.line, u.is_commit, $20 FROM a, \
        unnest($21::int8[], $22::bytea[], $23::bool[]) AS u(seq, line, is_commit)), \
    v AS (INSERT INTO od.revision SELECT a.key, $3, $4, $5 FROM a) \
    SELECT key FROM a";

#[async_trait]
impl StoreTransfer for PgStore {
    fn takes_earlier(&self) -> bool {
        true
    }

    async fn adopt(&self, archive: Archive) -> Result<(), StoreError> {
        let artifact = &archive.state.artifact;
        let (project, id) = (artifact.project_id.clone(), artifact.id.clone());
        let transaction = Transaction::begin(&self.shared.pool).await?;
        let lock = "SELECT 1 FROM od.project WHERE id = $1 FOR NO KEY UPDATE";
        let project_id = project.as_str();
        if transaction.rows(lock, &[(&project_id, Type::TEXT)]).await?.is_empty() {
            return Err(StoreError::ProjectNotFound { project });
        }
        let writer = self.shared.writer();
        let key = match insert(&transaction, &archive, &writer).await? {
            Err(Fault::Taken) => return Err(StoreError::Exists { artifact: id }),
            other => other?,
        };
        let committed = transaction.commit(key).await?;
        let probe = Probe::Create { project: project.as_str().to_owned(), key, writer };
        let version = self.shared.settle(committed, probe).await?;
        self.shared.note_own(version);
        Ok(())
    }
}

async fn insert(
    transaction: &Transaction,
    archive: &Archive,
    writer: &str,
) -> Result<Result<i64, Fault>, StoreError> {
    let artifact = &archive.state.artifact;
    let pointer = serde_json::to_vec(artifact).map_err(|_| unreadable())?;
    let pointer_digest = Digest::of_bytes(&pointer);
    let blobs = contents(archive)?;
    let Lines { lines, are_commits, log, ledger } = Lines::of(archive);
    let seqs: Vec<i64> = (1..=log.seq).collect();
    let revision = i64::try_from(artifact.revision.get()).unwrap_or(i64::MAX);
    let digests = &artifact.digests;
    let (template, data, provenance) =
        (digests.template.raw.as_str(), digests.data.raw.as_str(), digests.provenance.raw.as_str());
    let (project, id) = (artifact.project_id.as_str(), artifact.id.as_str());
    let attempt = artifact.created_by_attempt.as_ref().map(|attempt| attempt.id.as_str());
    let last_refresh = archive.last_refresh.as_ref().map(RefreshId::as_str);
    let (text, is_open) = (ledger_text(&ledger), !ledger.open().is_empty());
    let end = log.digest.as_ref().map(Digest::as_str);
    let base_end = log.base_digest.as_ref().map(Digest::as_str);
    let names: Vec<&str> = blobs.keys().map(Digest::as_str).collect();
    let bytes: Vec<&[u8]> = blobs.values().map(Vec::as_slice).collect();
    let pointer_digest = pointer_digest.as_str();
    let params: [Param<'_>; 23] = [
        (&project, Type::TEXT),
        (&id, Type::TEXT),
        (&revision, Type::INT8),
        (&pointer, Type::BYTEA),
        (&pointer_digest, Type::TEXT),
        (&template, Type::TEXT),
        (&data, Type::TEXT),
        (&provenance, Type::TEXT),
        (&last_refresh, Type::TEXT),
        (&attempt, Type::TEXT),
        (&text, Type::TEXT),
        (&is_open, Type::BOOL),
        (&log.seq, Type::INT8),
        (&end, Type::TEXT),
        (&log.base, Type::INT8),
        (&base_end, Type::TEXT),
        (&log.bytes, Type::INT8),
        (&names, Type::TEXT_ARRAY),
        (&bytes, Type::BYTEA_ARRAY),
        (&writer, Type::TEXT),
        (&seqs, Type::INT8_ARRAY),
        (&lines, Type::BYTEA_ARRAY),
        (&are_commits, Type::BOOL_ARRAY),
    ];
    let inserted = transaction.rows(INSERT, &params).await;
    Ok(inserted.and_then(|rows| {
        let key = rows.first().map(|row| row.try_get(0));
        key.transpose().ok().flatten().ok_or(Fault::Lost)
    }))
}

/// The records as they are stored.
struct Lines {
    lines: Vec<Vec<u8>>,
    are_commits: Vec<bool>,
    log: LogEnd,
    ledger: RefreshLedger,
}

impl Lines {
    fn of(archive: &Archive) -> Self {
        let (mut lines, mut are_commits) = (Vec::new(), Vec::new());
        let (mut ledger, mut log) = (RefreshLedger::default(), LogEnd::default());
        for commit in &archive.earlier {
            // Its neighbours are gone: it stands for itself, as it was.
            let prev = commit.prev.clone();
            lines.push(LogRecord::Commit(commit.clone()).to_line_after(prev));
            are_commits.push(true);
            log.seq += 1;
        }
        log.base = log.seq;
        log.base_digest = archive.records.first().and_then(|record| record.prev().cloned());
        log.digest = log.base_digest.clone();
        for record in &archive.records {
            if let LogRecord::Refresh(record) = record {
                ledger.append(record);
            }
            are_commits.push(matches!(record, LogRecord::Commit(_)));
            lines.push(log.push(record.clone()));
        }
        Self { lines, are_commits, log, ledger }
    }
}

/// Returns the contents by the digests that the records name, each checked.
fn contents(archive: &Archive) -> Result<BTreeMap<Digest, Vec<u8>>, StoreError> {
    let mut blobs = BTreeMap::new();
    let mut add = |digest: &Digest, bytes: Vec<u8>| {
        if Digest::of_bytes(&bytes) != *digest {
            return Err(unreadable());
        }
        blobs.insert(digest.clone(), bytes);
        Ok(())
    };
    for kept in &archive.revisions {
        let KeptRevision { commit, template_html, data, provenance, source } = kept;
        let provenance = serde_json::to_value(provenance).map_err(|_| unreadable())?;
        add(&commit.digests.template, template_html.as_bytes().to_vec())?;
        add(&commit.digests.data, json::pretty_bytes(data.value()))?;
        add(&commit.digests.provenance, json::pretty_bytes(&provenance))?;
        add(&commit.digests.source, source.to_bytes())?;
    }
    let ArtifactState { artifact, template_html, data, provenance } = &archive.state;
    let provenance = serde_json::to_value(provenance).map_err(|_| unreadable())?;
    let digests = &artifact.digests;
    add(&digests.template.raw, template_html.as_bytes().to_vec())?;
    add(&digests.data.raw, json::pretty_bytes(data.value()))?;
    add(&digests.provenance.raw, json::pretty_bytes(&provenance))?;
    let source = RevisionSource::of(artifact).to_bytes();
    add(&Digest::of_bytes(&source), source)?;
    Ok(blobs)
}

fn unreadable() -> StoreError {
    unavailable("a content of the artifact is not what its digest says", Outcome::NotDone)
}
