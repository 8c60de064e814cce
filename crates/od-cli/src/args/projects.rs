//! `od projects …`: commands about projects.

use std::path::PathBuf;

use super::bundles::ExportProject;
use super::matches::Matches;

/// `od projects …`
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ProjectsCommand {
    /// `od projects list`
    List,
    /// `od projects rename`
    Rename(RenameProject),
    /// `od projects rebind`
    Rebind(RebindProject),
    /// `od projects export`
    Export(ExportProject),
    /// `od projects remove`
    Remove(RemoveProject),
}

/// `od projects rename`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RenameProject {
    /// The project's id.
    pub project: String,
    /// The new name.
    pub name: String,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for RenameProject {
    fn from(mut given: Matches) -> Self {
        Self {
            name: given.required_text("name"),
            dry_run: given.dry_run(),
            project: given.required_argument(),
        }
    }
}

/// `od projects rebind`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RebindProject {
    /// The project's id.
    pub project: String,
    /// The directory, if it was given.
    pub directory: Option<PathBuf>,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for RebindProject {
    fn from(mut given: Matches) -> Self {
        Self {
            directory: given.path("dir"),
            dry_run: given.dry_run(),
            project: given.required_argument(),
        }
    }
}

/// `od projects remove`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RemoveProject {
    /// The project's id.
    pub project: String,
    /// Whether the person has confirmed it beforehand.
    pub yes: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for RemoveProject {
    fn from(mut given: Matches) -> Self {
        Self { yes: given.has("yes"), dry_run: given.dry_run(), project: given.required_argument() }
    }
}
