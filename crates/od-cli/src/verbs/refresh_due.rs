//! `od refresh --due`: what the daemon's clock does, once, for cron, timers and CI.

use std::time::Duration;

use od_app::App;
use od_app::schedule::{self, Agenda, DueRun, SlotOutcome};
use od_core::artifact::RefreshStatus;
use od_core::error::ErrorCode;
use od_core::ids::ProjectId;
use od_core::limits::REFRESH_TIMEOUT;
use od_core::schedule::Trigger;
use serde_json::{Value, json};

use crate::args::RefreshDue;
use crate::local;
use crate::output::{Answer, CommandError, Exit, Style, Text};
use crate::settings::Settings;

/// The time between two looks at refreshes that others run.
const LOOK: Duration = Duration::from_millis(250);

/// Runs every slot that is due, and says what failed or is stale.
pub(crate) async fn refresh_due(
    settings: &Settings,
    args: &RefreshDue,
) -> Result<Answer, CommandError> {
    if !args.due {
        return Err(CommandError::new(ErrorCode::BadRequest, "nothing says what to refresh")
            .suggest(
                "`od refresh --due` runs what is due; `od artifacts refresh ARTIFACT` runs one",
            )
            .ending(Exit::Usage));
    }
    let Some(app) = local::open_existing(settings)? else {
        let text = Text::new().line("Nothing is stored here, so nothing is due.");
        let answer = Answer::new(json!({ "runs": [], "stale": [] }), text);
        return Ok(if args.dry_run { answer.dry() } else { answer });
    };
    // Without --project every project: a timer has no directory.
    let project = match args.project.as_deref() {
        Some(named) => local::project(&app, settings, Some(named)).await?.map(|found| found.id),
        None => None,
    };
    let Agenda { due, .. } = look(&app, project.as_ref()).await?;
    let mut runs = Vec::new();
    let mut text = Text::new();
    for run in &due {
        let (json, line, style) = run_one(&app, run, args.dry_run).await;
        text = text.styled(style, &line);
        runs.push(json);
    }
    if due.is_empty() {
        text = text.line("Nothing is due.");
    }
    if args.wait && !args.dry_run {
        wait_for_others(&app, project.as_ref()).await?;
    }
    let after = look(&app, project.as_ref()).await?;
    local::settle(&app).await;
    for (_, artifact, freshness) in &after.stale {
        text = text.styled(Style::Warn, &format!("{artifact} is {freshness}"));
    }
    if let Some(next) = after.next {
        text = text.styled(Style::Dim, &format!("next: {next}"));
    }
    let stale: Vec<Value> = after
        .stale
        .iter()
        .map(|(project, artifact, freshness)| {
            json!({ "projectId": project, "artifactId": artifact, "freshness": freshness })
        })
        .collect();
    let failed = runs.iter().any(|run| run["status"] == "failed");
    let exit = if failed || !stale.is_empty() { Exit::Found } else { Exit::Ok };
    let json = json!({ "runs": runs, "stale": stale, "nextDue": after.next });
    let answer = Answer::new(json, text).ending(exit);
    Ok(if args.dry_run { answer.dry() } else { answer })
}

async fn look(app: &App, project: Option<&ProjectId>) -> Result<Agenda, CommandError> {
    schedule::agenda(app, project).await.map_err(local::failed)
}

async fn run_one(app: &App, due: &DueRun, dry_run: bool) -> (Value, String, Style) {
    let DueRun { project, artifact, title, run, .. } = due;
    let mut json = json!({ "projectId": project, "artifactId": artifact, "slot": run.slot,
        "missed": run.missed });
    if dry_run {
        json["status"] = json!("due");
        return (json, format!("would refresh {title} for {}", run.slot), Style::Plain);
    }
    match schedule::run_slot(app, due, Trigger::Command).await {
        SlotOutcome::Refreshed(done) => {
            json["status"] = json!("succeeded");
            json["refreshId"] = json!(done.refresh);
            json["changed"] = json!(done.changes.is_changed());
            (json, format!("refreshed {title} for {}", run.slot), Style::Good)
        }
        SlotOutcome::Elsewhere => {
            json["status"] = json!("elsewhere");
            (json, format!("{title} is refreshed by another process"), Style::Dim)
        }
        SlotOutcome::Failed(failure) | SlotOutcome::Refused(failure) => {
            let line = format!("{title} failed: {}", failure.message);
            json["status"] = json!("failed");
            json["error"] = json!({ "code": failure.code, "message": failure.message });
            (json, line, Style::Bad)
        }
    }
}

/// Waits until no refresh runs, for as long as one may take.
async fn wait_for_others(app: &App, project: Option<&ProjectId>) -> Result<(), CommandError> {
    let mut waited = Duration::ZERO;
    while waited < REFRESH_TIMEOUT.duration() {
        let lines = local::artifacts(app, project.cloned()).await?;
        if lines.iter().all(|line| line.refresh_status != RefreshStatus::Running) {
            break;
        }
        app.ports.clock.sleep(LOOK).await;
        waited += LOOK;
    }
    Ok(())
}
