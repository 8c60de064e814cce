//! The entries of the index: what memory knows of one project's artifacts.
//!
//! Everything has a version; a change gives it another, and what was read at an older one is stale.

use std::collections::HashMap;
use std::sync::Arc;

use od_core::artifact::{ArtifactSummary, Attempt, Health, HealthReason};
use od_core::ids::ArtifactId;
use od_core::ledger::RefreshLedger;
use od_ports::store::Stored;

/// The part of an artifact that a list needs.
#[derive(Clone, Debug)]
pub(crate) struct ListEntry {
    pub(crate) summary: Arc<ArtifactSummary>,
    pub(crate) attempt: Option<Attempt>,
    pub(crate) validity: Validity,
}

/// For how long something that was read may be served from memory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Validity {
    /// Until a watched file changes.
    UntilChanged,
    /// Not at all, because a refresh is open: its status hangs on the running lock, and nobody is
    /// notified when a process dies and lets go of one.
    WhileRefreshOpen,
    /// Not at all, because the disk failed, or because something stands in the way of the next commit where
    /// nothing is watched: it may be gone the next time.
    ThisAnswer,
}

impl Validity {
    pub(super) fn of(ledger: &RefreshLedger, health: Health) -> Self {
        if health.reason == Some(HealthReason::Obstructed) {
            Self::ThisAnswer
        } else if ledger.open().is_empty() {
            Self::UntilChanged
        } else {
            Self::WhileRefreshOpen
        }
    }
}

/// A whole artifact, and about how much memory it takes.
#[derive(Clone, Debug)]
pub(crate) struct LoadedArtifact {
    pub(crate) stored: Arc<Stored>,
    pub(crate) entry: ListEntry,
    pub(crate) bytes: usize,
}

/// Names the state of an entry at the time it is read from the disk.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Version(pub(super) u64);

/// Everything known of one artifact. Only what is watched is believed.
#[derive(Debug)]
pub(super) struct CacheEntry {
    pub(super) watch: Option<i32>,
    /// The watches of the directories in it where a commit writes; none until they were begun. An answer
    /// does not hang on them: where they are missing, the next write notices what they would have told.
    pub(super) inner: Option<[Option<i32>; 2]>,
    /// Whether a scan or a read has found it; whoever asks for an id makes an entry for it first.
    pub(super) is_there: bool,
    pub(super) version: u64,
    pub(super) listed: Option<(u64, ListEntry)>,
    pub(super) loaded: Option<(u64, LoadedArtifact)>,
    pub(super) used: u64,
}

impl CacheEntry {
    /// Returns whether what was read at a version is still true.
    pub(super) fn is_fresh(&self, version: u64, entry: &ListEntry) -> bool {
        version == self.version && self.watch.is_some() && entry.validity == Validity::UntilChanged
    }

    /// Takes the watches of the artifact.
    pub(super) fn take_watches(&mut self) -> impl Iterator<Item = i32> + use<> {
        self.watch.take().into_iter().chain(self.take_inner_watches())
    }

    /// Takes the watches of the directories in the artifact's own.
    pub(super) fn take_inner_watches(&mut self) -> impl Iterator<Item = i32> + use<> {
        self.inner.take().into_iter().flatten().flatten()
    }

    pub(super) fn unread(versions: &mut Versions) -> Self {
        Self {
            watch: None,
            inner: None,
            is_there: false,
            version: versions.next(),
            listed: None,
            loaded: None,
            used: 0,
        }
    }
}

/// Everything known of one project.
#[derive(Debug, Default)]
pub(super) struct ProjectCache {
    pub(super) watch: Option<i32>,
    /// The watch of the directory of locks.
    pub(super) locks_watch: Option<i32>,
    /// Whether `entries` has every artifact of the project.
    pub(super) is_scanned: bool,
    pub(super) version: u64,
    pub(super) entries: HashMap<ArtifactId, CacheEntry>,
    pub(super) list: Option<Arc<[Arc<ArtifactSummary>]>>,
    /// Names the state between two changes of anything a list is made from.
    pub(super) list_version: u64,
}

impl ProjectCache {
    /// Drops the list: something it is made from changed.
    pub(super) fn drop_list(&mut self, versions: &mut Versions) {
        self.list = None;
        self.list_version = versions.next();
    }

    /// Marks the ids as incomplete: its artifacts may be others than those that are known.
    pub(super) fn require_scan(&mut self, versions: &mut Versions) {
        self.is_scanned = false;
        self.version = versions.next();
    }
}

/// Numbers that are never given twice: what was read of an entry that is gone says nothing of the one
/// that took its place.
#[derive(Debug, Default)]
pub(super) struct Versions {
    last: u64,
}

impl Versions {
    pub(super) fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }
}
