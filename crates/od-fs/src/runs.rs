//! Runs as files, one each.

use async_trait::async_trait;
use od_core::ids::{RunId, Timestamp};
use od_ports::agents::run_store::{Run, RunStore, RunStoreError};
use serde::{Deserialize, Serialize};

use crate::data_dir::DataDir;
use crate::disk::{Dir, DiskError, FileLock, LockAttempt};
use crate::system::Lane;

const FILE_BYTES_MAX: u64 = od_core::limits::RUN_FILE.allowed;
const SCHEMA_VERSION: u64 = 1;
const LOCK_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

/// Keeps runs in a data directory.
#[derive(Debug)]
pub struct FileRunStore {
    data_dir: DataDir,
    lane: Lane,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct RunFile {
    schema_version: u64,
    run: Run,
}

impl FileRunStore {
    /// Opens the runs of a data directory.
    pub fn new(data_dir: DataDir) -> Self {
        Self { data_dir, lane: Lane::Pool }
    }

    /// Runs on the calling thread instead; see [`Lane::Inline`].
    #[must_use]
    pub fn on(mut self, lane: Lane) -> Self {
        self.lane = lane;
        self
    }
}

#[async_trait]
impl RunStore for FileRunStore {
    async fn create(&self, run: &Run) -> Result<(), RunStoreError> {
        let (data_dir, run) = (self.data_dir.clone(), run.clone());
        self.lane.run(move || create(&data_dir.runs()?, &run)).await?
    }

    async fn get(&self, run: &RunId) -> Result<Option<Run>, RunStoreError> {
        let (data_dir, run) = (self.data_dir.clone(), run.clone());
        self.lane.run(move || read(&data_dir.runs()?, &run)).await?
    }

    async fn replace(&self, from: &Run, to: &Run) -> Result<(), RunStoreError> {
        let (data_dir, from, to) = (self.data_dir.clone(), from.clone(), to.clone());
        self.lane.run(move || replace(&data_dir.runs()?, &from, &to)).await?
    }

    async fn forget(&self, over_at: Timestamp) -> Result<(), RunStoreError> {
        let data_dir = self.data_dir.clone();
        self.lane.run(move || forget(&data_dir.runs()?, over_at)).await?
    }
}

fn create(runs: &Dir, run: &Run) -> Result<(), RunStoreError> {
    let _lock = lock(runs)?;
    let name = file_name(&run.id);
    if runs.stat(&name)?.is_some() {
        return Err(RunStoreError::Exists { run: run.id.clone() });
    }
    write(runs, &name, run)
}

fn replace(runs: &Dir, from: &Run, to: &Run) -> Result<(), RunStoreError> {
    let _lock = lock(runs)?;
    if from.id != to.id || read(runs, &from.id)?.as_ref() != Some(from) {
        return Err(RunStoreError::Changed { run: from.id.clone() });
    }
    write(runs, &file_name(&to.id), to)
}

fn forget(runs: &Dir, over_at: Timestamp) -> Result<(), RunStoreError> {
    let _lock = lock(runs)?;
    for (name, _) in runs.entries()? {
        let id = name.strip_suffix(".json").and_then(|id| id.parse::<RunId>().ok());
        let Some(id) = id else { continue };
        // One that cannot be read is left for a person to look at.
        if let Ok(Some(run)) = read(runs, &id)
            && run.was_over_at(over_at)
        {
            runs.remove(&name)?;
        }
    }
    Ok(())
}

fn read(runs: &Dir, run: &RunId) -> Result<Option<Run>, RunStoreError> {
    let Some(bytes) = runs.read_if_there(&file_name(run), FILE_BYTES_MAX)? else {
        return Ok(None);
    };
    match serde_json::from_slice::<RunFile>(&bytes) {
        // The id inside counts too: a file that was copied under another name must not revive a run.
        Ok(file) if file.schema_version == SCHEMA_VERSION && file.run.id == *run => {
            Ok(Some(file.run))
        }
        Ok(_) | Err(_) => Err(RunStoreError::Damaged { run: run.clone() }),
    }
}

fn write(runs: &Dir, name: &str, run: &Run) -> Result<(), RunStoreError> {
    let file = RunFile { schema_version: SCHEMA_VERSION, run: run.clone() };
    let mut bytes = serde_json::to_vec_pretty(&file)
        .map_err(|err| RunStoreError::Io { action: "write a run as JSON", source: err.into() })?;
    bytes.push(b'\n');
    runs.replace_synced(name, &bytes)?;
    Ok(runs.sync()?)
}

/// One lock for all runs: changes are rare and short, and a lock file for each would stay forever.
fn lock(runs: &Dir) -> Result<FileLock, RunStoreError> {
    match FileLock::take(runs, ".lock", LOCK_TIMEOUT)? {
        LockAttempt::Held(lock) => Ok(lock),
        LockAttempt::TimedOut => Err(RunStoreError::Io {
            action: "lock the runs",
            source: std::io::ErrorKind::WouldBlock.into(),
        }),
    }
}

fn file_name(run: &RunId) -> String {
    format!("{run}.json")
}

impl From<DiskError> for RunStoreError {
    fn from(err: DiskError) -> Self {
        Self::Io { action: err.action, source: err.source }
    }
}
