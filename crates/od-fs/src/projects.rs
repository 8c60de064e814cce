//! Projects as directories with a `project.json`.

use std::time::Duration;

use async_trait::async_trait;
use od_core::grant::{Claim, GrantSeal};
use od_core::ids::ProjectId;
use od_ports::project_registry::{Project, ProjectError, ProjectRegistry};
use serde::{Deserialize, Serialize};

use crate::data_dir::{DataDir, LIVE, LOCKS, STAGING, TRASH};
use crate::disk::{Dir, DiskError, EntryKind, FileLock, FileStat, LockAttempt};
use crate::project_cache::ProjectFileCache;
use crate::system::Lane;

const FILE: &str = "project.json";
/// The name that the file of a removed project has: one rename takes it out of use or back into it.
const REMOVED: &str = "removed.json";
const FILE_BYTES_MAX: u64 = od_core::limits::PROJECT_FILE.allowed;
/// The longest wait for another writer.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const SCHEMA_VERSION: u64 = 1;

/// Keeps projects in a data directory.
#[derive(Debug)]
pub struct FileProjectRegistry {
    data_dir: DataDir,
    lane: Lane,
    cache: ProjectFileCache,
}

/// The file: a project, and the version of its form.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct ProjectFile {
    schema_version: u64,
    #[serde(flatten)]
    project: Project,
    /// The seal of what the project lets its agents do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schedules_seal: Option<GrantSeal>,
    /// Fields of a later program at the same version, kept as they are.
    #[serde(flatten)]
    unknown: serde_json::Map<String, serde_json::Value>,
}

impl FileProjectRegistry {
    /// Opens the projects of a data directory.
    pub fn new(data_dir: DataDir) -> Self {
        Self { data_dir, lane: Lane::Pool, cache: ProjectFileCache::default() }
    }

    /// Runs on the calling thread instead; see [`Lane::Inline`].
    #[must_use]
    pub fn on(mut self, lane: Lane) -> Self {
        self.lane = lane;
        self
    }
}

#[async_trait]
impl ProjectRegistry for FileProjectRegistry {
    async fn list(&self) -> Result<Vec<Project>, ProjectError> {
        let data_dir = self.data_dir.clone();
        self.lane.run(move || list(&data_dir, FILE)).await?
    }

    async fn get(&self, project: &ProjectId) -> Result<Option<Project>, ProjectError> {
        let path = self.data_dir.project_path(project).join(FILE);
        let stat = FileStat::of_path(&path)?;
        if let Some(cached) = stat.and_then(|stat| self.cache.get(project, stat)) {
            return Ok(Some(cached));
        }
        let (data_dir, project) = (self.data_dir.clone(), project.clone());
        let file = self.lane.run(move || read_checked(&data_dir, &project, FILE)).await??;
        let project = file.map(|file| file.project);
        if let (Some(stat), Some(project)) = (stat, &project) {
            self.cache.put(stat, project);
        }
        Ok(project)
    }

    async fn create(&self, project: Project) -> Result<(), ProjectError> {
        let data_dir = self.data_dir.clone();
        self.lane.run(move || create(&data_dir, project)).await?
    }

    async fn update(&self, project: Project) -> Result<(), ProjectError> {
        let data_dir = self.data_dir.clone();
        self.lane.run(move || update(&data_dir, project)).await?
    }

    async fn remove(&self, project: &ProjectId) -> Result<(), ProjectError> {
        let (data_dir, project) = (self.data_dir.clone(), project.clone());
        self.lane.run(move || rename(&data_dir, &project, FILE, REMOVED)).await?
    }

    async fn removed(&self) -> Result<Vec<Project>, ProjectError> {
        let data_dir = self.data_dir.clone();
        self.lane.run(move || list(&data_dir, REMOVED)).await?
    }

    async fn restore(&self, project: &ProjectId) -> Result<(), ProjectError> {
        let (data_dir, project) = (self.data_dir.clone(), project.clone());
        self.lane.run(move || rename(&data_dir, &project, REMOVED, FILE)).await?
    }
}

/// Returns the projects whose file has this name.
fn list(data_dir: &DataDir, file: &str) -> Result<Vec<Project>, ProjectError> {
    let projects = data_dir.projects()?;
    let mut found = Vec::new();
    for (name, kind) in projects.entries()? {
        if kind != EntryKind::Directory {
            continue;
        }
        let Ok(id) = name.parse::<ProjectId>() else { continue };
        if let Ok(Some(file)) = read_checked(data_dir, &id, file) {
            found.push(file.project);
        }
    }
    found.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(found)
}

/// Reads the file of a project, and takes away what it was allowed elsewhere.
fn read_checked(
    data_dir: &DataDir,
    project: &ProjectId,
    file: &str,
) -> Result<Option<ProjectFile>, ProjectError> {
    let mut found = read(data_dir, &data_dir.projects()?, project, file)?;
    if let (Some(guard), Some(file)) = (data_dir.grants(), &mut found) {
        let claim = Claim::of_project_schedules(project);
        file.project.allow_schedules &= guard.holds(&claim, file.schedules_seal.as_ref());
    }
    Ok(found)
}

/// Returns the seal of what a project lets its agents do.
fn seal(data_dir: &DataDir, project: &Project) -> Option<GrantSeal> {
    let guard = data_dir.grants().filter(|_| project.allow_schedules)?;
    Some(guard.seal_claim(&Claim::of_project_schedules(&project.id)))
}

