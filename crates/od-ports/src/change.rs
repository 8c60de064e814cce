//! What a use case hands to the store.

use std::sync::Arc;

use od_core::artifact::ArtifactState;
use od_core::ids::{ProjectId, Revision};
use od_core::refresh::RefreshRecord;

use crate::stored::Stored;

/// An artifact that does not exist yet.
#[derive(Clone, Debug)]
pub struct NewArtifact {
    /// Where it goes.
    pub project: ProjectId,
    /// Its whole state, the attempt included. Revision and digests are set by the store.
    pub state: ArtifactState,
    /// The rendered page.
    pub page: Arc<[u8]>,
}

/// What became of a create.
#[derive(Clone, Debug)]
pub enum Created {
    /// It is there now.
    Fresh(Arc<Stored>),
    /// The same attempt had made it before; here is what it is now.
    Replayed(Arc<Stored>),
}

impl Created {
    /// Returns the artifact either way.
    pub const fn stored(&self) -> &Arc<Stored> {
        match self {
            Self::Fresh(stored) | Self::Replayed(stored) => stored,
        }
    }
}

/// The next revision of an artifact.
#[derive(Clone, Debug)]
pub struct Change {
    /// The revision it was computed from; any other on disk is a conflict.
    pub expected: Revision,
    /// The whole next state. Revision and digests are set by the store.
    pub state: ArtifactState,
    /// The rendered page.
    pub page: Arc<[u8]>,
    /// The terminal record, if a refresh makes the change: it is appended and a snapshot is written
    /// as part of the same commit. Its refresh id must be open and the newest.
    pub refresh: Option<RefreshRecord>,
}
