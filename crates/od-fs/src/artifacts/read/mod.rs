//! Reading artifacts: from the files as they are now, or from memory while it is right.

mod artifact;
mod cache_entry;
mod content;
mod index;
mod reader;
mod summary;
mod watch;

pub(crate) use cache_entry::Validity;
pub(crate) use content::{newest_generation, reason_of};
pub(crate) use reader::ArtifactReader;
