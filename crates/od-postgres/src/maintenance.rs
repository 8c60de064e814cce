//! Verify, repair, recovery, and what others have changed.

use std::sync::Arc;

use async_trait::async_trait;
use od_core::artifact::{ArtifactState, ArtifactSummary, HealthState, render_stored};
use od_core::event::ArtifactAction;
use od_core::ids::{ArtifactId, Digest, ProjectId, Revision};
use od_core::json::Value;
use od_core::ledger::{Actor, CommitKind, CommitNote, Door, is_trash_expired, next_revision};
use od_core::limits::TRASH_RETENTION;
use od_ports::store::{
    Census, ChangeElsewhere, InspectedFile, Inspection, Reach, RepairMode, RepairReport,
    StoreError, StoreMaintenance, StorePlace, Unrecovered,
};
use tokio_postgres::types::Type;

use crate::content::{Loaded, blob};
use crate::fault::Fault;
use crate::generation::{Generation, Past, ledger_text};
use crate::log::{self, Line, Reader};
use crate::pool::Param;
use crate::row::{ArtifactRow, COLUMNS, LogEnd, TABLES};
use crate::schema;
use crate::store::PgStore;
use crate::write::{Probe, Transaction};

const ASIDE: &str = "INSERT INTO od.aside(artifact, name, bytes) VALUES ($1, $2, $3)";
const CUT: &str = "WITH a AS (INSERT INTO od.aside(artifact, name, bytes) SELECT artifact, \
        'record ' || seq, line FROM od.record WHERE artifact = $1 AND seq > $2), \
    d AS (DELETE FROM od.record WHERE artifact = $1 AND seq > $2) \
    UPDATE od.artifact SET log_seq = $2, log_end = $3, ledger = $4, is_open = $5 WHERE key = $1";
/// The changes that are told at once; a daemon that was away longer tells the rest at the next look.
const TOLD_MAX: i64 = 1_000;

#[async_trait]
impl StoreMaintenance for PgStore {
    async fn inspect(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
    ) -> Result<Inspection, StoreError> {
        let (loaded, whole) = self.whole_log(project, artifact).await?;
        let row = &loaded.row;
        let newest_first: Vec<_> = whole.commits.iter().rev().cloned().collect();
        let (revisions, revision_faults) = self.inspect_revisions(row.key, &newest_first).await?;
        let files = self.inspect_files(&loaded).await?;
        Ok(Inspection {
            health: loaded.stored.health,
            artifact: row.pointer.clone().ok(),
            files,
            log_records: whole.log.records,
            log_fault: whole.log.fault(row).map(|reason| reason.to_string()),
            snapshots: 0,
            snapshot_faults: Vec::new(),
            obstacles: Vec::new(),
            has_unfinished_commit: false,
            revisions,
            revision_faults,
        })
    }

    async fn repair(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        mode: RepairMode,
    ) -> Result<RepairReport, StoreError> {
        let (transaction, loaded) = self.lock(project, artifact).await?;
        let mut report = RepairReport::default();
        match loaded.stored.health.state {
            HealthState::Healthy => return Ok(report),
            HealthState::UnknownVersion => {
                report.keeps.push("everything: a newer program wrote it".to_owned());
                return Ok(report);
            }
            HealthState::CorruptTail | HealthState::CorruptHead => {}
        }
        let (log, ledger) = cut_tail(&transaction, &loaded, &mut report).await?;
        let state = loaded.stored.state.as_deref();
        let rescue = state.and_then(|state| Some((state.clone(), render(state)?)));
        let Some((state, page)) = rescue else {
            report.keeps.clear();
            report.drops = vec![
                "nothing of it can be proved good; delete it, it stays in the trash for 7 days"
                    .to_owned(),
            ];
            return Ok(report);
        };
        report.keeps.push(format!("revision {}", state.artifact.revision));
        if loaded.stored.health.state == HealthState::CorruptHead {
            report
                .drops
                .push("the present revision, which is damaged (kept in od.aside)".to_owned());
        }
        if mode == RepairMode::Plan {
            return Ok(report);
        }
        self.carry_out(transaction, &loaded, (state, page), (log, ledger)).await?;
        report.applied = true;
        Ok(report)
    }

