//! The run of a server that nobody started with `od run`: found, begun, renewed and replaced by itself.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use od_client::{Bearer, Client};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{AgentName, RunId};
use od_mcp::{Access, ClientFacts, Opening};
use od_ports::project_registry::Project;
use od_wire::route::Operation;
use od_wire::run::{StartRun, StartedRun};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::args::Globals;
use crate::local;
use crate::output::CommandError;
use crate::settings::Settings;
use crate::verbs::{daemon, run, tools};

/// The longest that the end of a run is waited for; its lease ends it otherwise.
const END_MAX: Duration = Duration::from_secs(2);

/// The way of a standing server to daemon, project and run.
pub(super) struct Standing {
    globals: Globals,
    project: Option<String>,
    /// The run of `od run`, if the server was started inside one: it comes first, for as long as it lasts.
    given: Mutex<Option<Client>>,
    current: Mutex<Option<Current>>,
}

/// The run that the server works in.
struct Current {
    run: RunId,
    person: Arc<Client>,
    renewal: JoinHandle<()>,
}

impl Drop for Current {
    fn drop(&mut self) {
        self.renewal.abort();
    }
}

impl fmt::Debug for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Standing").field("project", &self.project).finish_non_exhaustive()
    }
}

impl Standing {
    pub(super) fn new(globals: Globals, project: Option<String>, given: Option<Client>) -> Self {
        Self { globals, project, given: Mutex::new(given), current: Mutex::new(None) }
    }

    /// Ends the run, so that nothing of it is left when the agent has gone.
    pub(super) async fn end(&self) {
        let current = lock(&self.current).take();
        if let Some(current) = current {
            let _lapses_by_itself = timeout(END_MAX, current.person.end_run(&current.run)).await;
        }
    }

    async fn begin(&self, facts: &ClientFacts) -> Result<Client, CommandError> {
        self.end().await;
        let (settings, project) = self.find(&facts.roots).await?;
        let announced = daemon::ensure(&settings, None).await?;
        let person = Arc::new(daemon::person_client(&settings, &announced)?);
        let start =
            StartRun { project_id: project.id, agent: facts.name.as_deref().and_then(agent_name) };
        let started: StartedRun = person.call(Operation::StartRun).json(&start)?.send().await?;
        let token = started.tool_token.clone();
        let (place, url) = (settings.data_dir.clone(), announced.url.clone());
        // Asked before each call: the daemon may have gone since, and another program listen there.
        let show = move || tools::living(&place, &url).map(|()| token.clone());
        let client = Client::new(&announced.url, Bearer::Fresh(Arc::new(show)))?
            .through(od_core::ledger::Door::Mcp);
        let renewal = tokio::spawn(run::keep_alive(Arc::clone(&person), started.run.clone()));
        *lock(&self.current) = Some(Current { run: started.run.run_id, person, renewal });
        Ok(client)
    }

    /// Finds the project that was named, else that of the first of the client's directories that has one,
    /// else that of the directory in which the server was started.
    async fn find(&self, roots: &[PathBuf]) -> Result<(Settings, Project), CommandError> {
        let started_in = Settings::of_process(&self.globals)?;
        let mut places = Vec::new();
        for root in roots {
            places.push(Settings::of_directory(&self.globals, root)?);
        }
        places.push(started_in);
        let mut refused = None;
        for settings in &places {
            let Some(app) = local::open_existing(settings)? else { continue };
            match local::project(&app, settings, self.project.as_deref()).await {
                Ok(Some(project)) => return Ok((settings.clone(), project)),
                Ok(None) => {}
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.unwrap_or_else(|| no_project(&places)))
    }
}

impl Access for Standing {
    fn open<'a>(&'a self, facts: &'a ClientFacts) -> Opening<'a> {
        let given = lock(&self.given).take();
        Box::pin(async move {
            match given {
                Some(client) => Ok(client),
                None => self.begin(facts).await.map_err(|refusal| *refusal.failure),
            }
        })
    }

    fn open_again<'a>(&'a self, facts: &'a ClientFacts) -> Option<Opening<'a>> {
        // A run's environment may name no home; no other run is to be had then, and the refusal stands.
        Settings::unchecked(&self.globals).ok()?;
        Some(self.open(facts))
    }
}

/// Says what the person has to run; nothing has to be started again afterwards.
fn no_project(places: &[Settings]) -> CommandError {
    let directories: Vec<&Path> = places.iter().map(|place| place.directory.as_path()).collect();
    let shown: Vec<String> = directories.iter().map(|place| place.display().to_string()).collect();
    let first = shown.first().cloned().unwrap_or_default();
    let message = format!("no project holds {}", shown.join(" or "));
    CommandError::from(Failure::new(ErrorCode::ProjectNotFound, message)).suggest(format!(
        "ask the person to run `od init {}` (or to name a project: `od mcp config --project ID`), then \
         call again; nothing has to be restarted",
        shell_word(&first)
    ))
}

/// Writes a path as one word of a shell's command line.
fn shell_word(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+~".contains(c);
    if path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

/// Returns a client's name as the name of a run's agent, as far as that may hold it.
fn agent_name(name: &str) -> Option<AgentName> {
    let words: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    words.trim_matches('-').to_ascii_lowercase().parse().ok()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
