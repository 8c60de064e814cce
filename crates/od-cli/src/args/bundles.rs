//! Commands about what leaves and enters: bundles, the keys that sign them, a static site.

use std::path::PathBuf;

use super::matches::Matches;

/// `od artifacts import`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ImportArtifacts {
    /// The bundle.
    pub file: PathBuf,
    /// The project that the artifacts go to, if it was given.
    pub project: Option<String>,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for ImportArtifacts {
    fn from(mut given: Matches) -> Self {
        Self {
            project: given.text("project"),
            dry_run: given.dry_run(),
            file: given.directory().unwrap_or_default(),
        }
    }
}

/// `od projects export`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ExportProject {
    /// The project, if it was given.
    pub project: Option<String>,
    /// The bundle to write.
    pub bundle: PathBuf,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for ExportProject {
    fn from(mut given: Matches) -> Self {
        Self {
            bundle: given.required_path("bundle"),
            dry_run: given.dry_run(),
            project: given.argument(),
        }
    }
}

/// `od keys trust`, `od keys revoke`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SignerArgs {
    /// The public key, or the beginning of one that is known.
    pub key: String,
    /// The name to give it, if one was given.
    pub name: Option<String>,
    /// Whether the person has confirmed it beforehand.
    pub yes: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for SignerArgs {
    fn from(mut given: Matches) -> Self {
        Self {
            name: given.text("name"),
            yes: given.has("yes"),
            dry_run: given.dry_run(),
            key: given.required_argument(),
        }
    }
}

/// `od build`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Build {
    /// The folder of the site.
    pub out: PathBuf,
    /// The project, if it was given.
    pub project: Option<String>,
    /// Whether every project goes into the site.
    pub all: bool,
    /// Whether artifacts are refreshed first.
    pub refresh: bool,
    /// The age at which data is stale, if it was given.
    pub max_age: Option<String>,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for Build {
    fn from(mut given: Matches) -> Self {
        Self {
            out: given.required_path("out"),
            project: given.text("project"),
            all: given.has("all"),
            refresh: given.has("refresh"),
            max_age: given.text("max-age"),
            dry_run: given.dry_run(),
        }
    }
}
