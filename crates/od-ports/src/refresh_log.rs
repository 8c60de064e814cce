//! What the store keeps about refreshes while and after they run.

use std::fmt;
use std::sync::Arc;

use od_core::artifact::HealthReason;
use od_core::ids::{ArtifactId, ProjectId, RefreshId, Timestamp};
use od_core::refresh::{Begun, RefreshRecord};

use crate::stored::Stored;

/// An artifact's running lock, held. Dropping it lets go; so does the end of the process.
pub trait RunningLock: fmt::Debug + Send + Sync {}

/// A refresh whose id is allocated and whose running lock is held.
#[derive(Debug)]
pub struct RunningRefresh {
    /// The id: newer than every one before it, durable before this value exists.
    pub id: RefreshId,
    /// The state when it began.
    pub base: Arc<Stored>,
    /// An earlier refresh whose holder died: give it a terminal record.
    pub abandoned: Option<Begun>,
    /// The lock. Keep it until the terminal record is written.
    pub lock: Box<dyn RunningLock>,
}

/// A refresh that has no terminal record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnfinishedRefresh {
    /// Where.
    pub project: ProjectId,
    /// Of which artifact.
    pub artifact: ArtifactId,
    /// Which refresh.
    pub refresh: RefreshId,
    /// When it began, as its first record says.
    pub started_at: Timestamp,
    /// Whether someone still holds the running lock. If not, it is abandoned.
    pub lock_held: bool,
}

/// The audit log of one artifact.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Newest first.
    pub records: Vec<RefreshRecord>,
    /// Why records may be missing: the chain is broken or a line cannot be read.
    pub broken: Option<HealthReason>,
}
