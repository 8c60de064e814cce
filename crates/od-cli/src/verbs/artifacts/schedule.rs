//! `od artifacts schedule`: through the daemon if one runs, so that consoles hear of it.

use od_app::artifacts::Address;
use od_app::schedule::{self, ChangeSchedule};
use od_app::{App, Caller, Mode};
use od_core::error::{ErrorCode, Failure};
use od_core::schedule::{ScheduleRequest, ScheduleState};
use od_daemon::views;
use od_wire::refresh::ScheduleAnswer;
use serde_json::{Map, Value, json};

use super::show::find;
use crate::args::ScheduleArtifact;
use crate::local;
use crate::output::{Answer, CommandError, Style, Text};
use crate::settings::Settings;
use crate::verbs::daemon;

/// Shows the schedule of an artifact, or changes it.
pub(crate) async fn schedule(
    settings: &Settings,
    args: &ScheduleArtifact,
) -> Result<Answer, CommandError> {
    let (app, address) = find(settings, &args.artifact).await?;
    let body = body(args);
    if body.is_empty() {
        return show(settings, &app, address).await;
    }
    let body = Value::Object(body);
    let request = ScheduleRequest::parse(&body).map_err(|issues| {
        local::failed(Failure::validation(ErrorCode::LiveArtifactInvalid, &issues))
    })?;
    let dry_run = args.artifact.dry_run;
    let daemon = daemon::running(settings).await.filter(|_| !dry_run);
    let answer = if let Some(daemon) = daemon {
        let client = daemon::person_client(settings, &daemon)?;
        client.schedule(&address.artifact, &body).await?
    } else {
        let if_revision = request.if_revision;
        let request = ChangeSchedule { address, change: request.change(), if_revision };
        let mode = Mode::of_dry_run(dry_run);
        let changed = schedule::change(&app, &Caller::Person, request, mode).await;
        let now = app.ports.clock.now();
        views::scheduled(&local::console(settings), &changed.map_err(local::failed)?, now)
    };
    let mut text = text(&answer);
    let is_served = dry_run || daemon::running(settings).await.is_some();
    if !is_served && !answer.next_runs.is_empty() {
        text = text.styled(
            Style::Warn,
            "No daemon runs: start one with `od serve`, or let cron run `od refresh --due`.",
        );
    }
    let answer = Answer::of(&answer, text);
    Ok(if dry_run { answer.dry() } else { answer })
}

async fn show(settings: &Settings, app: &App, address: Address) -> Result<Answer, CommandError> {
    let stored = od_app::artifacts::get(app, &Caller::Person, address).await;
    let stored = stored.map_err(local::failed)?;
    let now = app.ports.clock.now();
    let next_runs = schedule::next_runs(&stored.summary, now);
    let changed = schedule::ChangedSchedule { stored, next_runs };
    let answer = views::scheduled(&local::console(settings), &changed, now);
    Ok(Answer::of(&answer, text(&answer)))
}

/// Returns the request of the flags, as the route takes it.
fn body(args: &ScheduleArtifact) -> Map<String, Value> {
    let mut refresh = Map::new();
    let texts = [
        ("every", &args.every),
        ("cron", &args.cron),
        ("timeZone", &args.time_zone),
        ("maxAge", &args.max_age),
        ("missed", &args.missed),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            refresh.insert(name.to_owned(), json!(text));
        }
    }
    if args.on_change {
        refresh.insert("onChange".to_owned(), json!(true));
    }
    let mut body = Map::new();
    if !refresh.is_empty() {
        body.insert("refresh".to_owned(), Value::Object(refresh));
    }
    if let Some(on) = args.on {
        body.insert("on".to_owned(), json!(on));
    }
    body
}

fn text(answer: &ScheduleAnswer) -> Text {
    let line = &answer.artifact;
    let title = (Style::Bold, line.summary.heading.title.as_str());
    let Some(schedule) = &line.summary.schedule else {
        return Text::new()
            .pieces(&[title, (Style::Plain, ": no schedule")])
            .line(&format!("  `od artifacts schedule {} --every 1h` sets one", line.summary.id));
    };
    let (style, state) = match schedule.state {
        ScheduleState::Active => (Style::Good, "on"),
        ScheduleState::Proposed => (Style::Warn, "proposed, not switched on"),
        ScheduleState::Off => (Style::Dim, "off"),
        ScheduleState::Changed => (Style::Warn, "changed since it was switched on; not running"),
        ScheduleState::Elsewhere => (Style::Warn, "switched on elsewhere, not here"),
        ScheduleState::Blocked => (Style::Bad, "on, but the artifact may not be refreshed"),
    };
    let says = format!(": {} (", schedule.refresh);
    let mut text =
        Text::new().pieces(&[title, (Style::Plain, &says), (style, state), (Style::Plain, ")")]);
    if schedule.runs.failures > 0 {
        let failed = format!("  {} failures in a row; it waits longer", schedule.runs.failures);
        text = text.styled(Style::Bad, &failed);
    }
    for run in &answer.next_runs {
        text = text.line(&format!("  {run}"));
    }
    match schedule.state {
        ScheduleState::Proposed
        | ScheduleState::Changed
        | ScheduleState::Elsewhere
        | ScheduleState::Off => {
            text.line(&format!("  `od artifacts schedule {} --on` switches it on", line.summary.id))
        }
        ScheduleState::Active | ScheduleState::Blocked => text,
    }
}
