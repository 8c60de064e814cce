//! `od artifacts refresh`, `rollback`, `restore`: through the daemon if one runs, so that consoles
//! hear of it. What is only tried needs no console, and is tried here.

use od_app::artifacts::{Address, DeleteArtifact, RollBack, RollBackTo};
use od_app::refresh::run::{Cause, RunRefresh};
use od_app::{Caller, Mode};
use od_core::error::ErrorCode;
use od_core::ids::{ArtifactId, Revision};
use od_daemon::views;
use od_wire::artifact::{ArtifactAnswer, DeletedAnswer, RefreshedAnswer, RolledBackAnswer};
use serde_json::json;

use super::show::find;
use crate::args::{ArtifactArgs, RollBackArtifact};
use crate::local;
use crate::output::{Answer, CommandError, Sink, Style, Text, with_progress};
use crate::settings::Settings;
use crate::verbs::daemon;

/// Runs an artifact's source again.
pub(crate) async fn refresh(
    settings: &Settings,
    args: &ArtifactArgs,
    sink: Sink,
) -> Result<Answer, CommandError> {
    let (app, Address { project, artifact }) = find(settings, args).await?;
    let project = project.ok_or_else(|| {
        CommandError::new(ErrorCode::LiveArtifactNotFound, format!("no artifact `{artifact}`"))
            .suggest("`od artifacts list` shows them all")
    })?;
    let what = format!("refreshing {}", args.artifact);
    let daemon = daemon::running(settings).await.filter(|_| !args.dry_run);
    let answer: RefreshedAnswer = if let Some(daemon) = daemon {
        let client = daemon::person_client(settings, &daemon)?;
        with_progress(sink, &what, client.refresh(&artifact)).await?
    } else {
        let (caller, cause) = (Caller::Person, Cause::Asked);
        let request = RunRefresh { caller, project, artifact, accept_drift: false, cause };
        let work = od_app::refresh::run(&app, request, Mode::of_dry_run(args.dry_run));
        let done = with_progress(sink, &what, work).await.map_err(local::failed)?;
        local::settle(&app).await;
        views::refreshed(&local::console(settings), &done)?
    };
    let text = refreshed(&answer, if args.dry_run { "would refresh " } else { "refreshed " });
    let answer = Answer::of(&answer, text);
    Ok(if args.dry_run { answer.dry() } else { answer })
}

fn refreshed(answer: &RefreshedAnswer, verb: &str) -> Text {
    let RefreshedAnswer { artifact, refresh, .. } = answer;
    let title = (Style::Bold, artifact.artifact.heading.title.as_str());
    let id = &refresh.id;
    if refresh.changed {
        let count = refresh.changes.count;
        Text::new()
            .pieces(&[
                (Style::Good, verb),
                title,
                (Style::Plain, &format!(": {count} changed ({id})")),
            ])
            .line(&format!("  {}", refresh.changes.paths.join(" ")))
    } else {
        let nothing = format!(": nothing changed at the source ({id})");
        Text::new().pieces(&[(Style::Good, verb), title, (Style::Plain, &nothing)])
    }
}

/// Makes an earlier state the current one again.
pub(crate) async fn roll_back(
    settings: &Settings,
    args: &RollBackArtifact,
) -> Result<Answer, CommandError> {
    let dry_run = args.artifact.dry_run;
    let (app, address) = find(settings, &args.artifact).await?;
    let to = parse_state(args)?;
    let if_revision = args.if_revision.map(Revision::try_from).transpose().map_err(|error| {
        CommandError::new(ErrorCode::BadRequest, error.to_string())
            .suggest(format!("`od artifacts show {}` says it", args.artifact.artifact))
    })?;
    let daemon = daemon::running(settings).await.filter(|_| !dry_run);
    let answer: RolledBackAnswer = if let Some(daemon) = daemon {
        let client = daemon::person_client(settings, &daemon)?;
        match &to {
            RollBackTo::Refresh(refresh) => {
                client.roll_back(&address.artifact, refresh, if_revision).await?
            }
            RollBackTo::Revision(revision) => {
                client.restore_revision(&address.artifact, *revision, if_revision).await?
            }
        }
    } else {
        let request = RollBack { address, to, if_revision };
        let mode = Mode::of_dry_run(dry_run);
        let done = od_app::artifacts::roll_back(&app, &Caller::Person, request, mode).await;
        let done = done.map_err(local::failed)?;
        local::settle(&app).await;
        views::rolled_back(&local::console(settings), done)?
    };
    let text = rolled_back(&answer, dry_run);
    let answer = Answer::of(&answer, text);
    Ok(if dry_run { answer.dry() } else { answer })
}

