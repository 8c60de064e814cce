//! Make a project.

use std::path::PathBuf;

use od_core::error::{ErrorCode, Failure, Issue};
use od_core::ids::{ProjectId, Slug};
use od_core::limits;
use od_ports::project_registry::{Project, ProjectError};
use od_ports::store::PageRequest;
use od_ports::system::EntropyError;

use crate::{App, Caller, failure};

/// A project to make.
#[derive(Clone, Debug)]
pub struct CreateProject {
    /// The id; made from the name if left out.
    pub id: Option<ProjectId>,
    /// The name.
    pub name: String,
    /// The directory its sources may read. Only the command line may say.
    pub root: Option<PathBuf>,
}

/// Why it was not made.
#[derive(Debug, thiserror::Error)]
pub enum CreateProjectError {
    /// Only a person makes projects.
    #[error("an agent may not make projects")]
    PersonOnly,
    /// The name is empty or too long.
    #[error("the name is empty or too long")]
    Name,
    /// There were no random bytes for an id.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
    /// The registry refused or failed.
    #[error(transparent)]
    Registry(#[from] ProjectError),
}

impl From<CreateProjectError> for Failure {
    fn from(err: CreateProjectError) -> Self {
        match err {
            CreateProjectError::PersonOnly => Self::new(ErrorCode::Forbidden, err.to_string())
                .suggest("ask the person to make one"),
            CreateProjectError::Name => {
                let issue = Issue::new("/name", "name_length", err.to_string())
                    .want(format!("1 to {} UTF-16 code units", limits::TITLE.allowed));
                Self::validation(ErrorCode::BadRequest, &[issue])
            }
            CreateProjectError::Entropy(_) => Self::new(ErrorCode::Internal, err.to_string()),
            CreateProjectError::Registry(err) => failure::registry(err),
        }
    }
}

/// Makes a project.
pub async fn create(
    app: &App,
    caller: &Caller,
    request: CreateProject,
) -> Result<Project, CreateProjectError> {
    caller.require_person().map_err(|_| CreateProjectError::PersonOnly)?;
    let CreateProject { id, name, root } = request;
    let name = checked_name(&name)?;
    let id = match id {
        Some(id) => id,
        None => {
            let mut entropy = [0; 6];
            app.ports.entropy.fill(&mut entropy)?;
            ProjectId::generate(&Slug::from_title(&name), entropy)
        }
    };
    let created_at = app.ports.clock.now();
    let project = Project { id, name, root, created_at, allow_schedules: false };
    app.ports.projects.create(project.clone()).await?;
    // Listed once, it counts as read: health would call the store unread until somebody opens it.
    let _ = app.ports.artifacts.page(&project.id, PageRequest::default()).await;
    Ok(project)
}

/// Returns the name without the space around it, if it is a name.
pub(super) fn checked_name(name: &str) -> Result<String, CreateProjectError> {
    let name = name.trim();
    if name.is_empty() || !limits::TITLE.allows(limits::utf16_len(name)) {
        return Err(CreateProjectError::Name);
    }
    Ok(name.to_owned())
}
