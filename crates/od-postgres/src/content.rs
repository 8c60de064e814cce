//! One artifact put together: its row, its contents, its log.

use std::sync::Arc;

use od_core::artifact::{
    Artifact, ArtifactState, ArtifactSummary, Health, HealthReason, HealthState, Provenance,
    RefreshStatus,
};
use od_core::ids::{Digest, Timestamp};
use od_core::json::BoundedObject;
use od_core::ledger::{RefreshLedger, RunningLockState};
use od_core::limits::{JSON_DOCUMENT, TEMPLATE};
use od_ports::store::{PageKey, StoreError, Stored};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::fault::Fault;
use crate::log::{self, CheckedLog, Reader};
use crate::pool::Param;
use crate::row::{self, AFTER_COLUMNS, ArtifactRow, COLUMNS, Lease, TABLES};

/// The most bytes that a content may have: what the rules allow, with room for JSON that is indented.
pub(crate) const BLOB_BYTES_MAX: i64 = 32 * JSON_DOCUMENT.allowed as i64;
const _: () = assert!(2 * TEMPLATE.allowed <= 32 * JSON_DOCUMENT.allowed);
/// The revisions that are looked through for a good one behind a damaged one.
const EARLIER: &str = "SELECT pointer, pointer_digest FROM od.revision \
    WHERE artifact = $1 AND octet_length(pointer) <= 2097152 ORDER BY revision DESC LIMIT 10";
const BLOB: &str = "SELECT bytes FROM od.blob \
    WHERE artifact = $1 AND digest = $2 AND octet_length(bytes) <= $3";

/// An artifact as it was read, and what of it is derived anew when a lease lapses.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) version: i64,
    pub(crate) stored: Arc<Stored>,
    pub(crate) log: Arc<CheckedLog>,
    pub(crate) ledger: RefreshLedger,
    committed: (RefreshStatus, Option<Timestamp>),
    pub(crate) lease: Option<Lease>,
    lock: RunningLockState,
    pub(crate) row: Arc<ArtifactRow>,
    pub(crate) bytes: usize,
}

/// Returns the statement that reads an artifact with those of its contents that the caller has not, who
/// fills in how the artifact is named.
pub(crate) fn select(named: &str) -> String {
    let blob = |column: &str| {
        format!(
            "CASE WHEN a.{column} = ANY($1) THEN NULL ELSE (SELECT CASE WHEN octet_length(b.bytes) <= \
             {BLOB_BYTES_MAX} THEN b.bytes END FROM od.blob b WHERE b.artifact = a.key AND b.digest = \
             a.{column}) END"
        )
    };
    let (template, data, provenance) = (blob("template"), blob("data"), blob("provenance"));
    format!("SELECT {COLUMNS}, {template}, {data}, {provenance} FROM {TABLES} WHERE {named}")
}

/// Returns the digests of the contents that a loaded artifact has.
pub(crate) fn known_digests(known: Option<&Loaded>) -> Vec<&str> {
    let key = known.and_then(|known| known.stored.page_key.as_ref());
    key.map_or_else(Vec::new, |key| {
        vec![key.template.as_str(), key.data.as_str(), key.provenance.as_str()]
    })
}

