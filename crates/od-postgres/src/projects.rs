//! The projects of a team, and which machine has the files of each.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use od_core::ids::{ProjectId, Timestamp};
use od_ports::project_registry::{Project, ProjectError, ProjectRegistry};
use od_ports::store::StoreError;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::fault::Fault;
use crate::pool::Param;
use crate::store::{PgStore, Shared};

const ALL: &str =
    "SELECT id, name, created_at, is_removed FROM od.project ORDER BY id COLLATE \"C\"";
const ADD: &str = "WITH p AS (INSERT INTO od.project(id, name, created_at) VALUES ($1, $2, $3)) \
    UPDATE od.store SET projects = projects + 1 RETURNING 1";
const RENAME: &str = "WITH p AS (UPDATE od.project SET name = $2 WHERE id = $1 AND NOT is_removed \
        RETURNING 1) \
    UPDATE od.store SET projects = projects + 1 WHERE EXISTS (SELECT 1 FROM p) RETURNING 1";
const REMOVE: &str = "WITH p AS (UPDATE od.project SET is_removed = $2 WHERE id = $1 \
        AND is_removed <> $2 RETURNING 1) \
    UPDATE od.store SET projects = projects + 1 WHERE EXISTS (SELECT 1 FROM p) RETURNING 1";

/// Names this machine to the others of a team.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Machine {
    /// Random, made once.
    pub id: String,
    /// What people call it: its host name.
    pub label: String,
}

/// Keeps the projects of a team: name and time in the database, and on each machine which folder holds a
/// project's files there and what its agents may do there. Neither ever enters the database.
#[derive(Debug)]
pub struct PgProjectRegistry {
    shared: Arc<Shared>,
    local: Arc<dyn ProjectRegistry>,
    machine: Machine,
    known: Mutex<Option<Known>>,
}

/// The projects as they were last read.
#[derive(Clone, Debug)]
struct Known {
    version: i64,
    projects: Arc<[SharedProject]>,
}

/// What all machines know of a project.
#[derive(Clone, Debug)]
struct SharedProject {
    /// `None` if its row is none that od writes.
    project: Option<Project>,
    id: String,
    is_removed: bool,
}

impl PgProjectRegistry {
    /// Makes the registry of a store, with what only this machine knows in `local`.
    #[must_use]
    pub fn new(store: &PgStore, local: Arc<dyn ProjectRegistry>, machine: Machine) -> Self {
        Self { shared: Arc::clone(&store.shared), local, machine, known: Mutex::default() }
    }

