//! The demo: three live artifacts over files and a repository that come with it.

mod content;
mod files;
mod repository;
mod stage;

pub(crate) use content::{ARTIFACTS, Home};
pub(crate) use files::{change_sources, write_files};
pub(crate) use repository::{commit_all, has_git, work_tree};
pub(crate) use stage::{Stage, Staged};
