//! The artifact store: files, one commit protocol, an index in memory.

mod commit;
mod dirs;
mod history;
mod maintenance;
mod read;
mod store;
mod trash;

pub use store::FileArtifactStore;