    async fn recover(&self) -> Result<Vec<Unrecovered>, StoreError> {
        schema::check(&self.shared.pool).await?;
        // Nothing is ever half done here: a transaction is there or it is not.
        let now = self.clock.now();
        let sql = "SELECT key, deleted_at FROM od.artifact WHERE deleted_at < $1 LIMIT 1000";
        let before = now.unix_ms().saturating_sub(TRASH_RETENTION.allowed.cast_signed());
        let mut expired: Vec<i64> = Vec::new();
        for row in self.shared.pool.rows(sql, &[(&before, Type::INT8)]).await? {
            let fault = |err: tokio_postgres::Error| Fault::of_row(&err);
            let deleted_at: i64 = row.try_get(1).map_err(fault)?;
            if is_trash_expired(od_core::ids::Timestamp::from_unix_ms(deleted_at), now) {
                expired.push(row.try_get(0).map_err(fault)?);
            }
        }
        if !expired.is_empty() {
            let sql = "WITH d AS (DELETE FROM od.artifact WHERE key = ANY($1) \
                    AND deleted_at IS NOT NULL RETURNING key) \
                UPDATE od.store SET version = version + 1, purged = version + 1 \
                WHERE EXISTS (SELECT 1 FROM d)";
            let conn = self.shared.pool.writer().await?;
            conn.locked_rows(sql, &[(&expired, Type::INT8_ARRAY)]).await?;
        }
        Ok(Vec::new())
    }

    async fn census(&self, projects: &[ProjectId]) -> Census {
        let mut census = Census::default();
        for project in projects {
            match self.shared.index.tally(project).await {
                Some(tally) => census.tally.merge(&tally),
                None => census.unlisted += 1,
            }
        }
        census
    }

    fn place(&self) -> StorePlace {
        let pool = &self.shared.pool;
        let reach = if pool.is_down() { Reach::Unreachable } else { Reach::Reachable };
        StorePlace::Postgres { address: pool.address().place(), reach }
    }

    async fn changes_elsewhere(&self) -> Vec<ChangeElsewhere> {
        self.look_for_changes().await.unwrap_or_default()
    }
}

impl PgStore {
    async fn inspect_files(&self, loaded: &Loaded) -> Result<Vec<InspectedFile>, StoreError> {
        let row = &loaded.row;
        let Ok(artifact) = &row.pointer else { return Ok(Vec::new()) };
        let digests = &artifact.digests;
        let mut files = Vec::with_capacity(4);
        let named = [
            ("template.html", &digests.template),
            ("data.json", &digests.data),
            ("provenance.json", &digests.provenance),
        ];
        for (name, expected) in named {
            let bytes = blob(Reader::Pool(&self.shared.pool), row.key, &expected.raw).await?;
            let content_found = bytes.as_deref().and_then(|bytes| {
                if name == "template.html" {
                    return Some(Digest::of_bytes(bytes));
                }
                serde_json::from_slice::<Value>(bytes).ok().map(|value| Digest::of_json(&value))
            });
            files.push(InspectedFile {
                name,
                content_expected: Some(expected.content.clone()),
                raw_expected: Some(expected.raw.clone()),
                raw_found: bytes.as_deref().map(Digest::of_bytes),
                bytes: bytes.map(Arc::from),
                content_found,
            });
        }
        // A page is not stored: it follows from the rest, and is drawn where it is asked for.
        Ok(files)
    }

