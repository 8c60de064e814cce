//! Artifacts: make, change, read, remove, check, repair.

mod create;
mod dry_run;
mod export;
mod read;
mod repair;
mod request_faults;
mod revisions;
mod roll_back;
mod source_remarks;
mod transaction;
mod trash;
mod trust;
mod update;
mod verify;

pub use create::{CreateArtifact, CreateError, CreatedArtifact, ValidArtifact, create, validate};
pub use dry_run::Reading;
pub use export::{ExportArtifact, ExportError, export};
pub(crate) use read::find;
pub use read::{
    Address, CheckReport, FindError, ListArtifacts, ListError, OutlineError, PageOfList, check,
    get, history, list, outline, page, snapshot, snapshots,
};
pub use repair::{RepairArtifact, RepairError, Repaired, repair};
pub use revisions::{
    CompareError, CompareRevisions, Comparison, ListRevisions, RevisionPage, TimelineEntry,
    compare, revision, revisions,
};
pub use roll_back::{RollBack, RollBackError, RollBackTo, RolledBack, roll_back};
pub(crate) use source_remarks::nearest_file;
pub use transaction::{BeginError, Mode, StaleRevision};
pub(crate) use transaction::{Transaction, preview};
pub use trash::{
    DeleteArtifact, DeleteError, InTrash, ListTrash, RestoreError, TrashPage, delete,
    find_restorable, restore, trash, trash_page,
};
pub use trust::trust;
pub use update::{Target, UpdateArtifact, UpdateError, UpdatedArtifact, update};
pub use verify::{Finding, VerifyReport, verify};