/// Reads the state that is wanted: a revision's number, or the id of a refresh.
fn parse_state(args: &RollBackArtifact) -> Result<RollBackTo, CommandError> {
    let revision = args.to.parse().map(RollBackTo::Revision);
    revision.or_else(|_| args.to.parse().map(RollBackTo::Refresh)).map_err(|_| {
        let message = format!("`{}` is neither a revision nor the id of a refresh", args.to);
        CommandError::new(ErrorCode::NotFound, message)
            .suggest(format!("`od artifacts revisions {}` shows them", args.artifact.artifact))
    })
}

fn rolled_back(answer: &RolledBackAnswer, dry_run: bool) -> Text {
    let RolledBackAnswer { artifact, rollback, warnings, .. } = answer;
    let title = (Style::Bold, artifact.artifact.heading.title.as_str());
    let id = match (&rollback.refresh_id, rollback.revision) {
        (Some(refresh), _) => refresh.to_string(),
        (None, Some(revision)) => format!("revision {revision}"),
        (None, None) => "an earlier state".to_owned(),
    };
    if !rollback.changed {
        return Text::new()
            .pieces(&[title, (Style::Plain, &format!(" is in the state of {id} already."))]);
    }
    let verb = if dry_run { "would roll back " } else { "rolled back " };
    let revision = artifact.artifact.revision;
    let done = format!(" to {id}: {} changed (revision {revision})", rollback.changes.count);
    let mut text = Text::new()
        .pieces(&[(Style::Good, verb), title, (Style::Plain, &done)])
        .line(&format!("  {}", rollback.changes.paths.join(" ")));
    for warning in warnings {
        text = text.styled(Style::Warn, &format!("  {}: {}", warning.path, warning.message));
    }
    text
}

/// Moves an artifact to the trash.
pub(crate) async fn delete(
    settings: &Settings,
    args: &ArtifactArgs,
) -> Result<Answer, CommandError> {
    let (app, address) = find(settings, args).await?;
    let artifact = address.artifact.clone();
    if args.dry_run {
        let text = Text::new().line(&format!("Would move {artifact} to the trash."));
        return Ok(Answer::new(json!({ "artifactId": artifact }), text).dry());
    }
    let answer: DeletedAnswer = match daemon::running(settings).await {
        Some(daemon) => {
            daemon::person_client(settings, &daemon)?
                .delete(&artifact, address.project.as_ref())
                .await?
        }
        None => {
            let request = DeleteArtifact { address, if_revision: None };
            let trashed = od_app::artifacts::delete(&app, &Caller::Person, request, Mode::Commit)
                .await
                .map_err(local::failed)?;
            DeletedAnswer {
                deleted: true,
                artifact_id: trashed.artifact_id,
                restorable_until: trashed.expires_at,
            }
        }
    };
    let text = Text::new().line(&format!("Moved {artifact} to the trash.")).styled(
        Style::Dim,
        &format!(
            "`od artifacts restore {artifact}` brings it back until {}.",
            answer.restorable_until
        ),
    );
    Ok(Answer::of(&answer, text))
}

/// Brings an artifact back from the trash.
pub(crate) async fn restore(
    settings: &Settings,
    args: &ArtifactArgs,
) -> Result<Answer, CommandError> {
    let Some(app) = local::open_existing(settings)? else {
        return Err(local::nothing_stored(&settings.data_dir));
    };
    let artifact: ArtifactId = args.artifact.parse().map_err(|_| {
        CommandError::new(
            ErrorCode::LiveArtifactNotFound,
            format!("`{}` is not an id", args.artifact),
        )
        .suggest("name it by its id, as `od artifacts list --trash` shows it")
    })?;
    let project = local::project(&app, settings, args.project.as_deref()).await?;
    let project = if args.project.is_some() { project.map(|project| project.id) } else { None };
    let address = Address { project: project.clone(), artifact: artifact.clone() };
    if args.dry_run {
        let found = od_app::artifacts::find_restorable(&app, &Caller::Person, &address).await;
        let line = views::in_trash(found.map_err(local::failed)?);
        let text = Text::new().line(&format!(
            "Would bring {artifact} back into {}; it was deleted at {}.",
            line.project_id, line.deleted_at
        ));
        return Ok(Answer::of(&line, text).dry());
    }
    let answer: ArtifactAnswer = match daemon::running(settings).await {
        Some(daemon) => {
            let client = daemon::person_client(settings, &daemon)?;
            client.restore(&artifact, project.as_ref()).await?
        }
        None => {
            let detail = od_app::artifacts::restore(&app, &Caller::Person, address)
                .await
                .map_err(local::failed)?;
            let now = app.ports.clock.now();
            views::detail(&local::console(settings), &detail, Vec::new(), now)?
        }
    };
    Ok(Answer::of(&answer, Text::new().line(&format!("{artifact} is back."))))
}