/// Puts an artifact together from a row of [`select`], as of a time of the server's clock or of the moment at
/// which the server read it.
pub(crate) async fn load(
    reader: Reader<'_>,
    found: &Row,
    known: Option<&Loaded>,
    now_ms: Option<i64>,
    lapsed: impl Fn(i64, &Lease) -> bool,
) -> Result<Option<Loaded>, StoreError> {
    let Some(row) = ArtifactRow::read(found)? else { return Ok(None) };
    let row = Arc::new(row);
    let log = log::check(reader, &row, known.map(|known| &known.log)).await?;
    let contents = [0, 1, 2].map(|at| found.try_get::<_, Option<Vec<u8>>>(AFTER_COLUMNS + at));
    let [template, data, provenance] = contents;
    let fault = |err: tokio_postgres::Error| StoreError::from(Fault::of_row(&err));
    let bytes = Contents {
        template: template.map_err(fault)?,
        data: data.map_err(fault)?,
        provenance: provenance.map_err(fault)?,
    };
    let size = bytes.size().max(known.map_or(0, |known| known.bytes));
    let state = match &row.pointer {
        Ok(artifact) => bytes.into_state(artifact, known),
        Err(reason) => Err(*reason),
    };
    let (state, head) = match state {
        Ok(state) => (Some(state), Health::HEALTHY),
        Err(reason) => (last_good(reader, &row).await?, row::unsound_head(reason)),
    };
    let health = match log.fault(&row) {
        Some(reason) if head.is_healthy() => Health::unsound(HealthState::CorruptTail, reason),
        Some(_) | None => head,
    };
    let lease = row.lease.clone().filter(|lease| !lapsed(row.key, lease));
    let now_ms = now_ms.unwrap_or_else(|| Lease::read_at(lease.as_ref()));
    let loaded = Loaded::assemble(row, state, health, log, lease, now_ms);
    Ok(Some(loaded.sized(size)))
}

/// The bytes of the contents, where they were sent.
struct Contents {
    template: Option<Vec<u8>>,
    data: Option<Vec<u8>>,
    provenance: Option<Vec<u8>>,
}

impl Contents {
    /// Returns about how much memory what was sent takes; parsed data take about three times their text.
    fn size(&self) -> usize {
        let len = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(0, Vec::len);
        len(&self.template) + 3 * (len(&self.data) + len(&self.provenance))
    }

    /// Reads the contents, each from its bytes or as the caller has it already.
    fn into_state(
        self,
        artifact: &Artifact,
        known: Option<&Loaded>,
    ) -> Result<ArtifactState, HealthReason> {
        let digests = &artifact.digests;
        let before = known.and_then(|known| {
            Some((known.stored.page_key.as_ref()?, known.stored.state.as_ref()?))
        });
        let checked = |bytes: Option<Vec<u8>>, digest: &Digest| match bytes {
            None => Err(HealthReason::FileMissing),
            Some(bytes) if Digest::of_bytes(&bytes) == *digest => Ok(bytes),
            Some(_) => Err(HealthReason::FileUnreadable),
        };
        let template_html = match before {
            Some((key, state)) if key.template == digests.template.raw => {
                Arc::clone(&state.template_html)
            }
            Some(_) | None => {
                let bytes = checked(self.template, &digests.template.raw)?;
                String::from_utf8(bytes).map_err(|_| HealthReason::TemplateInvalid)?.into()
            }
        };
        let data = match before {
            Some((key, state)) if key.data == digests.data.raw => state.data.clone(),
            Some(_) | None => {
                let bytes = checked(self.data, &digests.data.raw)?;
                BoundedObject::parse(&bytes).map_err(|_| HealthReason::DataInvalid)?
            }
        };
        let provenance: Provenance = match before {
            Some((key, state)) if key.provenance == digests.provenance.raw => {
                state.provenance.clone()
            }
            Some(_) | None => {
                let bytes = checked(self.provenance, &digests.provenance.raw)?;
                serde_json::from_slice(&bytes).map_err(|_| HealthReason::ProvenanceInvalid)?
            }
        };
        Ok(ArtifactState { artifact: artifact.clone(), template_html, data, provenance })
    }
}

/// Returns the newest revision that can be proved good, of an artifact whose present one cannot.
async fn last_good(
    reader: Reader<'_>,
    row: &ArtifactRow,
) -> Result<Option<ArtifactState>, StoreError> {
    let fault = |err: tokio_postgres::Error| StoreError::from(Fault::of_row(&err));
    for earlier in reader.rows(EARLIER, &[(&row.key, Type::INT8)]).await? {
        let pointer: Vec<u8> = earlier.try_get(0).map_err(fault)?;
        let digest: String = earlier.try_get(1).map_err(fault)?;
        let Ok(artifact) = row::read_pointer(Some(&pointer), Some(&digest)) else { continue };
        let digests = &artifact.digests;
        let contents = Contents {
            template: blob(reader, row.key, &digests.template.raw).await?,
            data: blob(reader, row.key, &digests.data.raw).await?,
            provenance: blob(reader, row.key, &digests.provenance.raw).await?,
        };
        if let Ok(state) = contents.into_state(&artifact, None) {
            return Ok(Some(state));
        }
    }
    Ok(None)
}

