//! `od artifacts schedule`: through the daemon if one runs, so that consoles hear of it.

use std::sync::Arc;

use od_app::schedule::{self, ChangeSchedule};
use od_app::{App, Caller, Mode};
use od_core::artifact::{Artifact, RefreshPermission};
use od_core::error::{ErrorCode, Failure};
use od_core::schedule::{ScheduleRequest, ScheduleState};
use od_daemon::views;
use od_ports::store::Stored;
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
    let stored = od_app::artifacts::get(&app, &Caller::Person, address.clone()).await;
    let before = stored.map_err(local::failed)?;
    let body = body(args, before.artifact());
    if body.is_empty() {
        return Ok(show(settings, &app, before));
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
    let was_permitted = before
        .artifact()
        .is_some_and(|artifact| artifact.refresh_permission() == RefreshPermission::Manual);
    let is_on = answer.artifact.summary.schedule.as_ref();
    let is_on = is_on.is_some_and(|schedule| schedule.state == ScheduleState::Active);
    if is_on && !was_permitted {
        let source = before.summary.source_label.as_deref().unwrap_or("its source");
        let also = format!("  this also allows refreshing from {source}");
        text = text.styled(Style::Warn, &also);
    }
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

fn show(settings: &Settings, app: &App, stored: Arc<Stored>) -> Answer {
    let now = app.ports.clock.now();
    let next_runs = schedule::next_runs(&stored.summary, now);
    let changed = schedule::ChangedSchedule { stored, next_runs };
    let answer = views::scheduled(&local::console(settings), &changed, now);
    Answer::of(&answer, text(&answer))
}

/// Returns the request of the flags, as the route takes it: what they say replaces those fields of the
/// schedule that is there, and `--every` and `--cron` switch it on.
fn body(args: &ScheduleArtifact, before: Option<&Artifact>) -> Map<String, Value> {
    let mut given = Map::new();
    let texts = [
        ("every", &args.every),
        ("cron", &args.cron),
        ("timeZone", &args.time_zone),
        ("maxAge", &args.max_age),
        ("missed", &args.missed),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            given.insert(name.to_owned(), json!(text));
        }
    }
    if args.on_change {
        given.insert("onChange".to_owned(), json!(true));
    }
    let mut body = Map::new();
    if let Some(on) = args.on {
        body.insert("on".to_owned(), json!(on));
    }
    if given.is_empty() {
        return body;
    }
    let schedule = before.and_then(|artifact| artifact.document.as_ref()?.refresh.as_ref());
    let sets_times = args.every.is_some() || args.cron.is_some();
    if schedule.is_some() && args.on.is_none() && !sets_times {
        body.insert("keep".to_owned(), json!(true));
    }
    // Strings and flags only: writing them cannot fail.
    let schedule = schedule.map(|schedule| serde_json::to_value(schedule).unwrap_or_default());
    let mut refresh = match schedule {
        Some(Value::Object(fields)) => fields,
        Some(_) | None => Map::new(),
    };
    if args.every.is_some() {
        // The one takes the place of the other; a zone is of `cron` only.
        refresh.remove("cron");
        refresh.remove("timeZone");
    }
    if args.cron.is_some() {
        refresh.remove("every");
    }
    refresh.extend(given);
    body.insert("refresh".to_owned(), Value::Object(refresh));
    if let Some(artifact) = before {
        // It was merged into this revision's.
        body.insert("ifRevision".to_owned(), json!(artifact.revision));
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
