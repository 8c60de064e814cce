//! `od artifacts show`, `history`: one artifact, with or without a daemon.

use od_app::{App, Caller};
use od_core::artifact::ArtifactSummary;
use od_core::ids::Timestamp;
use od_core::ownership::PathOrigin;
use od_core::refresh::{RecordStatus, RefreshRecord};
use od_daemon::views;
use od_wire::artifact::{ArtifactAnswer, ArtifactView};
use od_wire::refresh::RefreshesAnswer;

use super::list::state;
use crate::args::ArtifactArgs;
use crate::local;
use crate::output::{Answer, CommandError, Style, Table, Text};
use crate::settings::Settings;

/// Opens the store and finds the artifact that was named.
pub(crate) async fn find(
    settings: &Settings,
    args: &ArtifactArgs,
) -> Result<(App, od_app::artifacts::Address), CommandError> {
    let Some(app) = local::open_existing(settings)? else {
        return Err(local::nothing_stored(&settings.data_dir));
    };
    let named = args.project.as_deref();
    let (project, artifact) = local::artifact(&app, settings, named, &args.artifact).await?;
    Ok((app, od_app::artifacts::Address { project: Some(project), artifact }))
}

/// Shows one artifact.
pub(crate) async fn show(settings: &Settings, args: &ArtifactArgs) -> Result<Answer, CommandError> {
    let (app, address) = find(settings, args).await?;
    let detail =
        od_app::artifacts::get(&app, &Caller::Person, address).await.map_err(local::failed)?;
    let now = app.ports.clock.now();
    let shown = views::detail(&local::console(settings), &detail, Vec::new(), now)?;
    Ok(Answer::of(&shown, text(&shown, args, now)))
}

fn text(shown: &ArtifactAnswer, args: &ArtifactArgs, now: Timestamp) -> Text {
    let ArtifactView { artifact, data } = &shown.artifact;
    let mut text = heading(&artifact.summary(shown.health), now);
    if let Some(restored) = &artifact.restored {
        let revision = restored.revision.map_or_else(String::new, |n| format!(" (revision {n})"));
        let label = format!("state of {}{revision}, restored {}", restored.state_of, restored.at);
        text = text.styled(Style::Warn, &format!("  {label}"));
    }
    if !shown.health.is_healthy() {
        let fix =
            format!("damaged and read-only; `od artifacts verify {}` says how", args.artifact);
        text = text.styled(Style::Bad, &format!("  {fix}"));
    }
    if let Some(schedule) = &shown.schedule {
        let due = shown.outlook.next_due.map_or_else(String::new, |at| format!(", next due {at}"));
        text = text.line(&format!("  schedule   {} ({}){due}", schedule.refresh, schedule.state));
    }
    if let (Some(since), Some(reason)) = (shown.outlook.stale_since, shown.outlook.stale_reason) {
        text = text.styled(Style::Warn, &format!("  stale      since {since}: {reason}"));
    }
    text = text.then(sources_text(artifact));
    text = text.gap().styled(Style::Bold, "provenance");
    for source in &shown.provenance.sources {
        let account = source.account_label.as_deref().unwrap_or_default();
        text = text.line(&format!("  {} ({}) {account}", source.label, source.kind));
    }
    if let Some(notes) = &shown.provenance.notes {
        text = text.line(&format!("  {notes}"));
    }
    text = text.then(origins_text(&shown.origins));
    let data = serde_json::to_string_pretty(data.value()).unwrap_or_default();
    text = text.gap().styled(Style::Bold, "data").block(&data);
    for drift in &shown.drift {
        text = text.styled(Style::Warn, &format!("{} was edited by hand", drift.file));
    }
    text
}

/// The places that are listed; an artifact of many sources has hundreds.
const ORIGINS_SHOWN: usize = 40;

fn origins_text(origins: &[PathOrigin]) -> Text {
    let mut text = Text::new().gap().styled(Style::Bold, "where the values come from");
    // What is left over comes after what has a name.
    let (rest, named): (Vec<_>, Vec<_>) =
        origins.iter().partition(|origin| origin.path.depth() == 0);
    for origin in named.into_iter().take(ORIGINS_SHOWN).chain(rest) {
        let path = match origin.path.depth() {
            0 if origins.len() > 1 => "everything else".to_owned(),
            0 => "everything".to_owned(),
            _ => origin.path.dotted(),
        };
        text = text.line(&format!("  {path}: {}", origin.says));
    }
    match origins.len().checked_sub(ORIGINS_SHOWN + 1) {
        None | Some(0) => text,
        Some(more) => text.line(&format!("  and {more} more places; --json shows all")),
    }
}