    /// Writes a repair: what is damaged goes aside, and a good state becomes the next revision.
    async fn carry_out(
        &self,
        transaction: Transaction,
        loaded: &Loaded,
        (state, page): (ArtifactState, Arc<[u8]>),
        (log, ledger): (LogEnd, od_core::ledger::RefreshLedger),
    ) -> Result<(), StoreError> {
        let row = &loaded.row;
        let key = row.key;
        let end = log.digest.as_ref().map(Digest::as_str);
        let (text, is_open) = (ledger_text(&ledger), !ledger.open().is_empty());
        let params: [Param<'_>; 5] = [
            (&key, Type::INT8),
            (&log.seq, Type::INT8),
            (&end, Type::TEXT),
            (&text, Type::TEXT),
            (&is_open, Type::BOOL),
        ];
        transaction.rows(CUT, &params).await?;
        let writer = self.shared.writer();
        let name = "artifact.json";
        let params: [Param<'_>; 3] =
            [(&key, Type::INT8), (&name, Type::TEXT), (&row.pointer_bytes, Type::BYTEA)];
        transaction.rows(ASIDE, &params).await?;
        let numbers = "SELECT revision FROM od.artifact WHERE key = $1 \
            UNION SELECT revision FROM od.revision WHERE artifact = $1";
        let mut traces = Vec::new();
        for row in transaction.rows(numbers, &[(&key, Type::INT8)]).await? {
            let number: i64 = row.try_get(0).map_err(|err| Fault::of_row(&err))?;
            let number = u64::try_from(number).unwrap_or_default();
            traces.extend(Revision::try_from(number).ok());
        }
        let before = state.artifact.clone();
        let past = Past { before: Some(&before), revision: next_revision(traces), ledger, log };
        // Only a person repairs, and only the command line has the verb. The timeline goes on with the
        // revision that is there: cut off, it would say less than the pointer.
        let note = CommitNote::new(CommitKind::Repair, Actor::Person, Door::CommandLine);
        let generation = Generation::build(state, &page, note, None, past)?;
        generation.update(&transaction, key, &writer).await?;
        let seq = generation.last_seq();
        let committed = transaction.commit(key).await?;
        let probe = Probe::Record { key, seq, writer };
        self.shared.note_own(self.shared.settle(committed, probe).await?);
        Ok(())
    }

    async fn look_for_changes(&self) -> Result<Vec<ChangeElsewhere>, StoreError> {
        let mut told = self.told.lock().await;
        let newest = "SELECT version FROM od.store";
        let version =
            |rows: &[tokio_postgres::Row]| -> Option<i64> { rows.first()?.try_get(0).ok() };
        let newest = version(&self.shared.pool.rows(newest, &[]).await?);
        let Some(newest) = newest else { return Ok(Vec::new()) };
        let Some(from) = told.filter(|told| *told < newest) else {
            *told = Some(newest);
            return Ok(Vec::new());
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE a.version > $1 ORDER BY a.version LIMIT $2"
        );
        let params: [Param<'_>; 2] = [(&from, Type::INT8), (&TOLD_MAX, Type::INT8)];
        let mut changes = Vec::new();
        let mut seen = 0;
        for row in self.shared.pool.rows(&sql, &params).await? {
            let Some(row) = ArtifactRow::read(&row)? else { continue };
            seen += 1;
            *told = Some(row.version);
            if !self.shared.is_own(row.version) {
                changes.push(change_of(&row));
            }
        }
        if seen < TOLD_MAX {
            *told = Some(newest);
        }
        Ok(changes)
    }
}

fn change_of(row: &ArtifactRow) -> ChangeElsewhere {
    let health = row.health();
    let summary = match (&row.pointer, &row.ledger) {
        (Ok(artifact), Some(ledger)) => {
            let lock = crate::row::Lease::state_at(
                row.lease.as_ref(),
                crate::row::Lease::read_at(row.lease.as_ref()),
            );
            let mut artifact = artifact.clone();
            artifact.refresh_status = ledger.refresh_status(artifact.refresh_status, lock);
            artifact.summary(health)
        }
        (Ok(artifact), None) => artifact.summary(health),
        (Err(_), _) => ArtifactSummary::of_unreadable(&row.project, &row.id, health),
    };
    let action = match (row.deleted_at, row.log.seq) {
        (Some(_), _) => ArtifactAction::Deleted,
        (None, 1) => ArtifactAction::Created,
        (None, _) => ArtifactAction::Updated,
    };
    ChangeElsewhere { action, summary: Arc::new(summary) }
}

/// Works out what is left of the log: the records up to the first that is not believed.
async fn cut_tail(
    transaction: &Transaction,
    loaded: &Loaded,
    report: &mut RepairReport,
) -> Result<(LogEnd, od_core::ledger::RefreshLedger), StoreError> {
    let row = &loaded.row;
    let whole = log::read_whole(Reader::Transaction(transaction.conn()?), row).await?;
    report.keeps.push(format!("{} records of the timeline", whole.log.records));
    let lost = whole.rest.iter().filter(|line: &&Line| line.seq > whole.log.seq).count();
    if lost > 0 {
        report.drops.push(format!("{lost} records after the damage (kept in od.aside)"));
    }
    let log = LogEnd { seq: whole.log.seq, digest: whole.log.digest.clone(), ..row.log.clone() };
    Ok((log, whole.log.ledger))
}

fn render(state: &ArtifactState) -> Option<Arc<[u8]>> {
    render_stored(&state.template_html, state.data.value(), &state.page_settings(), None)
        .ok()
        .map(Into::into)
}
