//! Artifacts: make, change, read, remove, check, repair.

mod candidate;
mod create;
mod delete;
mod find;
mod get;
mod history;
mod list;
mod planned;
mod repair;
mod restore;
mod roll_back;
mod snapshots;
mod source_check;
mod trash;
mod update;
mod verify;

pub use create::{
    CreateArtifact, CreateError, CreatedArtifact, Validated, create, plan_create, validate,
};
pub use delete::{DeleteArtifact, DeleteError, delete};
pub use find::{Address, FindError};
pub use get::{Detail, get};
pub use history::history;
pub use list::{ListArtifacts, ListError, list};
pub(crate) use planned::as_stored;
pub use repair::{RepairArtifact, RepairError, Repaired, repair};
pub use restore::{RestoreError, plan_restore, restore};
pub use roll_back::{RollBack, RollBackError, RolledBack, plan_roll_back, roll_back};
pub use snapshots::{snapshot, snapshots};
pub use trash::{InTrash, ListTrash, trash};
pub use update::{
    Target, UpdateArtifact, UpdateError, UpdatedArtifact, plan_update, update, validate_update,
};
pub use verify::{Finding, VerifyReport, verify};
