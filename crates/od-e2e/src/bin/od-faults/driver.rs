//! The process that gets killed: one operation through the use cases, then a clean end.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use od_app::artifacts::{self, DeleteArtifact, RepairArtifact, UpdateArtifact};
use od_app::{App, Caller};
use od_core::artifact::ArtifactState;
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, RefreshId};
use od_core::json::BoundedObject;
use od_core::refresh::{RecordStatus, RecordStep, RefreshRecord};
use od_core::template::Template;
use od_ports::change::Change;
use od_ports::inspection::RepairMode;
use od_ports::store_error::StoreError;

use crate::{control, world};

/// The attempt of the create that gets interrupted.
pub(crate) const ATTEMPT: &str = "attempt-1";

/// Carries out one operation and says `ACK` or `ERR <code>`.
pub(crate) fn drive(operation: &str, data_dir: &Path) -> ExitCode {
    let app = match world::open(data_dir) {
        Ok(app) => app,
        Err(err) => {
            eprintln!("{err}");
            say("ERR OPEN");
            return ExitCode::from(9);
        }
    };
    let result = world::wait(perform(&app, operation, data_dir));
    let code = match result {
        Ok(()) => {
            say("ACK");
            if operation.ends_with("-then-stop") {
                stop();
            }
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("{}", failure.message);
            say(&format!("ERR {}", failure.code));
            ExitCode::from(1)
        }
    };
    // Settles what was committed.
    drop(app);
    code
}

/// Writes a line; a reader that is gone, or a fault injected here, changes nothing.
fn say(line: &str) {
    let mut out = std::io::stdout();
    let _ = out.write_all(format!("{line}\n").as_bytes());
    let _ = out.flush();
}

fn stop() {
    let own = rustix::process::getpid();
    let _ = rustix::process::kill_process(own, rustix::process::Signal::STOP);
}

async fn perform(app: &App, operation: &str, data_dir: &Path) -> Result<(), Failure> {
    match operation {
        "create" | "create-then-stop" => {
            world::create(app, "created", "new", Some(ATTEMPT)).await.map(|_| ())
        }
        "update" | "update-then-stop" => {
            world::update(app, &subject(app)?, world::SUBJECT, "new").await
        }
        "refresh" | "refresh-then-stop" => {
            refresh(app, &subject(app)?, false).await.map_err(failure)
        }
        "refresh-slowly" => refresh(app, &subject(app)?, true).await.map_err(failure),
        "race" => race(app, &subject(app)?).await,
        "delete" => {
            let request =
                DeleteArtifact { address: world::address(&subject(app)?), if_revision: None };
            let deleted = artifacts::delete(app, &Caller::Person, request).await;
            deleted.map(|_| ()).map_err(|err| Failure::from(&err))
        }
        "restore" => {
            let trash = app.ports.artifacts.trash(&world::project()).await.map_err(failure)?;
            let id = trash.first().map(|trashed| trashed.artifact_id.clone());
            let id = id.ok_or_else(|| Failure::new(ErrorCode::NotFound, "empty trash"))?;
            let restored = artifacts::restore(app, &Caller::Person, world::address(&id)).await;
            restored.map(|_| ()).map_err(|err| Failure::from(&err))
        }
        "recover" => app.ports.artifacts.recover().await.map_err(failure),
        "repair" => {
            let request =
                RepairArtifact { address: world::address(&subject(app)?), mode: RepairMode::Apply };
            let repaired = artifacts::repair(app, &Caller::Person, request).await;
            repaired.map(|_| ()).map_err(|err| Failure::from(&err))
        }
        "file-by-file" => control::file_by_file(data_dir, &subject(app)?)
            .map_err(|err| Failure::new(ErrorCode::LiveArtifactStorageFailed, err.to_string())),
        _ => Err(Failure::new(ErrorCode::BadRequest, format!("no operation `{operation}`"))),
    }
}

fn subject(app: &App) -> Result<ArtifactId, Failure> {
    world::find(app, world::SUBJECT)
        .ok_or_else(|| Failure::new(ErrorCode::LiveArtifactNotFound, "no subject"))
}

