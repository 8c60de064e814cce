//! The `git` connector: what state a project's repository is in.

mod directory;
mod program;
mod provider;
mod summary;

pub use provider::Git;
