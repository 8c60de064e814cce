//! The demo: three live artifacts over files and a repository that come with it.

mod content;
mod files;
mod repository;
mod stage;

pub(crate) use content::{ARTIFACTS, Home};
pub(crate) use files::{change_sources, write_files};
pub(crate) use repository::{has_git, init_repository, work_tree};
pub(crate) use stage::{Stage, Staged};
