//! `od artifacts …`: commands about stored artifacts.

use super::bundles::ImportArtifacts;
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
    /// `od artifacts schedule`
    Schedule(ScheduleArtifact),
    /// `od artifacts history`
    History(ArtifactArgs),
    /// `od artifacts revisions`
    Revisions(ListRevisions),
    /// `od artifacts diff`
    Diff(DiffRevisions),
    /// `od artifacts export`
    Export(ExportArtifact),
    /// `od artifacts import`
    Import(ImportArtifacts),
    /// `od artifacts check`
    Check(VerifyArtifacts),
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

/// `od artifacts schedule`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ScheduleArtifact {
    /// The artifact.
    pub artifact: ArtifactArgs,
    /// Whether it was switched on or off as it is, if that was asked for.
    pub on: Option<bool>,
    /// The time between two refreshes.
    pub every: Option<String>,
    /// The times of the clock.
    pub cron: Option<String>,
    /// The zone of those times.
    pub time_zone: Option<String>,
    /// The age at which it is stale.
    pub max_age: Option<String>,
    /// Whether changed files are followed by a refresh.
    pub on_change: bool,
    /// What becomes of missed slots.
    pub missed: Option<String>,
}

impl From<Matches> for ScheduleArtifact {
    fn from(mut given: Matches) -> Self {
        let on = match (given.has("on"), given.has("off")) {
            (_, true) => Some(false),
            // Both at once are refused before.
            (true, false) => Some(true),
            (false, false) => None,
        };
        Self {
            on,
            every: given.text("every"),
            cron: given.text("cron"),
            time_zone: given.text("time-zone"),
            max_age: given.text("max-age"),
            on_change: given.has("on-change"),
            missed: given.text("missed"),
            artifact: given.into(),
        }
    }
}

/// `od artifacts export`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ExportArtifact {
    /// The artifact.
    pub artifact: ArtifactArgs,
    /// The file of the page.
    pub html: Option<String>,
    /// The table, and behind `=` its file.
    pub csv: Option<String>,
    /// The file of the document.
    pub md: Option<String>,
    /// The file of the picture.
    pub png: Option<String>,
    /// The file of the printed page.
    pub pdf: Option<String>,
    /// The file of the bundle.
    pub bundle: Option<String>,
}

impl From<Matches> for ExportArtifact {
    fn from(mut given: Matches) -> Self {
        Self {
            html: given.text("html"),
            csv: given.text("csv"),
            md: given.text("md"),
            png: given.text("png"),
            pdf: given.text("pdf"),
            bundle: given.text("bundle"),
            artifact: given.into(),
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
    /// Words that are looked for, if any were given.
    pub query: Option<String>,
    /// The most that are shown, if that was given.
    pub limit: Option<String>,
    /// The place that the page begins after, if it was given.
    pub cursor: Option<String>,
}

impl From<Matches> for ListArtifacts {
    fn from(mut given: Matches) -> Self {
        Self {
            project: given.text("project"),
            trash: given.has("trash"),
            query: given.text("query"),
            limit: given.text("limit"),
            cursor: given.text("cursor"),
        }
    }
}

/// `od artifacts revisions`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListRevisions {
    /// The artifact.
    pub artifact: ArtifactArgs,
    /// The most that are shown, if that was given.
    pub limit: Option<usize>,
}

impl From<Matches> for ListRevisions {
    fn from(mut given: Matches) -> Self {
        Self { limit: given.number("limit"), artifact: given.into() }
    }
}

/// `od artifacts diff`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DiffRevisions {
    /// The artifact.
    pub artifact: ArtifactArgs,
    /// The two revisions as they were given, if they were.
    pub range: Option<String>,
}

impl From<Matches> for DiffRevisions {
    fn from(mut given: Matches) -> Self {
        let range = if given.positionals.len() > 1 { given.argument() } else { None };
        Self { range, artifact: given.into() }
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
