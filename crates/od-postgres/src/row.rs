//! The row of an artifact, read back and not believed.

use od_core::artifact::{Artifact, Attempt, Health, HealthReason, HealthState, SchemaVersion};
use od_core::ids::{ArtifactId, Digest, ProjectId, RefreshId};
use od_core::json::Value;
use od_core::ledger::{RefreshLedger, RunningLockState};
use od_core::limits::POINTER_FILE;
use tokio_postgres::Row;

use crate::fault::Fault;

/// The columns that every reader of an artifact takes, in the order of [`ArtifactRow::read`].
pub(crate) const COLUMNS: &str = "a.key, a.project, a.id, a.pointer_digest, \
    CASE WHEN octet_length(a.pointer) <= 2097152 THEN a.pointer END, a.last_refresh, a.ledger, \
    a.log_seq, a.log_end, a.log_base, a.log_base_end, a.log_bytes, a.deleted_at, a.version, \
    l.refresh, (extract(epoch FROM l.until) * 1000)::int8, l.until > clock_timestamp()";
const COLUMNS_COUNT: usize = 17;
const _: () = assert!(POINTER_FILE.allowed == 2_097_152);

/// The tables they come from.
pub(crate) const TABLES: &str = "od.artifact a LEFT JOIN od.lease l ON l.artifact = a.key";

/// One artifact as its row tells.
#[derive(Clone, Debug)]
pub(crate) struct ArtifactRow {
    pub(crate) key: i64,
    pub(crate) project: ProjectId,
    pub(crate) id: ArtifactId,
    pub(crate) pointer: Result<Artifact, HealthReason>,
    pub(crate) pointer_bytes: Vec<u8>,
    pub(crate) last_refresh: Option<RefreshId>,
    /// The records of its refreshes, folded; `None` if that cannot be read.
    pub(crate) ledger: Option<RefreshLedger>,
    pub(crate) log: LogEnd,
    pub(crate) lease: Option<Lease>,
    pub(crate) deleted_at: Option<i64>,
    pub(crate) version: i64,
}

/// The end of an artifact's log, and the place from which on all of it is kept.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct LogEnd {
    pub(crate) seq: i64,
    pub(crate) digest: Option<Digest>,
    pub(crate) base: i64,
    pub(crate) base_digest: Option<Digest>,
    pub(crate) bytes: i64,
}

/// Who runs an artifact's refresh.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Lease {
    pub(crate) refresh: RefreshId,
    /// By the server's clock.
    pub(crate) until_ms: i64,
    /// Whether it had not lapsed when it was read.
    pub(crate) is_held: bool,
}

impl Lease {
    /// Returns a time of the server's clock that stands for the moment at which a lease was read.
    pub(crate) fn read_at(lease: Option<&Self>) -> i64 {
        lease.map_or(i64::MAX, |lease| {
            if lease.is_held { lease.until_ms.saturating_sub(1) } else { lease.until_ms }
        })
    }

    /// Returns the state of the running lock at a time of the server's clock.
    pub(crate) fn state_at(lease: Option<&Self>, now_ms: i64) -> RunningLockState {
        match lease {
            Some(lease) if now_ms < lease.until_ms => RunningLockState::Held,
            Some(_) | None => RunningLockState::Free,
        }
    }
}

impl ArtifactRow {
    /// Reads a row of [`COLUMNS`]; `None` if it names nothing that can be asked for.
    pub(crate) fn read(row: &Row) -> Result<Option<Self>, Fault> {
        let fault = |err: tokio_postgres::Error| Fault::of_row(&err);
        let text = |at: usize| row.try_get::<_, Option<String>>(at).map_err(fault);
        let number = |at: usize| row.try_get::<_, i64>(at).map_err(fault);
        let digest = |at: usize| text(at).map(|text| text.and_then(|text| text.parse().ok()));
        let project = text(1)?.and_then(|text| text.parse().ok());
        let id = text(2)?.and_then(|text| text.parse().ok());
        let (Some(project), Some(id)) = (project, id) else { return Ok(None) };
        let pointer_bytes: Option<Vec<u8>> = row.try_get(4).map_err(fault)?;
        let pointer = read_pointer(pointer_bytes.as_deref(), text(3)?.as_deref());
        let pointer = pointer.and_then(|pointer: Artifact| {
            // A row that was moved by hand is not believed: it would be another artifact.
            let is_own = pointer.id == id && pointer.project_id == project;
            if is_own { Ok(pointer) } else { Err(HealthReason::PointerInvalid) }
        });
        let refresh = text(14)?.and_then(|text| text.parse().ok());
        let until: Option<i64> = row.try_get(15).map_err(fault)?;
        let is_held = row.try_get::<_, Option<bool>>(16).map_err(fault)?.unwrap_or(false);
        let lease = refresh.zip(until);
        Ok(Some(Self {
            key: number(0)?,
            project,
            id,
            pointer,
            pointer_bytes: pointer_bytes.unwrap_or_default(),
            last_refresh: text(5)?.and_then(|text| text.parse().ok()),
            ledger: text(6)?.and_then(|text| serde_json::from_str(&text).ok()),
            log: LogEnd {
                seq: number(7)?,
                digest: digest(8)?,
                base: number(9)?,
                base_digest: digest(10)?,
                bytes: number(11)?,
            },
            lease: lease.map(|(refresh, until_ms)| Lease { refresh, until_ms, is_held }),
            deleted_at: row.try_get(12).map_err(fault)?,
            version: number(13)?,
        }))
    }

    /// Returns the health that follows from the row alone.
    pub(crate) fn health(&self) -> Health {
        match (&self.pointer, &self.ledger) {
            (Err(reason), _) => unsound_head(*reason),
            (Ok(_), None) => {
                Health::unsound(HealthState::CorruptTail, HealthReason::AuditUnreadable)
            }
            (Ok(_), Some(_)) => Health::HEALTHY,
        }
    }

    /// Returns the attempt that made it.
    pub(crate) fn attempt(&self) -> Option<&Attempt> {
        self.pointer.as_ref().ok()?.created_by_attempt.as_ref()
    }
}

/// The columns before those that a statement adds.
pub(crate) const AFTER_COLUMNS: usize = COLUMNS_COUNT;

/// Returns the health of an artifact whose present state is damaged for this reason.
pub(crate) fn unsound_head(reason: HealthReason) -> Health {
    let state = if reason == HealthReason::SchemaVersionUnknown {
        HealthState::UnknownVersion
    } else {
        HealthState::CorruptHead
    };
    Health::unsound(state, reason)
}

/// Reads the bytes of a pointer, if they are those that were written.
pub(crate) fn read_pointer(
    bytes: Option<&[u8]>,
    digest: Option<&str>,
) -> Result<Artifact, HealthReason> {
    let bytes = bytes.ok_or(HealthReason::PointerUnreadable)?;
    if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
        let version = value.get("schemaVersion").and_then(Value::as_u64);
        if version.is_some_and(|version| SchemaVersion::try_from(version).is_err()) {
            return Err(HealthReason::SchemaVersionUnknown);
        }
    }
    if digest != Some(Digest::of_bytes(bytes).as_str()) {
        return Err(HealthReason::PointerUnreadable);
    }
    serde_json::from_slice(bytes).map_err(|_| HealthReason::PointerInvalid)
}
