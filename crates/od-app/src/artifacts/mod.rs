//! Artifacts: make, change, read, remove, check, repair.

mod create;
mod read;
mod repair;
mod request_faults;
mod roll_back;
mod transaction;
mod trash;
mod update;
mod verify;

pub use create::{CreateArtifact, CreateError, CreatedArtifact, create, validate};
pub use read::{
    Address, FindError, ListArtifacts, ListError, get, history, list, snapshot, snapshots,
};
pub use repair::{RepairArtifact, RepairError, Repaired, repair};
pub use roll_back::{RollBack, RollBackError, RolledBack, roll_back};
pub(crate) use transaction::Transaction;
pub use transaction::{BeginError, Mode, StaleRevision};
pub use trash::{
    DeleteArtifact, DeleteError, InTrash, ListTrash, RestoreError, delete, find_restorable,
    restore, trash,
};
pub use update::{Target, UpdateArtifact, UpdateError, UpdatedArtifact, update};
pub use verify::{Finding, VerifyReport, verify};
