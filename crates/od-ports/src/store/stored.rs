//! One artifact as it is stored now.

use std::sync::Arc;

use od_core::artifact::{Artifact, ArtifactState, ArtifactSummary, Health};
use od_core::ids::{ArtifactId, Digest, ProjectId, Revision};
use od_core::json::BoundedObject;
use serde::Serialize;

/// A source file of an artifact that people may edit by hand.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceFile {
    /// `template.html`.
    Template,
    /// `data.json`.
    Data,
    /// `provenance.json`.
    Provenance,
}

impl SourceFile {
    /// Every source file.
    pub const ALL: [Self; 3] = [Self::Template, Self::Data, Self::Provenance];

    /// Returns the file's name.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Template => "template.html",
            Self::Data => "data.json",
            Self::Provenance => "provenance.json",
        }
    }
}

/// A hand edit: valid content that no commit wrote. It is served, and the next commit adopts it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    /// The edited file.
    pub file: SourceFile,
    /// The digest of the last commit.
    pub committed: Digest,
    /// The digest of what is there now.
    pub found: Digest,
}

/// Bytes the store would not overwrite or throw away, and where it put them.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptAside {
    /// The file inside the artifact's directory.
    pub path: String,
    /// The file's length.
    pub bytes: u64,
}

/// One artifact as it is now.
///
/// Everything needed to serve it, also when it is damaged: `state` and `page` are then the last good
/// ones that could be proved, and `health` says what is wrong.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Which artifact.
    pub id: ArtifactId,
    /// In which project.
    pub project: ProjectId,
    /// The line of the list. Always there: of an unreadable artifact it says at least id and health.
    pub summary: Arc<ArtifactSummary>,
    /// Derived from what is on disk.
    pub health: Health,
    /// Hand edits that are being served.
    pub drift: Vec<Drift>,
    /// The data of the last commit, if `data.json` was edited since and that data is still there.
    pub committed_data: Option<Arc<BoundedObject>>,
    /// Files kept aside, newest last.
    pub kept_aside: Vec<KeptAside>,
    /// The state to serve and to decide on; `None` if no good one is left. Its `refreshStatus` and
    /// `lastRefreshedAt` are derived from lock and log.
    pub state: Option<Arc<ArtifactState>>,
    /// Identifies what a page is made from: the same value means the same rendered page. There is
    /// one exactly if there is a `state`.
    pub page_key: Option<PageKey>,
    /// The stored `index.html`, only of an artifact whose `state` cannot be rendered.
    pub last_page: Option<Arc<[u8]>>,
}

impl Stored {
    /// Returns the metadata, if there is a good state.
    pub fn artifact(&self) -> Option<&Artifact> {
        self.state.as_deref().map(|state| &state.artifact)
    }

    /// Returns the revision, if there is a good state.
    pub fn revision(&self) -> Option<Revision> {
        self.artifact().map(|artifact| artifact.revision)
    }
}

/// The raw digests of what a page is made from.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct PageKey {
    /// Of `template.html`.
    pub template: Digest,
    /// Of `data.json`.
    pub data: Digest,
    /// Of `provenance.json`, which the inspect variant shows.
    pub provenance: Digest,
}
