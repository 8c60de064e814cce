//! `od trust`: allow here what artifacts were allowed in a copy or on another machine.

use std::sync::Arc;

use od_app::artifacts::Address;
use od_app::{Caller, Mode};
use od_core::artifact::ArtifactSummary;
use od_core::error::ErrorCode;
use od_core::schedule::ScheduleState;
use serde_json::{Value, json};

use crate::args::Trust;
use crate::local;
use crate::output::{Answer, CommandError, Exit, Style, Text, ask};
use crate::settings::Settings;

/// Shows what came with a copy, and allows it here once a person agreed.
pub(crate) async fn trust(settings: &Settings, args: &Trust) -> Result<Answer, CommandError> {
    let Some(app) = local::open_existing(settings)? else {
        return Err(local::nothing_stored(&settings.data_dir));
    };
    // Without --project every project of the data directory: a copy brings all of them.
    let project = match args.project.as_deref() {
        Some(named) => local::project(&app, settings, Some(named)).await?.map(|found| found.id),
        None => None,
    };
    let lines = local::artifacts(&app, project).await?;
    let waiting: Vec<&Arc<ArtifactSummary>> =
        lines.iter().filter(|line| line.granted_elsewhere).collect();
    if waiting.is_empty() {
        return Ok(nothing(args.dry_run));
    }
    let mut plan =
        Text::new().line("Allowed in a copy of this directory or on another machine, not here:");
    for line in &waiting {
        plan = plan.pieces(&[
            (Style::Bold, &format!("  {}", line.heading.title)),
            (Style::Plain, &format!(" ({}): {}", line.id, wants(line))),
        ]);
    }
    let json = |trusted: bool| {
        let lines: Vec<Value> = waiting.iter().map(|line| told(line, trusted)).collect();
        json!({ "artifacts": lines })
    };
    if args.dry_run {
        return Ok(Answer::new(json(false), plan).dry());
    }
    if !args.yes && ask(&plan, "Allow all of it here?") != Some(true) {
        let refusal = CommandError::new(ErrorCode::BadRequest, "this needs a person's word");
        return Err(refusal
            .suggest("look with `od trust --dry-run`, then `od trust --yes`")
            .ending(Exit::Confirm));
    }
    for line in &waiting {
        let address = Address { project: Some(line.project_id.clone()), artifact: line.id.clone() };
        let done = od_app::artifacts::trust(&app, &Caller::Person, &address, Mode::Commit).await;
        done.map_err(local::failed)?;
    }
    Ok(Answer::new(json(true), plan.styled(Style::Good, "Allowed here from now on.")))
}

/// Says what an artifact would do once it is allowed.
fn wants(line: &ArtifactSummary) -> String {
    let source = line.source_label.as_deref().unwrap_or("its source");
    match &line.schedule {
        Some(schedule) if schedule.state == ScheduleState::Elsewhere => {
            format!("reads {source}, {}", schedule.refresh)
        }
        Some(_) | None => format!("reads {source} when asked to refresh"),
    }
}

fn told(line: &ArtifactSummary, trusted: bool) -> Value {
    let schedule = line.schedule.as_ref();
    let schedule = schedule.filter(|schedule| schedule.state == ScheduleState::Elsewhere);
    json!({ "projectId": line.project_id, "artifactId": line.id, "title": line.heading.title,
        "source": line.source_label, "schedule": schedule.map(|schedule| &schedule.refresh),
        "trusted": trusted })
}

fn nothing(dry_run: bool) -> Answer {
    let text = Text::new().line("Everything that may run here was allowed here.");
    let answer = Answer::new(json!({ "artifacts": [] }), text);
    if dry_run { answer.dry() } else { answer }
}
