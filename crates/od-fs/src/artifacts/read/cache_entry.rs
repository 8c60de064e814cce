//! The entries of the index: what memory knows of one project's artifacts.
//!
//! Everything has a version; a change gives it another, and what was read at an older one is stale.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use od_core::artifact::{ArtifactSummary, Attempt, Health, HealthReason, RefreshStatus};
use od_core::ids::{ArtifactId, RefreshId, Timestamp};
use od_core::ledger::RefreshLedger;
use od_ports::store::Stored;

use super::lines::OrderedLines;

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
    /// There if its files are those that its pointer names: then a record that is added to the log changes
    /// nothing but what the log says.
    pub(crate) committed: Option<CommittedFields>,
}

/// The fields of a pointer that the log has the last word on.
#[derive(Clone, Debug)]
pub(crate) struct CommittedFields {
    pub(crate) refresh_status: RefreshStatus,
    pub(crate) last_refreshed_at: Option<Timestamp>,
    /// The last refresh that committed.
    pub(crate) last_refresh: Option<RefreshId>,
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
    /// Names the state of its files but for the log; another one is another `version` as well.
    pub(super) content_version: u64,
    pub(super) listed: Option<(u64, ListEntry)>,
    pub(super) loaded: Option<(u64, LoadedArtifact)>,
    /// The state of its files that `loaded` was read from.
    pub(super) loaded_content: u64,
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

    pub(super) const fn unread(version: u64) -> Self {
        Self {
            watch: None,
            inner: None,
            is_there: false,
            version,
            content_version: version,
            listed: None,
            loaded: None,
            loaded_content: 0,
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
    /// The artifacts that have to be read before the next list. The others are in `lines` as they are.
    pub(super) due: HashSet<ArtifactId>,
    /// What was last read of each artifact.
    pub(super) lines: OrderedLines,
    /// Names the time since which nothing was forgotten.
    pub(super) epoch: u64,
    pub(super) listing: Listing,
}

/// The outcome of the last list of a project.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Listing {
    /// There was none.
    #[default]
    None,
    /// It was read.
    Read,
    /// It could not be read.
    Failed,
}

impl ProjectCache {
    /// Marks the ids as incomplete: its artifacts may be others than those that are known.
    pub(super) fn require_scan(&mut self, versions: &mut Versions) {
        self.is_scanned = false;
        self.version = versions.next();
    }

    /// Returns whether the ids are those of the disk, but for those that are due.
    pub(super) fn is_complete(&self) -> bool {
        self.is_scanned && self.watch.is_some()
    }

    /// Marks an artifact that may be gone, or another one, or new. Returns the watches of what was there.
    pub(super) fn doubt(&mut self, artifact: &ArtifactId, versions: &mut Versions) -> Doubted {
        // A scan that is under way may have passed the name already.
        self.version = versions.next();
        if !self.is_scanned && !self.entries.contains_key(artifact) {
            return Doubted::default();
        }
        let version = versions.next();
        let unread = || CacheEntry::unread(version);
        let entry = self.entries.entry(artifact.clone()).or_insert_with(unread);
        entry.is_there = false;
        (entry.version, entry.content_version) = (version, version);
        self.due.insert(artifact.clone());
        let bytes = entry.loaded.take().map_or(0, |(_, loaded)| loaded.bytes);
        Doubted { watches: entry.take_watches().collect(), bytes }
    }

    /// Remembers what was read of an artifact at a version; whoever began later knows better.
    pub(super) fn put_line(&mut self, artifact: &ArtifactId, version: Version, listed: &ListEntry) {
        let Some(entry) = self.entries.get_mut(artifact) else { return };
        if entry.version == version.0 {
            entry.is_there = true;
        }
        let before = match &entry.listed {
            Some((known, _)) if *known > version.0 => return,
            Some((_, before)) => Some(&before.summary),
            None => None,
        };
        self.lines.replace(before, Some(&listed.summary));
        entry.listed = Some((version.0, listed.clone()));
        if entry.is_fresh(version.0, listed) {
            self.due.remove(artifact);
        } else {
            self.due.insert(artifact.clone());
        }
    }

    /// Takes an artifact out.
    pub(super) fn remove(&mut self, artifact: &ArtifactId) -> Doubted {
        self.due.remove(artifact);
        let Some(mut entry) = self.entries.remove(artifact) else { return Doubted::default() };
        self.lines.replace(entry.listed.as_ref().map(|(_, listed)| &listed.summary), None);
        let watches = entry.take_watches().collect();
        Doubted { watches, bytes: entry.loaded.map_or(0, |(_, loaded)| loaded.bytes) }
    }
}

/// The watches of an entry that is no longer believed, and the bytes of what it had loaded.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubted {
    pub(super) watches: Vec<i32>,
    pub(super) bytes: usize,
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
