//! Connector adapters: project files, git, GitHub. Each gives data through read-only tools.
//!
//! Must not know: storage.

mod catalog;
mod formats;
mod git;
mod github;
mod http;
mod project_files;

pub use git::Git;
pub use github::{GitHub, GitHubConfig};
pub use project_files::{Fence, ProjectFilesConnector};
