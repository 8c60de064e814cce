//! `od artifacts refresh`, `rollback`, `restore`: through the daemon if one runs, so that consoles
//! hear of it. What is only tried needs no console, and is tried here.

use od_app::Caller;
use od_app::artifacts::{Address, RollBack};
use od_app::refresh::run::RunRefresh;
use od_core::error::ErrorCode;
use od_core::ids::{ArtifactId, RefreshId, Revision};
use od_daemon::views;
use od_wire::artifact::{ArtifactAnswer, RefreshedAnswer, RolledBackAnswer};

use super::artifacts_show::find;
use crate::args::{OneArtifact, Rollback};
use crate::daemon_process;
use crate::local;
use crate::output::{Answer, Refusal, Sink, Style, Text, with_progress};
use crate::settings::Settings;

/// Runs an artifact's source again.
pub(crate) async fn refresh(
    settings: &Settings,
    asked: &OneArtifact,
    sink: Sink,
) -> Result<Answer, Refusal> {
    let (app, Address { project, artifact }) = find(settings, asked).await?;
    let project = project.ok_or_else(|| no_project(&artifact))?;
    let what = format!("refreshing {}", asked.artifact);
    let daemon = daemon_process::running(settings).await.filter(|_| !asked.dry_run);
    let answer: RefreshedAnswer = if let Some(daemon) = daemon {
        let client = daemon_process::person(settings, &daemon)?;
        with_progress(sink, &what, client.refresh(&artifact)).await?
    } else {
        let request = RunRefresh { caller: Caller::Person, project, artifact, accept_drift: false };
        let work = async {
            if asked.dry_run {
                od_app::refresh::plan(&app, request).await
            } else {
                od_app::refresh::run(&app, request).await
            }
        };
        let done = with_progress(sink, &what, work).await.map_err(local::failed)?;
        views::refreshed(&local::console(settings), &done)?
    };
    let text = refreshed(&answer, if asked.dry_run { "would refresh " } else { "refreshed " });
    let answer = Answer::of(&answer, text);
    Ok(if asked.dry_run { answer.dry() } else { answer })
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

/// Makes the state that a refresh left the current one again.
pub(crate) async fn rollback(settings: &Settings, asked: &Rollback) -> Result<Answer, Refusal> {
    let dry_run = asked.artifact.dry_run;
    let (app, address) = find(settings, &asked.artifact).await?;
    let refresh: RefreshId = asked.to.parse().map_err(|_| {
        Refusal::new(ErrorCode::NotFound, format!("`{}` is not the id of a refresh", asked.to))
            .suggesting(format!("`od artifacts history {}` shows them", asked.artifact.artifact))
    })?;
    let if_revision = asked.if_revision.map(Revision::try_from).transpose().map_err(|error| {
        Refusal::new(ErrorCode::BadRequest, error.to_string())
            .suggesting(format!("`od artifacts show {}` says it", asked.artifact.artifact))
    })?;
    let daemon = daemon_process::running(settings).await.filter(|_| !dry_run);
    let answer: RolledBackAnswer = if let Some(daemon) = daemon {
        let client = daemon_process::person(settings, &daemon)?;
        client.roll_back(&address.artifact, &refresh, if_revision).await?
    } else {
        let request = RollBack { address, refresh, if_revision };
        let done = if dry_run {
            od_app::artifacts::plan_roll_back(&app, &Caller::Person, request).await
        } else {
            od_app::artifacts::roll_back(&app, &Caller::Person, request).await
        };
        let done = done.map_err(local::failed)?;
        views::rolled_back(&local::console(settings), done)?
    };
    let text = rolled_back(&answer, dry_run);
    let answer = Answer::of(&answer, text);
    Ok(if dry_run { answer.dry() } else { answer })
}

fn rolled_back(answer: &RolledBackAnswer, dry_run: bool) -> Text {
    let RolledBackAnswer { artifact, rollback, warnings, .. } = answer;
    let title = (Style::Bold, artifact.artifact.heading.title.as_str());
    let id = &rollback.refresh_id;
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

/// Brings an artifact back from the trash.
pub(crate) async fn restore(settings: &Settings, asked: &OneArtifact) -> Result<Answer, Refusal> {
    let Some(app) = local::open_existing(settings)? else {
        return Err(local::nothing_stored(&settings.data_dir));
    };
    let artifact: ArtifactId = asked.artifact.parse().map_err(|_| {
        Refusal::new(ErrorCode::LiveArtifactNotFound, format!("`{}` is not an id", asked.artifact))
            .suggesting("name it by its id, as `od artifacts list --trash` shows it")
    })?;
    let project = local::project(&app, settings, asked.project.as_deref()).await?;
    let project = if asked.project.is_some() { project.map(|project| project.id) } else { None };
    let address = Address { project: project.clone(), artifact: artifact.clone() };
    if asked.dry_run {
        let found = od_app::artifacts::plan_restore(&app, &Caller::Person, address).await;
        let line = views::in_trash(found.map_err(local::failed)?);
        let text = Text::new().line(&format!(
            "Would bring {artifact} back into {}; it was deleted at {}.",
            line.project_id, line.deleted_at
        ));
        return Ok(Answer::of(&line, text).dry());
    }
    let answer: ArtifactAnswer = match daemon_process::running(settings).await {
        Some(daemon) => {
            let client = daemon_process::person(settings, &daemon)?;
            client.restore(&artifact, project.as_ref()).await?
        }
        None => {
            let detail = od_app::artifacts::restore(&app, &Caller::Person, address)
                .await
                .map_err(local::failed)?;
            views::detail(&local::console(settings), &detail, Vec::new())?
        }
    };
    Ok(Answer::of(&answer, Text::new().line(&format!("{artifact} is back."))))
}

fn no_project(artifact: &ArtifactId) -> Refusal {
    Refusal::new(ErrorCode::LiveArtifactNotFound, format!("no artifact `{artifact}`"))
        .suggesting("`od artifacts list` shows them all")
}
