//! The `project_files` connector: search in a project's files, and JSON read from one of them.

mod catalog;
mod fence;
mod ignore_rules;
mod provider;
mod read;
mod redacted;
mod search;
mod walk;

pub use fence::Fence;
pub use provider::ProjectFilesConnector;