fn heading(line: &ArtifactSummary, now: Timestamp) -> Text {
    let (style, state) = state(line, now);
    let refreshed = line.last_refreshed_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
    let mut text = Text::new().pieces(&[
        (Style::Bold, &line.heading.title),
        (Style::Plain, "  "),
        (style, &state),
    ]);
    if let Some(description) = &line.heading.description {
        text = text.line(&format!("  {description}"));
    }
    text.line(&format!("  id         {}", line.id))
        .line(&format!("  project    {}", line.project_id))
        .line(&format!("  revision   {}", line.revision))
        .line(&format!("  updated    {}", line.updated_at))
        .line(&format!("  refreshed  {refreshed}"))
}

fn sources_text(artifact: &od_core::artifact::Artifact) -> Text {
    let sources = artifact.sources();
    let title = if sources.len() > 1 { "sources" } else { "source" };
    let mut text = Text::new().gap().styled(Style::Bold, title);
    if sources.is_empty() {
        return text.line("  none: this page does not refresh");
    }
    for source in &sources {
        let tool = source.source.tool_name.as_ref().map(ToString::to_string).unwrap_or_default();
        let name = source.index.map(|_| format!("{}: ", source.id)).unwrap_or_default();
        text = text
            .line(&format!("  {name}{} {tool}", source.source.kind))
            .line(&format!("  input {}", source.source.input.value()));
        if let Some(stale) = artifact.stale.iter().find(|stale| stale.source == source.id) {
            text = text.styled(
                Style::Warn,
                &format!("  stale since {}: {}", stale.since, stale.code.as_str()),
            );
        }
    }
    text = text.line(&format!("  refresh permission: {}", artifact.refresh_permission()));
    if artifact.queries().is_empty() {
        return text;
    }
    text = text.gap().styled(Style::Bold, "queries");
    for query in artifact.queries() {
        let sql: Vec<&str> = query.sql.as_str().split_whitespace().collect();
        text = text.line(&format!("  {} ({}): {}", query.to, query.shape, sql.join(" ")));
    }
    text
}

/// Shows the refreshes of one artifact, newest first.
pub(crate) async fn history(
    settings: &Settings,
    args: &ArtifactArgs,
) -> Result<Answer, CommandError> {
    let (app, address) = find(settings, args).await?;
    let history =
        od_app::artifacts::history(&app, &Caller::Person, address).await.map_err(local::failed)?;
    let ended: Vec<&RefreshRecord> =
        history.records.iter().filter(|record| record.step.is_last()).collect();
    let mut text = Text::new();
    if ended.is_empty() {
        text = text.line("Never refreshed.");
    } else {
        let mut table = Table::new(&["REFRESH", "WHEN", "HOW", "TOOK", "WHAT"]);
        for record in ended {
            let style = match record.status {
                RecordStatus::Succeeded => Style::Good,
                RecordStatus::Running | RecordStatus::SucceededPartially => Style::Warn,
                RecordStatus::Failed
                | RecordStatus::Cancelled
                | RecordStatus::TimedOut
                | RecordStatus::Abandoned => Style::Bad,
            };
            let how = record.status.as_str();
            let took = record.duration_ms.map_or_else(String::new, |ms| format!("{ms} ms"));
            table.row(&[
                (Style::Bold, record.refresh_id.as_ref()),
                (Style::Plain, &record.at.to_string()),
                (style, how),
                (Style::Dim, &took),
                (Style::Plain, &what(record)),
            ]);
        }
        text = text.then(table.shrinking(&[4]).lay_out());
    }
    if let Some(reason) = history.broken {
        text = text.styled(Style::Bad, &format!("records may be missing: {reason}"));
    }
    Ok(Answer::of(
        &RefreshesAnswer { refreshes: history.records.to_vec(), next_cursor: None },
        text,
    ))
}

fn what(record: &RefreshRecord) -> String {
    if let Some(error) = &record.error {
        return format!("{}: {}", error.code, error.message);
    }
    match &record.changes {
        Some(changes) if changes.count == 0 => "nothing changed".to_owned(),
        Some(changes) => format!("{} changed: {}", changes.count, changes.paths.join(" ")),
        None => String::new(),
    }
}
