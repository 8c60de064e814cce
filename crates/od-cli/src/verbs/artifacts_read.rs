//! `od artifacts list`, `show`, `history`: looking, with or without a daemon.

use std::sync::Arc;

use od_app::{App, Caller};
use od_core::artifact::{ArtifactSummary, RefreshStatus};
use od_core::ids::ProjectId;
use od_core::refresh::{RecordStatus, RefreshRecord};
use od_ports::stored::Stored;
use od_wire::artifact::ArtifactView;
use serde_json::{Value, json};

use crate::args::OneArtifact;
use crate::local;
use crate::output::{Answer, Refusal, Style, Table, Text};
use crate::settings::Settings;

/// Lists the artifacts of a project, or of all.
pub(crate) async fn list(settings: &Settings, named: Option<&str>) -> Result<Answer, Refusal> {
    let Some(app) = local::open_existing(settings)? else {
        return Ok(nothing());
    };
    let project = local::project(&app, settings, named).await?;
    let projects = match &project {
        Some(project) => vec![project.clone()],
        None => local::projects(&app).await?,
    };
    let mut lines: Vec<Arc<ArtifactSummary>> = Vec::new();
    for project in &projects {
        let request = od_app::artifacts::ListArtifacts { project: project.id.clone() };
        let listed = od_app::artifacts::list(&app, &Caller::Person, request).await;
        lines.extend(listed.map_err(|error| local::failed(&error))?.iter().cloned());
    }
    if lines.is_empty() {
        return Ok(nothing());
    }
    let mut table = Table::new(&["TITLE", "ID", "PROJECT", "STATE", "REFRESHED"]);
    for line in &lines {
        let (style, state) = state(line);
        let refreshed =
            line.last_refreshed_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
        table.row(&[
            (Style::Bold, &line.title),
            (Style::Plain, line.id.as_str()),
            (Style::Plain, line.project_id.as_str()),
            (style, &state),
            (Style::Dim, &refreshed),
        ]);
    }
    let mut text = table.lay_out();
    if let (Some(project), None) = (&project, named) {
        let others = elsewhere(&app, &project.id).await?;
        if others > 0 {
            let more =
                format!("{others} more in other projects; this directory is in {}.", project.id);
            text = text.styled(Style::Dim, &more);
        }
    }
    Ok(Answer::new(json!({ "artifacts": lines }), text))
}

/// Counts the artifacts of other projects: a person in a project's directory may not think of them.
async fn elsewhere(app: &App, own: &ProjectId) -> Result<usize, Refusal> {
    let mut count = 0;
    for project in local::projects(app).await? {
        if project.id != *own {
            let request = od_app::artifacts::ListArtifacts { project: project.id };
            let listed = od_app::artifacts::list(app, &Caller::Person, request).await;
            count += listed.map_err(|error| local::failed(&error))?.len();
        }
    }
    Ok(count)
}

fn nothing() -> Answer {
    let text = Text::new()
        .line("No live artifacts yet.")
        .line("`od demo` makes three; `od run -- AGENT` lets an agent make yours.");
    Answer::new(json!({ "artifacts": [] }), text)
}

/// Says how an artifact is in a word or two.
fn state(line: &ArtifactSummary) -> (Style, String) {
    if !line.health.is_healthy() {
        return (Style::Bad, line.health.state.to_string());
    }
    match line.refresh_status {
        RefreshStatus::Failed => (Style::Bad, "refresh failed".to_owned()),
        RefreshStatus::Running => (Style::Warn, "refreshing".to_owned()),
        RefreshStatus::Never | RefreshStatus::Idle | RefreshStatus::Succeeded => {
            let word = if line.refreshable { "refreshable" } else { "static" };
            (Style::Good, word.to_owned())
        }
    }
}

/// Opens the store and finds the artifact that was named.
pub(crate) async fn find(
    settings: &Settings,
    asked: &OneArtifact,
) -> Result<(App, od_app::artifacts::Address), Refusal> {
    let Some(app) = local::open_existing(settings)? else {
        return Err(local::nothing_stored(&settings.data_dir));
    };
    let project = local::project(&app, settings, asked.project.as_deref()).await?;
    // Outside a project's directory, and for an id of another project, every project is searched.
    let scope = if asked.project.is_some() { project.as_ref() } else { None };
    let (project, artifact) = local::artifact(&app, scope, &asked.artifact).await?;
    Ok((app, od_app::artifacts::Address { project: Some(project), artifact }))
}

/// Shows one artifact.
pub(crate) async fn show(settings: &Settings, asked: &OneArtifact) -> Result<Answer, Refusal> {
    let (app, address) = find(settings, asked).await?;
    let detail = od_app::artifacts::get(&app, &Caller::Person, address)
        .await
        .map_err(|error| local::failed(&error))?;
    let stored = &detail.stored;
    let mut json = document(stored, detail.refreshable);
    let mut text = heading(&stored.summary);
    if !stored.health.is_healthy() {
        let fix =
            format!("damaged and read-only; `od artifacts verify {}` says how", asked.artifact);
        text = text.styled(Style::Bad, &format!("  {fix}"));
    }
    if let Some(state) = &stored.state {
        json["provenance"] = json!(state.provenance);
        let data = serde_json::to_string_pretty(state.data.value()).unwrap_or_default();
        text = text.then(source_text(state.artifact.source()));
        text = text.gap().styled(Style::Bold, "provenance");
        for source in &state.provenance.sources {
            let account = source.account_label.as_deref().unwrap_or_default();
            text = text.line(&format!("  {} ({}) {account}", source.label, source.kind));
        }
        if let Some(notes) = &state.provenance.notes {
            text = text.line(&format!("  {notes}"));
        }
        text = text.gap().styled(Style::Bold, "data").block(&data);
    }
    for drift in &stored.drift {
        text = text.styled(Style::Warn, &format!("{} was edited by hand", drift.file.file_name()));
    }
    Ok(Answer::new(json, text))
}

/// The JSON of one artifact, as the API gives it.
pub(crate) fn document(stored: &Stored, refreshable: bool) -> Value {
    let artifact = match &stored.state {
        Some(state) => json!(ArtifactView::new(&state.artifact, &state.data)),
        None => json!(stored.summary),
    };
    let drift: Vec<Value> = stored
        .drift
        .iter()
        .map(|drift| {
            json!({ "file": drift.file.file_name(), "committed": drift.committed, "found": drift.found })
        })
        .collect();
    json!({ "artifact": artifact, "health": stored.health, "drift": drift, "refreshable": refreshable })
}

fn heading(line: &ArtifactSummary) -> Text {
    let (style, state) = state(line);
    let refreshed = line.last_refreshed_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
    Text::new()
        .pieces(&[(Style::Bold, &line.title), (Style::Plain, "  "), (style, &state)])
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
pub(crate) async fn history(settings: &Settings, asked: &OneArtifact) -> Result<Answer, Refusal> {
    let (app, address) = find(settings, asked).await?;
    let history = od_app::artifacts::history(&app, &Caller::Person, address)
        .await
        .map_err(|error| local::failed(&error))?;
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
        text = text.then(table.lay_out());
    }
    if let Some(reason) = history.broken {
        text = text.styled(Style::Bad, &format!("records may be missing: {reason}"));
    }
    Ok(Answer::new(json!({ "refreshes": history.records }), text))
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
