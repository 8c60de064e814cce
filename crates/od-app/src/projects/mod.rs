//! Projects.

mod create;
mod files;
mod read;

pub use create::{CreateProject, CreateProjectError, create, set_root};
pub use files::{ProjectFilesError, files};
pub use read::{ReadProjectError, get, list};
pub(crate) use read::{failure, not_found};
