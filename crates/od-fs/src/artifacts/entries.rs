//! What memory knows of one project's artifacts.
//!
//! Everything has a version; a change gives it another, and what was read at an older one is stale.

use std::collections::HashMap;
use std::sync::Arc;

use od_core::artifact::{ArtifactSummary, Attempt};
use od_core::ids::ArtifactId;
use od_ports::store::Stored;

/// What a list needs of an artifact.
#[derive(Clone, Debug)]
pub(crate) struct Light {
    pub(crate) summary: Arc<ArtifactSummary>,
    pub(crate) attempt: Option<Attempt>,
    pub(crate) lasts: Lasts,
}

/// How long what was read is true.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Lasts {
    /// Until a file changes.
    UntilAChange,
    /// The log says that a refresh runs: lock and log are looked at every time.
    WhileARefreshRuns,
    /// The disk failed: it may not the next time.
    ForThisAnswer,
}

/// A whole artifact, and about how much memory it takes.
#[derive(Clone, Debug)]
pub(crate) struct Full {
    pub(crate) stored: Arc<Stored>,
    pub(crate) light: Light,
    pub(crate) bytes: usize,
}

/// Names the state of an entry at the time it is read from the disk.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Version(pub(super) u64);

/// What is known of one artifact. Only what is watched is believed.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) watch: Option<i32>,
    /// Whether a scan or a read has found it; whoever asks for an id makes an entry for it first.
    pub(super) is_there: bool,
    pub(super) version: u64,
    pub(super) light: Option<(u64, Light)>,
    pub(super) full: Option<(u64, Full)>,
    pub(super) used: u64,
}

impl Entry {
    /// Tells whether what was read at a version is still true.
    pub(super) fn knows(&self, version: u64, light: &Light) -> bool {
        version == self.version && self.watch.is_some() && light.lasts == Lasts::UntilAChange
    }

    pub(super) fn unread(versions: &mut Versions) -> Self {
        Self {
            watch: None,
            is_there: false,
            version: versions.next(),
            light: None,
            full: None,
            used: 0,
        }
    }
}

/// What is known of one project.
#[derive(Debug, Default)]
pub(super) struct ProjectEntries {
    pub(super) watch: Option<i32>,
    /// Whether `entries` has every artifact of the project.
    pub(super) scanned: bool,
    pub(super) version: u64,
    pub(super) entries: HashMap<ArtifactId, Entry>,
    pub(super) list: Option<Arc<[Arc<ArtifactSummary>]>>,
    /// Names the state between two changes of anything a list is made from.
    pub(super) list_version: u64,
}

impl ProjectEntries {
    pub(super) fn changed(&mut self, versions: &mut Versions) {
        self.list = None;
        self.list_version = versions.next();
    }

    /// Its artifacts may be others than those that are known.
    pub(super) fn scan_again(&mut self, versions: &mut Versions) {
        self.scanned = false;
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
