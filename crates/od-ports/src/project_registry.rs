//! The projects of a data directory.

use std::fmt;
use std::io;
use std::path::PathBuf;

use async_trait::async_trait;
use od_core::ids::{ProjectId, Timestamp};
use serde::{Deserialize, Serialize};

/// One project.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// The project's id, also the name of its directory.
    pub id: ProjectId,
    /// The name people see.
    pub name: String,
    /// The directory whose files the project's sources may read. Only the command line sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<PathBuf>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Whether agents may switch on schedules of sources that only read this machine. Only the command
    /// line sets it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_schedules: bool,
}

/// Keeps the projects.
///
/// # Contract
///
/// - `create` is atomic and durable before it returns; of two with one id exactly one succeeds.
/// - `list` is sorted by id. A project whose file cannot be read is left out of `list` and reported
///   by `get` as [`ProjectError::Damaged`]: one damaged project never hides the others.
/// - A removed project is unknown to every call but `removed` and `restore`, and its id stays taken.
///   `remove` and `restore` are atomic and durable before they return.
#[async_trait]
pub trait ProjectRegistry: fmt::Debug + Send + Sync {
    /// Returns every readable project.
    async fn list(&self) -> Result<Vec<Project>, ProjectError>;
    /// Returns one project, or `None` if there is no such project.
    async fn get(&self, project: &ProjectId) -> Result<Option<Project>, ProjectError>;
    /// Adds a project.
    async fn create(&self, project: Project) -> Result<(), ProjectError>;
    /// Replaces name and root of a project that exists.
    async fn update(&self, project: Project) -> Result<(), ProjectError>;
    /// Takes a project out of use; what is stored beside it stays.
    async fn remove(&self, project: &ProjectId) -> Result<(), ProjectError>;
    /// Returns every readable project that was removed, sorted by id.
    async fn removed(&self) -> Result<Vec<Project>, ProjectError>;
    /// Takes a removed project into use again.
    async fn restore(&self, project: &ProjectId) -> Result<(), ProjectError>;
}

/// The reason the registry could not answer.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// There is a project of that id already.
    #[error("project `{project}` exists already")]
    Exists {
        /// The id asked for.
        project: ProjectId,
    },
    /// There is no such project.
    #[error("no project `{project}`")]
    NotFound {
        /// The id asked for.
        project: ProjectId,
    },
    /// Its file is not a project file of a known version.
    #[error("the file of project `{project}` cannot be read: {reason}")]
    Damaged {
        /// The project.
        project: ProjectId,
        /// The fault.
        reason: String,
    },
    /// A data directory beside a project takes no directory outside it.
    #[error("`{}` is outside `{}`, the only place that a data directory there may name", root.display(), allowed.display())]
    RootOutside {
        /// The directory asked for.
        root: PathBuf,
        /// The directory that it has to lie in.
        allowed: PathBuf,
    },
    /// A shared store cannot be reached, or did not answer in time.
    #[error("the shared store cannot be used: {reason}")]
    Unavailable {
        /// The fault, in words without data.
        reason: String,
    },
    /// The disk refused.
    #[error("could not {action}")]
    Io {
        /// The action that was tried.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
}
