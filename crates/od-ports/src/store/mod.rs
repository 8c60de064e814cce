//! The store of artifacts, one port for each who needs it: artifacts, the log of their refreshes, their
//! earlier states, the trash, maintenance.

mod artifact_store;
mod error;
mod maintenance;
mod refresh_log;
mod revision_store;
mod stored;
mod transfer;
mod trash;
mod write_gate;

pub use artifact_store::{ArtifactStore, Change, Created, Page, PageRequest};
pub use error::{Outcome, StoreError};
pub use maintenance::{
    Census, ChangeElsewhere, InspectedFile, Inspection, Reach, RepairMode, RepairReport,
    RevisionFault, StoreMaintenance, StorePlace, Unrecovered,
};
pub use refresh_log::{History, RefreshLog, RunningLock, RunningRefresh, UnfinishedRefresh};
pub use revision_store::{KeptRevision, RevisionStore, Snapshot, SnapshotSummary, Timeline};
pub use stored::{Drift, KeptAside, PageKey, SourceFile, Stored};
pub use transfer::{Archive, StoreTransfer};
pub use trash::{Trash, Trashed};
pub use write_gate::{CommitLock, Gate, WriteWitness};
