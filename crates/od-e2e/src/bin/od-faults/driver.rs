//! The process that gets killed: one operation through the use cases, then a clean end.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use od_app::artifacts::{self, DeleteArtifact, Reading, RepairArtifact, UpdateArtifact};
use od_app::refresh::run::{Cause, RunRefresh};
use od_app::{App, Caller, Mode, refresh};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, RefreshId};
use od_ports::fakes::Act;
use od_ports::store::{RepairMode, StoreError};

use crate::{control, world};

/// The attempt of the create that gets interrupted.
pub(crate) const ATTEMPT: &str = "attempt-1";

/// The suffix of an operation that is followed by a stop of the process.
pub(crate) const THEN_STOP: &str = "-then-stop";
/// An update of a subject whose last writer was killed after its commit: it finishes that first.
pub(crate) const UPDATE_AFTER_CRASH: &str = "update-after-crash";

/// Carries out one operation and says `ACK` or `ERR <code>`.
pub(crate) fn drive(operation: &str, data_dir: &Path) -> ExitCode {
    let app = match world::open_with(data_dir, source(operation)) {
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
            if operation.ends_with(THEN_STOP) {
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
    // Dropping the store writes the visible copies of what was committed.
    drop(app);
    code
}

/// Returns what the subject's source does: it brings generation `new`, and may stop before it does.
fn source(operation: &str) -> Act {
    let is_slow = operation == "refresh-slowly";
    Act::work(move || async move {
        if is_slow {
            stop();
        }
        world::data("new")
    })
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
    match operation.strip_suffix(THEN_STOP).unwrap_or(operation) {
        "create" => world::create(app, "created", "new", Some(ATTEMPT)).await.map(|_| ()),
        "update" | UPDATE_AFTER_CRASH => {
            world::update(app, &subject(app)?, world::SUBJECT, "new").await
        }
        "refresh" | "refresh-slowly" => refresh(app, &subject(app)?).await.map(|_| ()),
        // The second one changes nothing: the log goes on behind the commit of the first.
        "refresh-twice" => {
            refresh(app, &subject(app)?).await?;
            refresh(app, &subject(app)?).await.map(|_| ())
        }
        "look" => look(app),
        "race" => race(app, &subject(app)?).await,
        "delete" => {
            let request =
                DeleteArtifact { address: world::address(&subject(app)?), if_revision: None };
            let deleted = artifacts::delete(app, &Caller::Person, request, Mode::Commit).await;
            deleted.map(|_| ()).map_err(Failure::from)
        }
        "restore" => {
            let trash = app.ports.trash.list(&world::project()).await;
            let trash = trash.map_err(|err| store_failure(&err))?;
            let id = trash.first().map(|trashed| trashed.artifact_id.clone());
            let id = id.ok_or_else(|| Failure::new(ErrorCode::NotFound, "empty trash"))?;
            let restored = artifacts::restore(app, &Caller::Person, world::address(&id)).await;
            restored.map(|_| ()).map_err(Failure::from)
        }
        "recover" => {
            let recovered = refresh::recover(app).await.map_err(Failure::from)?;
            if let Some(unrecovered) = recovered.unrecovered.first() {
                return Err(store_failure(&unrecovered.error));
            }
            say(&format!("CLOSED {}", recovered.closed.len()));
            match recovered.left.into_iter().next() {
                Some((_, err)) => Err(Failure::from(err)),
                None => Ok(()),
            }
        }
        "repair" => {
            let request =
                RepairArtifact { address: world::address(&subject(app)?), mode: RepairMode::Apply };
            let repaired = artifacts::repair(app, &Caller::Person, request).await;
            repaired.map(|_| ()).map_err(Failure::from)
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

/// Looks at a project one of whose artifacts the disk does not give: it is listed as damaged with its
/// last good state, and the other one is as always.
fn look(app: &App) -> Result<(), Failure> {
    let wrong = |what: &str| Failure::new(ErrorCode::Internal, what);
    let list = world::wait(app.ports.artifacts.list(&world::project()));
    let list = list.map_err(|err| store_failure(&err))?;
    let health = |name: &str| {
        let id = world::find(app, name)?;
        list.iter().find(|line| line.id == id).map(|line| line.health.is_healthy())
    };
    if health(world::BYSTANDER) != Some(true) || health(world::SUBJECT) != Some(false) {
        return Err(wrong("the list hides the damage, or spreads it"));
    }
    let stored = world::wait(app.ports.artifacts.load(&world::project(), &subject(app)?));
    let stored = stored.map_err(|err| store_failure(&err))?;
    if stored.state.is_none() || stored.health.is_healthy() {
        return Err(wrong("the last good state is not served"));
    }
    Ok(())
}

/// Updates what it reads, again and again, and says which revisions it won.
async fn race(app: &App, id: &ArtifactId) -> Result<(), Failure> {
    for _ in 0..25 {
        let detail = artifacts::get(app, &Caller::Person, world::address(id)).await;
        let detail = detail.map_err(Failure::from)?;
        let revision = detail.revision().expect("the subject has a revision");
        let mut body = world::body(world::SUBJECT, "raced");
        body["ifRevision"] = revision.get().into();
        let request = UpdateArtifact {
            target: world::address(id).into(),
            body: body.into(),
            reading: Reading::Now,
        };
        match artifacts::update(app, &Caller::Person, request, Mode::Commit).await {
            Ok(updated) => {
                let won = updated.stored.revision().expect("a revision");
                say(&format!("WIN {won}"));
            }
            Err(err) => say(&format!("LOSE {}", Failure::from(err).code)),
        }
    }
    Ok(())
}

/// Refreshes an artifact, as a person does.
pub(crate) async fn refresh(app: &App, id: &ArtifactId) -> Result<RefreshId, Failure> {
    let request = RunRefresh {
        caller: Caller::Person,
        project: world::project(),
        artifact: id.clone(),
        accept_drift: false,
        cause: Cause::Asked,
    };
    let refreshed = refresh::run(app, request, Mode::Commit).await.map_err(Failure::from)?;
    Ok(refreshed.refresh)
}

fn store_failure(err: &StoreError) -> Failure {
    Failure::new(ErrorCode::LiveArtifactStorageFailed, err.to_string())
}
