//! The manifest of a bundle: what is in it, with the digest of every entry.

use super::tar::TarFault;
use crate::artifact::{Document, Heading, RefreshPermission, Status};
use crate::ids::{ArtifactId, Digest, ProjectId, Revision, Timestamp};
use crate::json::{self, Map};
use crate::words::words;

/// The path of the manifest, the first entry.
pub(super) const MANIFEST: &str = "manifest.json";
/// The path of the signature, the second entry.
pub(super) const SIGNATURE: &str = "signature.json";
/// The `format` of every manifest.
pub(super) const FORMAT: &str = "od-bundle";
/// The version that is written, and the only one that is read.
pub(super) const VERSION: u32 = 1;

words! {
    /// The scope of a bundle.
    BundleKind {
        /// One artifact.
        Artifact = "artifact",
        /// Every artifact of a project.
        Project = "project",
    }
}

/// What a bundle says of itself; everything else is found through it.
#[derive(Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    /// Always `od-bundle`.
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// The scope.
    pub kind: BundleKind,
    /// The project, of a bundle of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<BundledProject>,
    /// The artifacts, each with its folder.
    pub artifacts: Vec<ManifestArtifact>,
    /// Every entry but the manifest and the signature, by path.
    pub entries: Vec<ManifestEntry>,
}

/// The project that a bundle is of.
#[derive(Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BundledProject {
    /// The project's id where the bundle was made.
    pub id: ProjectId,
    /// What a person calls it.
    pub name: String,
}

/// One artifact of a bundle.
#[derive(Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ManifestArtifact {
    /// The folder of its entries.
    pub folder: String,
    /// The artifact's id where the bundle was made.
    pub id: ArtifactId,
    /// What a person calls it.
    pub title: String,
    /// The revision that its files are of.
    pub revision: Revision,
    /// When its data was made.
    pub as_of: Timestamp,
    /// Whether its files were edited by hand since that revision.
    pub edited: bool,
    /// The revisions whose contents are in the bundle, oldest first.
    pub revisions: Vec<Revision>,
}

impl ManifestArtifact {
    /// Returns the path of one of its files.
    pub(super) fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }
}

/// One entry of a bundle.
#[derive(Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ManifestEntry {
    /// The path in the archive.
    pub path: String,
    /// The length.
    pub bytes: u64,
    /// The digest of the bytes.
    pub digest: Digest,
}

/// The design of an artifact, without its data and without anything that was granted to it:
/// `artifact.json` of a bundle.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BundledArtifact {
    /// What it is called.
    #[serde(flatten)]
    pub heading: Heading,
    /// Its sources, queries, schedule and checks, none of which may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Document>,
}

impl BundledArtifact {
    /// Takes from an artifact what goes into a bundle, and from a bundle what is taken over.
    ///
    /// A permission stays behind on either way, and so does every field that this version does not know:
    /// nobody can say what it would allow.
    #[must_use]
    pub fn new(mut heading: Heading, document: Option<Document>) -> Self {
        if heading.status != Status::Archived {
            heading.status = Status::Active;
        }
        let document = document.map(|mut document| {
            document.set_permission(RefreshPermission::None);
            document.extra = Map::new();
            document
        });
        Self { heading, document }
    }

    /// Returns the bytes of `artifact.json`.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // Strings, integers and JSON only: writing them cannot fail.
        json::pretty_bytes(&serde_json::to_value(self).unwrap_or_default())
    }
}

/// The reasons why a file is no bundle that can be believed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BundleFault {
    /// The file does not even begin as one.
    #[error("this is no .odb bundle: {0}")]
    Foreign(TarFault),
    /// The archive is not one of ours.
    #[error("the archive cannot be read: {0}")]
    Archive(TarFault),
    /// The first entry is no manifest of a known version.
    #[error("the manifest cannot be read: {reason}")]
    Manifest {
        /// The reason.
        reason: String,
    },
    /// The bundle is of a version that this program does not know.
    #[error("it is a bundle of version {version}, and this program reads version {VERSION}")]
    Version {
        /// The version.
        version: u32,
    },
    /// The second entry is no signature of the manifest.
    #[error("the signature does not hold: {reason}")]
    Signature {
        /// The reason.
        reason: &'static str,
    },
    /// The entries are other ones than the manifest says.
    #[error("`{path}` {problem}")]
    Entry {
        /// The path.
        path: String,
        /// The difference.
        problem: &'static str,
    },
}

impl From<TarFault> for BundleFault {
    fn from(fault: TarFault) -> Self {
        let is_at_begin = match fault {
            TarFault::CutShort { at } | TarFault::Name { at } | TarFault::Header { at } => at == 0,
            TarFault::TooLarge
            | TarFault::TooManyEntries
            | TarFault::Trailing { .. }
            | TarFault::Padding { .. } => false,
        };
        if is_at_begin { Self::Foreign(fault) } else { Self::Archive(fault) }
    }
}
