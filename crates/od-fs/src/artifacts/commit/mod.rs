//! The commit protocol: how a change becomes durable at one instant, and visible after it.
//!
//! [`commit_log`] takes the locks and checks that a change may be made; [`protocol`] writes a
//! [`generation`] as one frame and renames the pointer, which is the commit; [`roll_forward`] writes the
//! visible copies from the frame; [`checkpoint`] syncs them once there is time, and lets go of the frame.
//! `docs/technical/commit-protocol.md` has the diagram.

pub(crate) mod aside;
pub(crate) mod checkpoint;
mod commit_log;
mod generation;
pub(crate) mod locks;
pub(crate) mod pending;
mod pointer;
pub(crate) mod protocol;
pub(crate) mod roll_forward;

pub(crate) use commit_log::{CommitLog, UnwrittenCopies};
pub(crate) use generation::{Draft, Generation, RefreshPart, Replaces, SetFile, build};
pub(crate) use pointer::{POINTER_BYTES_MAX, POINTER_FILE, Pointer, PointerFault};
