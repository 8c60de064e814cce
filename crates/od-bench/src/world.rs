//! A data directory on a real disk, filled and used through the use cases.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use od_app::artifacts::{CreateArtifact, Reading, create};
use od_app::projects::{self, CreateProject};
use od_app::{App, Caller, Mode};
use od_core::ids::{ArtifactId, ProjectId, Timestamp};
use od_daemon::{ComposeOptions, compose};
use od_ports::system::Clock;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Work that is measured fails with a sentence for the person at the terminal.
pub(crate) type Outcome<T> = Result<T, String>;

/// A clock that moves on at each reading, so that no limit of calls per minute is met.
#[derive(Debug)]
struct FastClock(AtomicI64);

#[async_trait::async_trait]
impl Clock for FastClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.0.fetch_add(10_000, Ordering::Relaxed))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Every folder of this run; see [`scratch`].
static FOLDERS: Mutex<Vec<TempDir>> = Mutex::new(Vec::new());

/// A folder that stays until the run is over.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

/// Makes a folder beside the program: on a disk, where a temporary one may be memory.
///
/// None is removed before [`remove_scratch`]. An ext4 without a journal passes over every inode that
/// was freed in the last minutes when it looks for a free one: after the tens of thousands that one
/// area frees, making a file takes most of a millisecond in the next one, and no user meets that.
pub(crate) fn scratch() -> Outcome<Scratch> {
    let exe = std::env::current_exe().map_err(told)?;
    let beside = exe.parent().ok_or("the program stands nowhere")?;
    let folder = tempfile::Builder::new().prefix("od-bench-").tempdir_in(beside).map_err(told)?;
    let path = folder.path().to_owned();
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).push(folder);
    Ok(Scratch(path))
}

/// Removes every folder of this run.
pub(crate) fn remove_scratch() {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// Turns an error into its sentence.
pub(crate) fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// One project in one data directory.
pub(crate) struct World {
    root: Scratch,
    runtime: Runtime,
    pub(crate) app: App,
    pub(crate) project: ProjectId,
}

impl World {
    /// Makes an empty project whose directory is [`World::folder`].
    pub(crate) fn make() -> Outcome<Self> {
        let root = scratch()?;
        let runtime = Runtime::new().map_err(told)?;
        let folder = root.path().join("project");
        std::fs::create_dir_all(&folder).map_err(told)?;
        let app = composed(root.path(), None)?;
        let request = CreateProject { id: None, name: "Bench".to_owned(), root: Some(folder) };
        let project =
            runtime.block_on(projects::create(&app, &Caller::Person, request)).map_err(told)?.id;
        Ok(Self { root, runtime, app, project })
    }

    /// Replaces the clock, so that a thousand refreshes are not too many for one minute.
    pub(crate) fn with_fast_clock(mut self) -> Outcome<Self> {
        let clock = Arc::new(FastClock(AtomicI64::new(1_777_507_200_000)));
        self.app = composed(self.root.path(), Some(clock))?;
        Ok(self)
    }

    /// Waits until every commit is settled, as it is a moment after the last one.
    pub(crate) fn settled(self) -> Outcome<Self> {
        let Self { root, runtime, app, project } = self;
        drop(app);
        let app = composed(root.path(), None)?;
        Ok(Self { root, runtime, app, project })
    }

    /// The folder that holds everything.
    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    /// The project's own directory.
    pub(crate) fn folder(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// Opens the data directory once more, with nothing in memory.
    pub(crate) fn reopened(&self) -> Outcome<App> {
        composed(self.root.path(), None)
    }

    /// Waits for the work.
    pub(crate) fn run<F: Future>(&self, work: F) -> F::Output {
        self.runtime.block_on(work)
    }

    /// Creates an artifact from a whole request.
    pub(crate) fn create(&self, body: Value) -> Outcome<ArtifactId> {
        let request = CreateArtifact {
            project: self.project.clone(),
            body: body.into(),
            reading: Reading::Now,
        };
        let created =
            self.run(create(&self.app, &Caller::Person, request, Mode::Commit)).map_err(told)?;
        Ok(created.stored.id.clone())
    }

    /// Creates small artifacts until there are so many.
    pub(crate) fn fill(&self, from: usize, to: usize) -> Outcome<()> {
        (from..to).try_for_each(|n| self.create(page(n, 1)).map(drop))
    }
}

/// The request for a page of about so many KiB.
pub(crate) fn page(n: usize, kib: usize) -> Value {
    json!({
        "input": {
            "title": format!("Page {n}"),
            "document": { "format": "html_template_v1", "dataJson": { "title": n } },
        },
        "templateHtml": template(kib),
    })
}

/// About as much data as an artifact may have, different for each seed.
pub(crate) fn large_data(seed: usize) -> Value {
    let rows: Vec<_> = (0..500)
        .map(|n| json!({ "id": n, "name": format!("row {n} of {seed}"), "note": "x".repeat(475) }))
        .collect();
    json!({ "title": format!("large {seed}"), "rows": rows })
}

/// The request for an artifact with as much data, which its page shows.
pub(crate) fn large(seed: usize) -> Value {
    json!({
        "input": {
            "title": format!("Large {seed}"),
            "document": { "format": "html_template_v1", "dataJson": large_data(seed) },
        },
        "templateHtml": "<!doctype html><html><head><title>{{data.title}}</title></head><body><table>\
            <tbody><tr data-od-repeat=\"row in data.rows\"><td>{{row.id}}</td><td>{{row.name}}</td></tr>\
            </tbody></table></body></html>",
    })
}

/// The same request with a file of the project as the source.
pub(crate) fn refreshed_from(mut request: Value, file: &str) -> Value {
    request["input"]["document"]["sourceJson"] = json!({
        "type": "local_file",
        "input": { "path": file },
        "refreshPermission": "manual_refresh_granted_for_read_only",
    });
    request
}

/// Returns a size, or a small one with `OD_BENCH_SMALL` set: to see that a row runs, not to read it.
pub(crate) fn sized(full: usize, small: usize) -> usize {
    if std::env::var_os("OD_BENCH_SMALL").is_some() { small } else { full }
}

/// A template of about so many KiB that shows `data.title`.
pub(crate) fn template(kib: usize) -> String {
    let filler = "<p>A paragraph of the page, of no interest to anybody.</p>\n".repeat(kib * 18);
    format!(
        "<!doctype html><html><head><title>{{{{data.title}}}}</title></head><body>{filler}</body></html>"
    )
}

fn composed(root: &Path, clock: Option<Arc<dyn Clock>>) -> Outcome<App> {
    let options = ComposeOptions { clock, ..ComposeOptions::default() };
    compose(&root.join("home"), &root.join("data"), options).map_err(told)
}