/// Reads one content; `None` if it is not there, or larger than any that od writes.
pub(crate) async fn blob(
    reader: Reader<'_>,
    key: i64,
    digest: &Digest,
) -> Result<Option<Vec<u8>>, StoreError> {
    let digest = digest.as_str();
    let params: [Param<'_>; 3] =
        [(&key, Type::INT8), (&digest, Type::TEXT), (&BLOB_BYTES_MAX, Type::INT8)];
    let rows = reader.rows(BLOB, &params).await?;
    let first = rows.first().map(|row| row.try_get(0)).transpose();
    first.map_err(|err| Fault::of_row(&err).into())
}

impl Loaded {
    /// Puts the parts together, the status of refreshes as lease and log have it.
    pub(crate) fn assemble(
        row: Arc<ArtifactRow>,
        state: Option<ArtifactState>,
        health: Health,
        log: Arc<CheckedLog>,
        lease: Option<Lease>,
        now_ms: i64,
    ) -> Self {
        let ledger = row.ledger.clone().unwrap_or_default();
        let lock = Lease::state_at(lease.as_ref(), now_ms);
        let committed = state.as_ref().map_or((RefreshStatus::Idle, None), |state| {
            (state.artifact.refresh_status, state.artifact.last_refreshed_at)
        });
        let page_key = state.as_ref().map(|state| page_key(&state.artifact));
        let state = state.map(|mut state| {
            let artifact = &mut state.artifact;
            artifact.refresh_status = ledger.refresh_status(committed.0, lock);
            artifact.last_refreshed_at = ledger.last_refreshed_at(committed.1);
            Arc::new(state)
        });
        let summary = match &state {
            Some(state) => state.artifact.summary(health).with_runs(ledger.runs()),
            None => ArtifactSummary::of_unreadable(&row.project, &row.id, health),
        };
        let stored = Arc::new(Stored {
            id: row.id.clone(),
            project: row.project.clone(),
            summary: Arc::new(summary),
            health,
            drift: Vec::new(),
            committed_data: None,
            kept_aside: Vec::new(),
            page_key,
            state,
            last_page: None,
        });
        let version = row.version;
        Self { version, stored, log, ledger, committed, lease, lock, row, bytes: 0 }
    }

    /// Says how much memory it takes.
    pub(crate) fn sized(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    /// Returns the artifact as it is at a time of the server's clock, its lease being this one now.
    pub(crate) fn at(&self, lease: Option<&Lease>, now_ms: i64) -> Arc<Stored> {
        let lock = Lease::state_at(lease, now_ms);
        let Some(state) = self.stored.state.as_ref().filter(|_| lock != self.lock) else {
            return Arc::clone(&self.stored);
        };
        let mut state = ArtifactState::clone(state);
        state.artifact.refresh_status = self.ledger.refresh_status(self.committed.0, lock);
        let summary = state.artifact.summary(self.stored.health).with_runs(self.ledger.runs());
        Arc::new(Stored {
            summary: Arc::new(summary),
            state: Some(Arc::new(state)),
            ..Stored::clone(&self.stored)
        })
    }
}

/// Returns what a page is made from, by the digests of an artifact.
fn page_key(artifact: &Artifact) -> PageKey {
    let digests = &artifact.digests;
    PageKey {
        template: digests.template.raw.clone(),
        data: digests.data.raw.clone(),
        provenance: digests.provenance.raw.clone(),
    }
}
