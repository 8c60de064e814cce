//! `od artifacts show`, `history`: one artifact, with or without a daemon.

use od_app::{App, Caller};
use od_core::artifact::ArtifactSummary;
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
    let project = local::project(&app, settings, args.project.as_deref()).await?;
    // Outside a project's directory, and for an id of another project, every project is searched.
    let scope = if args.project.is_some() { project.as_ref() } else { None };
    let (project, artifact) = local::artifact(&app, scope, &args.artifact).await?;
    Ok((app, od_app::artifacts::Address { project: Some(project), artifact }))
}

/// Shows one artifact.
pub(crate) async fn show(settings: &Settings, args: &ArtifactArgs) -> Result<Answer, CommandError> {
    let (app, address) = find(settings, args).await?;
    let detail =
        od_app::artifacts::get(&app, &Caller::Person, address).await.map_err(local::failed)?;
    let shown = views::detail(&local::console(settings), &detail, Vec::new())?;
    Ok(Answer::of(&shown, text(&shown, args)))
}

fn text(shown: &ArtifactAnswer, args: &ArtifactArgs) -> Text {
    let ArtifactView { artifact, data } = &shown.artifact;
    let mut text = heading(&artifact.summary(shown.health));
    if !shown.health.is_healthy() {
        let fix =
            format!("damaged and read-only; `od artifacts verify {}` says how", args.artifact);
        text = text.styled(Style::Bad, &format!("  {fix}"));
    }
    text = text.then(source_text(artifact.source()));
    text = text.gap().styled(Style::Bold, "provenance");
    for source in &shown.provenance.sources {
        let account = source.account_label.as_deref().unwrap_or_default();
        text = text.line(&format!("  {} ({}) {account}", source.label, source.kind));
    }
    if let Some(notes) = &shown.provenance.notes {
        text = text.line(&format!("  {notes}"));
    }
    let data = serde_json::to_string_pretty(data.value()).unwrap_or_default();
    text = text.gap().styled(Style::Bold, "data").block(&data);
    for drift in &shown.drift {
        text = text.styled(Style::Warn, &format!("{} was edited by hand", drift.file));
    }
    text
}

fn heading(line: &ArtifactSummary) -> Text {
    let (style, state) = state(line);
    let refreshed = line.last_refreshed_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
    Text::new()
        .pieces(&[(Style::Bold, &line.heading.title), (Style::Plain, "  "), (style, &state)])
        .line(&format!("  id         {}", line.id))
        .line(&format!("  project    {}", line.project_id))
        .line(&format!("  revision   {}", line.revision))
        .line(&format!("  updated    {}", line.updated_at))
        .line(&format!("  refreshed  {refreshed}"))
}

fn source_text(source: Option<&od_core::artifact::Source>) -> Text {
    let text = Text::new().gap().styled(Style::Bold, "source");
    let Some(source) = source else { return text.line("  none: this page does not refresh") };
    let tool = source.tool_name.as_ref().map(ToString::to_string).unwrap_or_default();
    text.line(&format!("  {} {tool}", source.kind))
        .line(&format!("  input {}", source.input.value()))
        .line(&format!("  refresh permission: {}", source.refresh_permission))
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
            let (style, how) = outcome(record.status);
            let took = record.duration_ms.map_or_else(String::new, |ms| format!("{ms} ms"));
            table.row(&[
                (Style::Bold, record.refresh_id.as_ref()),
                (Style::Plain, &record.at.to_string()),
                (style, how),
                (Style::Dim, &took),
                (Style::Plain, &what(record)),
            ]);
        }
        text = text.then(table.lay_out(&[4]));
    }
    if let Some(reason) = history.broken {
        text = text.styled(Style::Bad, &format!("records may be missing: {reason}"));
    }
    Ok(Answer::of(&RefreshesAnswer { refreshes: history.records }, text))
}

fn outcome(status: RecordStatus) -> (Style, &'static str) {
    match status {
        RecordStatus::Succeeded => (Style::Good, status.as_str()),
        RecordStatus::Running => (Style::Warn, status.as_str()),
        RecordStatus::Failed
        | RecordStatus::Cancelled
        | RecordStatus::TimedOut
        | RecordStatus::Abandoned => (Style::Bad, status.as_str()),
    }
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
