//! `od store …`: what keeps the artifacts, and the tables of a team's database.

use std::sync::Arc;

use od_app::App;
use od_app::store_copy::CopyReport;
use od_core::error::ErrorCode;
use od_daemon::{ComposeOptions, SharedStore};
use od_fs::{DataDir, FileArtifactStore, SystemClock, SystemEntropy};
use od_ports::Entropy as _;
use od_ports::store::{StoreError, StoreTransfer};
use od_postgres::{PgStore, SCHEMA_VERSION, SchemaState};
use serde_json::json;

use crate::args::StoreCommand;
use crate::local;
use crate::output::{Answer, CommandError, Exit, Style, Text};
use crate::settings::Settings;

/// Shows or changes what keeps the artifacts.
pub(crate) async fn store(
    settings: &Settings,
    command: StoreCommand,
) -> Result<Answer, CommandError> {
    match command {
        StoreCommand::Status { store } => {
            status(settings, settings.shared_store(store.as_deref())?).await
        }
        StoreCommand::Migrate { store, dry_run } => {
            let Some(store) = settings.shared_store(store.as_deref())? else {
                return Err(CommandError::new(
                    ErrorCode::BadRequest,
                    "files have no tables: no database is named",
                )
                .suggest("od store migrate --store postgres://ROLE@HOST:5432/DATABASE")
                .ending(Exit::Usage));
            };
            migrate(store, dry_run).await
        }
        StoreCommand::Copy { from, to, dry_run } => copy(settings, &from, &to, dry_run).await,
    }
}

/// One side of a copy.
struct Side {
    app: App,
    taker: Box<dyn StoreTransfer>,
    name: String,
}

impl Side {
    /// Opens a store by what a person calls it: a directory, or the address of a database.
    async fn open(settings: &Settings, named: &str) -> Result<Self, CommandError> {
        let (data_dir, shared) = if named.contains("://") {
            (settings.data_dir.clone(), settings.shared_store(Some(named))?)
        } else {
            (settings.directory.join(named), None)
        };
        if shared.is_none() && !data_dir.is_dir() {
            return Err(local::nothing_stored(&data_dir));
        }
        let options = ComposeOptions { store: shared.clone(), ..local::options(&settings.config) };
        let app = od_daemon::compose(&settings.home, &data_dir, options)
            .map_err(|error| local::compose_error(&error))?;
        let name = match &shared {
            Some(store) => store.address.place(),
            None => data_dir.display().to_string(),
        };
        let taker: Box<dyn StoreTransfer> = match shared {
            Some(store) => {
                check(store.clone()).await?;
                Box::new(open(store)?)
            }
            None => {
                let files = DataDir::open(&data_dir).map_err(|error| local::untrusted(&error))?;
                let files = FileArtifactStore::open(files, Arc::new(SystemClock));
                Box::new(files.map_err(|error| unavailable(&error))?)
            }
        };
        Ok(Self { app, taker, name })
    }
}

async fn copy(
    settings: &Settings,
    from: &str,
    to: &str,
    dry_run: bool,
) -> Result<Answer, CommandError> {
    let (from, to) = (Side::open(settings, from).await?, Side::open(settings, to).await?);
    if from.name == to.name {
        return Err(CommandError::new(ErrorCode::BadRequest, "both are the same store")
            .suggest("name two stores")
            .ending(Exit::Usage));
    }
    let taker = (!dry_run).then_some(to.taker.as_ref());
    let report = od_app::store_copy::copy(&from.app.ports, &to.app.ports, taker)
        .await
        .map_err(local::failed)?;
    let CopyReport { copied, unchanged, left_out } = report;
    let verb = if dry_run { "Would copy" } else { "Copied" };
    let mut text = Text::new().line(&format!(
        "{verb} {} from {} to {}; {} were there already.",
        copied.len(),
        from.name,
        to.name,
        unchanged.len()
    ));
    for (id, reason) in &left_out {
        text = text.pieces(&[
            (Style::Bad, "left out "),
            (Style::Bold, id.as_str()),
            (Style::Plain, &format!(": {reason}")),
        ]);
    }
    let left: Vec<_> =
        left_out.iter().map(|(id, reason)| json!({ "artifactId": id, "reason": reason })).collect();
    let json = json!({ "copied": copied, "unchanged": unchanged, "leftOut": left });
    let exit = if left_out.is_empty() { Exit::Ok } else { Exit::Found };
    let answer = Answer::new(json, text).ending(exit);
    Ok(if dry_run { answer.dry() } else { answer })
}

