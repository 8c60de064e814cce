//! Projects.

mod create;
mod files;
mod read;
mod read_json;

pub use create::{CreateProject, CreateProjectError, create, set_root};
pub use files::{ProjectFilesError, files};
pub use read::{ReadProjectError, get, list};
pub use read_json::{JsonFile, ReadJsonError, read_json};