fn read(
    data_dir: &DataDir,
    projects: &Dir,
    project: &ProjectId,
    file: &str,
) -> Result<Option<ProjectFile>, ProjectError> {
    let path = format!("{project}/{file}");
    let Some(bytes) = projects.read_if_there(&path, FILE_BYTES_MAX)? else { return Ok(None) };
    let damaged = |reason: String| ProjectError::Damaged { project: project.clone(), reason };
    let mut file: ProjectFile =
        serde_json::from_slice(&bytes).map_err(|err| damaged(err.to_string()))?;
    if file.schema_version != SCHEMA_VERSION {
        return Err(damaged(format!("its version is {}", file.schema_version)));
    }
    if file.project.id != *project {
        return Err(damaged(format!("it is the file of project `{}`", file.project.id)));
    }
    if let Some(stored) = file.project.root.take() {
        let shown = stored.display().to_string();
        let real = data_dir.real_root(stored);
        file.project.root = Some(real.ok_or_else(|| {
            damaged(format!("its folder `{shown}` lies in no directory beside the data"))
        })?);
    }
    Ok(Some(file))
}

/// Refuses a root that would not be read from.
fn check_root(data_dir: &DataDir, project: &Project) -> Result<(), ProjectError> {
    let Some(root) = project.root.clone() else { return Ok(()) };
    match data_dir.admit(root.clone()) {
        Ok(_) => Ok(()),
        Err(allowed) => Err(ProjectError::RootOutside { root, allowed }),
    }
}

fn create(data_dir: &DataDir, project: Project) -> Result<(), ProjectError> {
    check_root(data_dir, &project)?;
    let projects = data_dir.projects()?;
    let id = project.id.clone();
    let dir = projects.child_or_make(id.as_str())?;
    if dir.stat(REMOVED)?.is_some() {
        return Err(ProjectError::Exists { project: id });
    }
    let live = dir.child_or_make(LIVE)?;
    for name in [LOCKS, TRASH, STAGING] {
        live.make_dir(name)?;
    }
    live.sync()?;
    let file = ProjectFile {
        schema_version: SCHEMA_VERSION,
        schedules_seal: seal(data_dir, &project),
        project,
        unknown: serde_json::Map::default(),
    };
    // Written under a name of this process and linked into place: of two creators one wins.
    let temporary = format!("{FILE}.{}", std::process::id());
    dir.write_synced(&temporary, &encode(data_dir, file)?)?;
    let renamed = dir.rename_new(&temporary, &dir, FILE);
    if let Err(err) = renamed {
        dir.remove(&temporary)?;
        if err.source.kind() == std::io::ErrorKind::AlreadyExists {
            return Err(ProjectError::Exists { project: id });
        }
        return Err(err.into());
    }
    dir.sync()?;
    Ok(projects.sync()?)
}

fn update(data_dir: &DataDir, project: Project) -> Result<(), ProjectError> {
    check_root(data_dir, &project)?;
    let projects = data_dir.projects()?;
    let (dir, _lock) = locked(&projects, &project.id)?;
    let Some(mut file) = read(data_dir, &projects, &project.id, FILE)? else {
        return Err(ProjectError::NotFound { project: project.id });
    };
    file.schedules_seal = seal(data_dir, &project);
    file.project = project;
    dir.replace_synced(FILE, &encode(data_dir, file)?)?;
    Ok(dir.sync()?)
}

/// Gives the file of a project another name, which takes it out of use or back into it.
fn rename(
    data_dir: &DataDir,
    project: &ProjectId,
    from: &str,
    to: &str,
) -> Result<(), ProjectError> {
    let projects = data_dir.projects()?;
    let (dir, _lock) = locked(&projects, project)?;
    if dir.stat(from)?.is_none() {
        return Err(ProjectError::NotFound { project: project.clone() });
    }
    dir.rename(from, &dir, to)?;
    Ok(dir.sync()?)
}

/// Opens a project's directory for one writer: two would write over each other's draft.
fn locked(projects: &Dir, project: &ProjectId) -> Result<(Dir, FileLock), ProjectError> {
    let dir = match projects.child(project.as_str()) {
        Err(err) if err.is_missing() => {
            return Err(ProjectError::NotFound { project: project.clone() });
        }
        other => other?,
    };
    match FileLock::take_dir(&dir, LOCK_TIMEOUT)? {
        LockAttempt::Held(lock) => Ok((dir, lock)),
        LockAttempt::TimedOut => {
            let source = std::io::ErrorKind::WouldBlock.into();
            Err(ProjectError::Io { action: "lock the project", source })
        }
    }
}

fn encode(data_dir: &DataDir, mut file: ProjectFile) -> Result<Vec<u8>, ProjectError> {
    file.project.root = file.project.root.map(|root| data_dir.stored_root(root));
    let mut bytes = serde_json::to_vec_pretty(&file).map_err(|err| ProjectError::Io {
        action: "write a project as JSON",
        source: err.into(),
    })?;
    bytes.push(b'\n');
    Ok(bytes)
}

impl From<DiskError> for ProjectError {
    fn from(err: DiskError) -> Self {
        Self::Io { action: err.action, source: err.source }
    }
}
