//! The artifact store: files, one commit protocol, an index in memory.

/// The commit protocol: how a change becomes durable at one instant, and visible after it.
///
/// [`commit_log`] takes the locks and checks that a change may be made; [`protocol`] writes a
/// [`generation`] as one frame and renames the pointer, which is the commit; [`roll_forward`] writes the
/// visible copies from the frame; [`checkpoint`] syncs them once there is time, and lets go of the frame.
/// `docs/technical/commit-protocol.md` has the diagram.
mod commit {
    pub(crate) mod aside;
    pub(crate) mod checkpoint;
    mod commit_log;
    mod generation;
    pub(crate) mod locks;
    pub(crate) mod obstacle;
    pub(crate) mod pending;
    mod pointer;
    pub(crate) mod protocol;
    pub(crate) mod roll_forward;

    pub(crate) use commit_log::{CommitLog, UnwrittenCopies};
    pub(crate) use generation::{Continued, Generation, LogPart, Replaces, SetFile, build};
    pub(crate) use pointer::{POINTER_BYTES_MAX, POINTER_FILE, Pointer, PointerFault, StorePart};
}
mod dirs;
/// An artifact's past: the log of its refreshes and commits, and the contents of its revisions.
mod history {
    mod archive;
    pub(crate) mod audit_log;
    mod delta;
    mod log_cache;
    mod objects;
    mod refresh_log;
    pub(crate) mod revisions;
    pub(crate) mod snapshots;
    mod timeline_cache;

    pub(crate) use archive::COMMITS;
    pub(crate) use audit_log::{AuditLog, LOG, ROTATED, Tail};
    pub(crate) use objects::{OBJECTS, Objects};
    pub(crate) use refresh_log::RefreshRecords;
    pub(crate) use snapshots::SNAPSHOTS;
}
/// Verify, repair, and recovery at start-up.
mod maintenance {
    mod adopt;
    mod inspect;
    mod recovery;
    mod repair;

    pub(crate) use adopt::adopt;
    pub(crate) use inspect::inspect;
    pub(crate) use recovery::recover;
    pub(crate) use repair::repair;
}
/// Reading artifacts: from the files as they are now, or from memory while it is right.
mod read {
    mod artifact;
    mod cache_entry;
    mod content;
    mod index;
    mod lines;
    mod lists;
    mod notices;
    mod reader;
    mod summary;
    mod watch;

    pub(crate) use cache_entry::Validity;
    pub(crate) use content::{newest_generation, reason_of};
    pub(crate) use reader::{ArtifactReader, Recovery};
}
mod store;
mod trash;

pub use store::FileArtifactStore;