    /// Returns the names of the machines that have the files of a project.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn machines(&self, project: &ProjectId) -> Result<Vec<String>, ProjectError> {
        let sql =
            "SELECT label FROM od.project_machine WHERE project = $1 ORDER BY label LIMIT 100";
        let id = project.as_str();
        let rows = self.rows(sql, &[(&id, Type::TEXT)]).await?;
        Ok(rows.iter().filter_map(|row| row.try_get(0).ok()).collect())
    }

    async fn rows(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, ProjectError> {
        self.shared.pool.rows(sql, params).await.map_err(unavailable)
    }

    async fn write(
        &self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Result<Vec<Row>, Fault>, ProjectError> {
        let conn = self.shared.pool.writer().await.map_err(unavailable)?;
        Ok(conn.locked_rows(sql, params).await)
    }

    /// Adds to a shared project what this machine knows of it.
    async fn with_local(&self, project: Project) -> Result<Project, ProjectError> {
        let local = self.local.get(&project.id).await?;
        Ok(match local {
            Some(Project { root, allow_schedules, .. }) => {
                Project { root, allow_schedules, ..project }
            }
            None => project,
        })
    }

    /// Keeps what only this machine knows, and tells the others that it has the files.
    async fn put_local(&self, project: &Project) -> Result<(), ProjectError> {
        match self.local.create(project.clone()).await {
            Err(ProjectError::Exists { .. }) => self.put_known(project).await?,
            other => other?,
        }
        let (id, machine, label) =
            (project.id.as_str(), self.machine.id.as_str(), self.machine.label.as_str());
        let params: [Param<'_>; 3] =
            [(&id, Type::TEXT), (&machine, Type::TEXT), (&label, Type::TEXT)];
        if project.root.is_some() {
            let sql = "INSERT INTO od.project_machine VALUES ($1, $2, $3) \
                ON CONFLICT (project, machine) DO UPDATE SET label = excluded.label";
            self.write(sql, &params).await?.map_err(|fault| unavailable(fault.into()))?;
        } else {
            let sql = "DELETE FROM od.project_machine WHERE project = $1 AND machine = $2";
            let done = self.write(sql, &params[..2]).await?;
            done.map_err(|fault| unavailable(fault.into()))?;
        }
        Ok(())
    }

    async fn put_known(&self, project: &Project) -> Result<(), ProjectError> {
        match self.local.update(project.clone()).await {
            // Removed on this machine before; the team decides whether it is there.
            Err(ProjectError::NotFound { .. }) => {
                self.local.restore(&project.id).await?;
                self.local.update(project.clone()).await
            }
            other => other,
        }
    }

    /// Returns every project, from memory if none has changed or the store cannot be asked.
    async fn all(&self) -> Result<Arc<[SharedProject]>, ProjectError> {
        let version = self.shared.index.projects_version().await;
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let version = match (version, known) {
            (Ok(version), Some(known)) if known.version == version => return Ok(known.projects),
            (Err(_), Some(known)) => return Ok(known.projects),
            (Ok(version), _) => version,
            (Err(error), None) => return Err(unavailable(error)),
        };
        let rows = self.rows(ALL, &[]).await?;
        let projects: Arc<[SharedProject]> = rows.iter().filter_map(read).collect();
        let known = Known { version, projects: Arc::clone(&projects) };
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
        Ok(projects)
    }

    async fn select(&self, is_removed: bool) -> Result<Vec<Project>, ProjectError> {
        let mut found = Vec::new();
        for shared in self.all().await?.iter().filter(|shared| shared.is_removed == is_removed) {
            let Some(project) = shared.project.clone() else { continue };
            found.push(self.with_local(project).await?);
        }
        Ok(found)
    }

    async fn set_removed(&self, project: &ProjectId, is_removed: bool) -> Result<(), ProjectError> {
        let id = project.as_str();
        let params: [Param<'_>; 2] = [(&id, Type::TEXT), (&is_removed, Type::BOOL)];
        let done = self.write(REMOVE, &params).await?.map_err(|fault| unavailable(fault.into()))?;
        if done.is_empty() {
            return Err(ProjectError::NotFound { project: project.clone() });
        }
        Ok(())
    }
}

#[async_trait]
impl ProjectRegistry for PgProjectRegistry {
    async fn list(&self) -> Result<Vec<Project>, ProjectError> {
        self.select(false).await
    }

    async fn get(&self, project: &ProjectId) -> Result<Option<Project>, ProjectError> {
        let all = self.all().await?;
        let found = all.iter().find(|shared| shared.id == project.as_str() && !shared.is_removed);
        match found {
            None => Ok(None),
            Some(SharedProject { project: Some(found), .. }) => {
                self.with_local(found.clone()).await.map(Some)
            }
            Some(SharedProject { project: None, .. }) => Err(ProjectError::Damaged {
                project: project.clone(),
                reason: "its row is none that od writes".to_owned(),
            }),
        }
    }

    async fn create(&self, project: Project) -> Result<(), ProjectError> {
        let (id, created_at) = (project.id.as_str(), project.created_at.unix_ms());
        let params: [Param<'_>; 3] =
            [(&id, Type::TEXT), (&project.name, Type::TEXT), (&created_at, Type::INT8)];
        match self.write(ADD, &params).await? {
            Err(Fault::Taken) => return Err(ProjectError::Exists { project: project.id }),
            other => other.map_err(|fault| unavailable(fault.into()))?,
        };
        self.put_local(&project).await
    }

    async fn update(&self, project: Project) -> Result<(), ProjectError> {
        let id = project.id.as_str();
        let params: [Param<'_>; 2] = [(&id, Type::TEXT), (&project.name, Type::TEXT)];
        let done = self.write(RENAME, &params).await?.map_err(|fault| unavailable(fault.into()))?;
        if done.is_empty() {
            return Err(ProjectError::NotFound { project: project.id });
        }
        self.put_local(&project).await
    }

    async fn remove(&self, project: &ProjectId) -> Result<(), ProjectError> {
        self.set_removed(project, true).await
    }

    async fn removed(&self) -> Result<Vec<Project>, ProjectError> {
        self.select(true).await
    }

    async fn restore(&self, project: &ProjectId) -> Result<(), ProjectError> {
        self.set_removed(project, false).await
    }
}

fn read(row: &Row) -> Option<SharedProject> {
    let (id, name, created_at, is_removed): (String, String, i64, bool) =
        (row.try_get(0).ok()?, row.try_get(1).ok()?, row.try_get(2).ok()?, row.try_get(3).ok()?);
    let project = id.parse().ok().map(|id| Project {
        id,
        name,
        root: None,
        created_at: Timestamp::from_unix_ms(created_at),
        allow_schedules: false,
    });
    Some(SharedProject { project, id, is_removed })
}

fn unavailable(err: StoreError) -> ProjectError {
    let reason =
        if let StoreError::Unavailable { reason, .. } = err { reason } else { err.to_string() };
    ProjectError::Unavailable { reason }
}
