//! The artifact store: files, one commit protocol, an index in memory.

mod aside;
mod audit_log;
mod build;
mod commit;
mod drift;
mod entries;
mod generation;
mod index;
mod inspect;
mod known_logs;
mod locks;
mod lookup;
mod pending;
mod pointer;
mod read;
mod recovery;
mod refreshing;
mod repair;
mod roll;
mod roller;
mod shared;
mod snapshots;
mod store;
mod summary;
mod trash;
mod watch;
mod write;

pub use store::FileArtifactStore;
