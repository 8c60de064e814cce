//! `od artifacts …`: commands about stored artifacts.

use super::matches::Matches;

/// `od artifacts …`
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ArtifactsCommand {
    /// `od artifacts list`
    List(ListArtifacts),
    /// `od artifacts show`
    Show(ArtifactArgs),
    /// `od artifacts refresh`
    Refresh(ArtifactArgs),
    /// `od artifacts history`
    History(ArtifactArgs),
    /// `od artifacts verify`
    Verify(VerifyArtifacts),
    /// `od artifacts repair`
    Repair(RepairArtifact),
    /// `od artifacts rollback`
    Rollback(RollBackArtifact),
    /// `od artifacts delete`
    Delete(ArtifactArgs),
    /// `od artifacts restore`
    Restore(ArtifactArgs),
    /// `od artifacts open`
    Open(OpenArtifact),
}

/// One artifact, by id or slug.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ArtifactArgs {
    /// The artifact's id or slug.
    pub artifact: String,
    /// The project, if it was given.
    pub project: Option<String>,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for ArtifactArgs {
    fn from(mut given: Matches) -> Self {
        Self {
            project: given.text("project"),
            dry_run: given.dry_run(),
            artifact: given.required_argument(),
        }
    }
}

/// `od artifacts list`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListArtifacts {
    /// The project, if it was given.
    pub project: Option<String>,
    /// Whether to list the trash instead.
    pub trash: bool,
}

impl From<Matches> for ListArtifacts {
    fn from(mut given: Matches) -> Self {
        Self { project: given.text("project"), trash: given.has("trash") }
    }
}

/// `od artifacts verify`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VerifyArtifacts {
    /// One artifact, or all.
    pub artifact: Option<String>,
    /// The project, if it was given.
    pub project: Option<String>,
}

impl From<Matches> for VerifyArtifacts {
    fn from(mut given: Matches) -> Self {
        Self { project: given.text("project"), artifact: given.argument() }
    }
}

/// `od artifacts repair`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RepairArtifact {
    /// The artifact.
    pub artifact: ArtifactArgs,
    /// Whether the person has confirmed it beforehand.
    pub yes: bool,
}

impl From<Matches> for RepairArtifact {
    fn from(given: Matches) -> Self {
        Self { yes: given.has("yes"), artifact: given.into() }
    }
}

/// `od artifacts rollback`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RollBackArtifact {
    /// The artifact.
    pub artifact: ArtifactArgs,
    /// The refresh whose state is wanted.
    pub to: String,
    /// The revision it must be at, if one was given.
    pub if_revision: Option<u64>,
}

impl From<Matches> for RollBackArtifact {
    fn from(mut given: Matches) -> Self {
        Self {
            to: given.required_text("to"),
            if_revision: given.number("if-revision"),
            artifact: given.into(),
        }
    }
}

/// `od artifacts open`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OpenArtifact {
    /// The artifact.
    pub artifact: ArtifactArgs,
    /// Whether to print the address instead.
    pub print: bool,
}

impl From<Matches> for OpenArtifact {
    fn from(given: Matches) -> Self {
        Self { print: given.has("print"), artifact: given.into() }
    }
}
