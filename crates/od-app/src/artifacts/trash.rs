//! List what is in the trash.

use std::cmp::Reverse;

use od_core::ids::ProjectId;
use od_ports::store::Trashed;

use super::list::ListError;
use crate::{App, Caller};

/// Of which project.
#[derive(Clone, Debug, Default)]
pub struct ListTrash {
    /// The project; every one that the caller may see if there is none.
    pub project: Option<ProjectId>,
}

/// An artifact in the trash of a project.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InTrash {
    /// The project.
    pub project: ProjectId,
    /// The artifact.
    pub trashed: Trashed,
}

/// Returns what can be brought back, the last deleted first.
pub async fn trash(
    app: &App,
    caller: &Caller,
    request: ListTrash,
) -> Result<Vec<InTrash>, ListError> {
    let mut found = Vec::new();
    for project in app.ports.projects.list().await? {
        let project = project.id;
        let asked = request.project.as_ref().is_none_or(|asked| *asked == project);
        if asked && caller.may_see(&project) {
            let lines = app.ports.trash.list(&project).await?;
            found.extend(
                lines.into_iter().map(|trashed| InTrash { project: project.clone(), trashed }),
            );
        }
    }
    found.sort_by_key(|line| Reverse(line.trashed.deleted_at));
    Ok(found)
}
