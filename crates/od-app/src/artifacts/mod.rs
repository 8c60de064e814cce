//! Artifacts: make, change, read, remove, check, repair.

mod candidate;
mod create;
mod delete;
mod find;
mod get;
mod history;
mod list;
mod repair;
mod restore;
mod snapshots;
mod source_check;
mod update;
mod verify;

pub use create::{CreateArtifact, CreateError, CreatedArtifact, Validated, create, validate};
pub use delete::{DeleteArtifact, DeleteError, delete};
pub use find::{Address, FindError};
pub use get::{Detail, get};
pub use history::history;
pub use list::{ListArtifacts, list};
pub use repair::{RepairArtifact, RepairError, Repaired, repair};
pub use restore::{RestoreError, restore};
pub use snapshots::{snapshot, snapshots};
pub use update::{Target, UpdateArtifact, UpdateError, UpdatedArtifact, update, validate_update};
pub use verify::{Finding, VerifyReport, verify};