/// Updates what it reads, again and again, and says which revisions it won.
async fn race(app: &App, id: &ArtifactId) -> Result<(), Failure> {
    for _ in 0..25 {
        let detail = artifacts::get(app, &Caller::Person, world::address(id)).await;
        let detail = detail.map_err(|err| Failure::from(&err))?;
        let revision = detail.stored.revision().expect("the subject has a revision");
        let mut body = world::body(world::SUBJECT, "raced");
        body["ifRevision"] = revision.get().into();
        let request = UpdateArtifact { address: world::address(id), body };
        match artifacts::update(app, &Caller::Person, request).await {
            Ok(updated) => {
                let won = updated.detail.stored.revision().expect("a revision");
                say(&format!("WIN {won}"));
            }
            Err(err) => say(&format!("LOSE {}", Failure::from(&err).code)),
        }
    }
    Ok(())
}

/// Refreshes the way the refresh use case does: allocate, fetch, decide under the gate, commit.
async fn refresh(app: &App, id: &ArtifactId, slowly: bool) -> Result<(), StoreError> {
    let (store, project) = (&app.ports.artifacts, world::project());
    let running = store.begin_refresh(&project, id, app.ports.clock.now()).await?;
    say(&format!("ID {}", running.id));
    if slowly {
        stop();
    }
    let step = RefreshRecord::new(
        running.id.clone(),
        RecordStep::Source,
        RecordStatus::Succeeded,
        app.ports.clock.now(),
    );
    store.append_record(&project, id, step).await?;
    commit_refresh(app, id, &running.id, "new").await
}

/// Commits a refresh to a generation.
pub(crate) async fn commit_refresh(
    app: &App,
    id: &ArtifactId,
    refresh: &RefreshId,
    generation: &str,
) -> Result<(), StoreError> {
    let (store, project) = (&app.ports.artifacts, world::project());
    let gate = store.open_gate(&project, id).await?;
    let before = gate.stored().state.clone().expect("a gate has a state");
    let state = to_generation(&before, generation);
    let page = page(&state);
    let at = app.ports.clock.now();
    let record =
        RefreshRecord::new(refresh.clone(), RecordStep::Committed, RecordStatus::Succeeded, at);
    let expected = before.artifact.revision;
    let change = Change { expected, state, page, refresh: Some(record) };
    store.commit(&gate.witness(), change).await.map(|_| ())
}

fn to_generation(before: &ArtifactState, generation: &str) -> ArtifactState {
    let body = world::body(world::SUBJECT, generation);
    let mut state = before.clone();
    let data = body["input"]["document"]["dataJson"].clone();
    state.data = BoundedObject::check(data).expect("the suite's data is bounded");
    state.provenance.notes = Some(generation.to_owned());
    state.template_html = world::template(generation).into();
    state.artifact.title = format!("{} {generation}", world::SUBJECT);
    state
}

fn page(state: &ArtifactState) -> Arc<[u8]> {
    let (template, _) = Template::compile(&state.template_html).expect("the suite's template");
    let mut page = Vec::new();
    template.render(state.data.value(), &mut page).expect("the suite's page");
    page.into()
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
fn failure(err: StoreError) -> Failure {
    let code = match &err {
        StoreError::RefreshClosed { .. } => ErrorCode::RefreshAbandoned,
        StoreError::RefreshLocked { .. } => ErrorCode::RefreshLocked,
        StoreError::RevisionConflict { .. } => ErrorCode::RevisionConflict,
        StoreError::NotHealthy { .. } => ErrorCode::LiveArtifactNotHealthy,
        StoreError::Io { .. } | StoreError::Busy { .. } => ErrorCode::LiveArtifactStorageFailed,
        StoreError::ProjectNotFound { .. }
        | StoreError::NotFound { .. }
        | StoreError::NotInTrash { .. }
        | StoreError::SnapshotNotFound { .. }
        | StoreError::Exists { .. }
        | StoreError::AttemptConflict { .. }
        | StoreError::AttemptTrashed { .. }
        | StoreError::ForeignWitness => ErrorCode::Internal,
    };
    Failure::new(code, err.to_string())
}
