//! Projects.

mod create;
mod files;
mod read;

pub use create::{CreateProject, CreateProjectError, create, set_root};
pub use files::{JsonFile, ProjectFilesError, ReadJsonError, files, read_json};
pub use read::{ReadProjectError, get, list};
