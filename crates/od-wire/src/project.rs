//! Projects and their files.

use od_core::connector::DatabaseTable;
use od_core::ids::{ArtifactId, ProjectId, RelPath, Timestamp};
use od_core::json::BoundedJson;
use od_core::limits::TABLES_SHOWN;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Creates a project. A directory is bound to it by the command line only.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateProject {
    /// What people call it.
    #[schemars(length(min = 1, max = 200))]
    pub name: String,
}

/// Changes a project. A directory is bound to it by the command line only.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateProject {
    /// What people call it from now on.
    #[schemars(length(min = 1, max = 200))]
    pub name: String,
}

/// A project that is no longer in use.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RemovedProjectAnswer {
    /// Always true.
    pub removed: bool,
    /// The project, as it was.
    pub project: ProjectView,
    /// Its artifacts, which are in the trash now; bringing one back brings the project back.
    #[schemars(length(max = 100_000))]
    pub trashed: Vec<ArtifactId>,
}

/// One project.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectView {
    /// The project.
    pub id: ProjectId,
    /// What people call it.
    #[schemars(length(max = 200))]
    pub name: String,
    /// The directory whose files its sources may read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub root: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// `{ project }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct ProjectAnswer {
    /// The project.
    pub project: ProjectView,
}

/// `{ projects }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct ProjectsAnswer {
    /// The projects.
    #[schemars(length(max = 100_000))]
    pub projects: Vec<ProjectLine>,
}

/// One project of a list.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ProjectLine {
    /// The project.
    #[serde(flatten)]
    pub project: ProjectView,
    /// Its artifacts, counted; absent if they cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<ProjectArtifacts>,
}

/// The artifacts of a project, counted.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(inline)]
pub struct ProjectArtifacts {
    /// All of them.
    #[schemars(range(max = 1_000_000_000))]
    pub total: u64,
    /// Those that are archived.
    #[schemars(range(max = 1_000_000_000))]
    pub archived: u64,
    /// Those whose last refresh failed.
    #[schemars(range(max = 1_000_000_000))]
    pub failed: u64,
    /// Those that are not healthy.
    #[schemars(range(max = 1_000_000_000))]
    pub damaged: u64,
}

/// One regular file of a project.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectFile {
    /// Where it is, seen from the project's root.
    pub path: RelPath,
    /// Its bytes.
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    pub size: u64,
    /// When it was last written.
    pub modified_at: Timestamp,
}

/// `{ files, truncated, content?, tables? }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct ProjectFilesAnswer {
    /// The files by path.
    #[schemars(length(max = 10_000))]
    pub files: Vec<ProjectFile>,
    /// Whether there are more.
    pub truncated: bool,
    /// What a source would read of the file asked for with `path`: the document; of rows their columns
    /// with types, the first ones and how many there are; nothing of a database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<BoundedJson>,
    /// The tables of a database asked for with `path`, or the rows of a file as one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = TABLES_SHOWN.allowed))]
    pub tables: Vec<DatabaseTable>,
}
