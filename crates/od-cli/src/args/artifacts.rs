//! `od artifacts …`: what a person asks about stored artifacts.

use super::given::Given;
use super::verb::ArtifactsVerb;

/// What a person asks about stored artifacts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ArtifactsCommand {
    /// Artifacts of a project, or of all.
    List {
        /// The project, if it was given.
        project: Option<String>,
        /// Whether those in the trash are meant.
        trash: bool,
    },
    /// One artifact's state.
    Show(OneArtifact),
    /// One artifact's refresh.
    Refresh(OneArtifact),
    /// One artifact's history.
    History(OneArtifact),
    /// A check of stored files.
    Verify(VerifyArtifacts),
    /// A repair of stored files.
    Repair(Repair),
    /// An earlier state of one artifact.
    Rollback(Rollback),
    /// An artifact out of the trash.
    Restore(OneArtifact),
    /// One artifact in a browser.
    Open {
        /// Which one.
        artifact: OneArtifact,
        /// Whether to print the address instead.
        print: bool,
    },
}

/// One artifact, by id or slug.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OneArtifact {
    /// Its id or slug.
    pub artifact: String,
    /// Its project, if it was given.
    pub project: Option<String>,
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// `od artifacts verify`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VerifyArtifacts {
    /// One artifact, or all.
    pub artifact: Option<String>,
    /// The project, if it was given.
    pub project: Option<String>,
}

/// `od artifacts repair`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Repair {
    /// Which one.
    pub artifact: OneArtifact,
    /// Whether the person has said yes.
    pub yes: bool,
}

/// `od artifacts rollback`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rollback {
    /// Which one.
    pub artifact: OneArtifact,
    /// The refresh whose state is wanted.
    pub to: String,
    /// The revision it must be at, if one was given.
    pub if_revision: Option<u64>,
}

/// Types what was given to a verb about stored artifacts.
pub(super) fn build(which: ArtifactsVerb, mut given: Given, dry_run: bool) -> ArtifactsCommand {
    let project = given.text("project");
    let artifact = given.argument();
    let one =
        |project| OneArtifact { artifact: artifact.clone().unwrap_or_default(), project, dry_run };
    match which {
        ArtifactsVerb::Show => ArtifactsCommand::Show(one(project)),
        ArtifactsVerb::Refresh => ArtifactsCommand::Refresh(one(project)),
        ArtifactsVerb::History => ArtifactsCommand::History(one(project)),
        ArtifactsVerb::Verify => ArtifactsCommand::Verify(VerifyArtifacts { artifact, project }),
        ArtifactsVerb::Repair => {
            ArtifactsCommand::Repair(Repair { artifact: one(project), yes: given.has("yes") })
        }
        ArtifactsVerb::Rollback => ArtifactsCommand::Rollback(Rollback {
            to: given.text("to").unwrap_or_default(),
            if_revision: given.text("if-revision").and_then(|text| text.parse().ok()),
            artifact: one(project),
        }),
        ArtifactsVerb::Restore => ArtifactsCommand::Restore(one(project)),
        ArtifactsVerb::Open => {
            ArtifactsCommand::Open { artifact: one(project), print: given.has("print") }
        }
        ArtifactsVerb::List => ArtifactsCommand::List { project, trash: given.has("trash") },
    }
}