/// Refuses a database that does not answer, or whose tables are not those of this program.
pub(crate) async fn check(store: SharedStore) -> Result<(), CommandError> {
    let state = open(store)?.schema().await.map_err(|error| unavailable(&error))?;
    match state.refusal() {
        None => Ok(()),
        Some(reason) => Err(refused(&reason)),
    }
}

async fn status(settings: &Settings, store: Option<SharedStore>) -> Result<Answer, CommandError> {
    let Some(store) = store else {
        let path = settings.data_dir.display();
        let text = Text::new()
            .pieces(&[(Style::Bold, "files "), (Style::Plain, &path.to_string())])
            .styled(Style::Dim, "A team shares a database: `od help store migrate`.");
        return Ok(Answer::new(json!({ "kind": "files", "dataDir": settings.data_dir }), text));
    };
    let place = store.address.place();
    let (state, problem) = match open(store)?.schema().await {
        Ok(state) => (Some(state), state.refusal()),
        Err(StoreError::Unavailable { reason, .. }) => (None, Some(reason)),
        Err(error) => (None, Some(error.to_string())),
    };
    let version = state.and_then(version_of);
    let mut text =
        Text::new().pieces(&[(Style::Bold, "postgres "), (Style::Plain, place.as_str())]);
    text = match &problem {
        None => text.pieces(&[
            (Style::Good, "usable"),
            (Style::Plain, &format!(", tables of version {SCHEMA_VERSION}")),
        ]),
        Some(problem) => text.pieces(&[(Style::Bad, "not usable: "), (Style::Plain, problem)]),
    };
    let json = json!({
        "kind": "postgres",
        "address": place,
        "isReachable": state.is_some(),
        "schemaVersion": version,
        "neededVersion": SCHEMA_VERSION,
        "problem": problem,
    });
    let exit = if problem.is_some() { Exit::Found } else { Exit::Ok };
    Ok(Answer::new(json, text).ending(exit))
}

async fn migrate(store: SharedStore, dry_run: bool) -> Result<Answer, CommandError> {
    let place = store.address.place();
    let store = open(store)?;
    let before = if dry_run { store.schema().await } else { store.migrate().await };
    let before = before.map_err(|error| unavailable(&error))?;
    if let SchemaState::Newer(_) = before {
        return Err(refused(&before.refusal().unwrap_or_default()));
    }
    let from = version_of(before).unwrap_or(0);
    let line = match (from == SCHEMA_VERSION, dry_run) {
        (true, _) => format!("{place}: the tables are of version {SCHEMA_VERSION} already."),
        (false, true) => format!("{place}: would go from version {from} to {SCHEMA_VERSION}."),
        (false, false) => format!("{place}: went from version {from} to {SCHEMA_VERSION}."),
    };
    let json = json!({ "address": place, "from": from, "to": SCHEMA_VERSION });
    let answer = Answer::new(json, Text::new().line(&line));
    Ok(if dry_run { answer.dry() } else { answer })
}

fn open(store: SharedStore) -> Result<PgStore, CommandError> {
    let mut instance = [0; 16];
    SystemEntropy::new().fill(&mut instance).map_err(|error| {
        CommandError::new(ErrorCode::Internal, error.to_string())
            .suggest("`od doctor` checks this installation")
    })?;
    Ok(PgStore::new(store.address, store.passwords, Arc::new(SystemClock), instance))
}

const fn version_of(state: SchemaState) -> Option<i32> {
    match state {
        SchemaState::Absent => None,
        SchemaState::Older(version) | SchemaState::Newer(version) => Some(version),
        SchemaState::Current => Some(SCHEMA_VERSION),
    }
}

fn unavailable(error: &StoreError) -> CommandError {
    CommandError::new(ErrorCode::StoreUnavailable, error.to_string())
        .suggest("look at the address, the network and ~/.pgpass; `od store status` asks again")
}

fn refused(reason: &str) -> CommandError {
    let (problem, fix) = reason.split_once(": ").unwrap_or((reason, "od store status"));
    CommandError::new(ErrorCode::StoreUnavailable, format!("the shared store: {problem}"))
        .suggest(fix)
}
