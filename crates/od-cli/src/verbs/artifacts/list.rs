//! `od artifacts list`: what there is, and what is in the trash, with or without a daemon.

use od_app::Caller;
use od_app::artifacts::ListTrash;
use od_core::artifact::{ArtifactSummary, Freshness, RefreshStatus, Status};
use od_core::ids::Timestamp;
use od_core::schedule::{Outlook, ScheduleState};
use od_daemon::views;
use od_wire::artifact::{ArtifactsAnswer, TrashAnswer};

use crate::local;
use crate::output::{Answer, CommandError, Style, Table, Text};
use crate::settings::Settings;

/// Lists the artifacts of a project, or of all, the last updated first.
pub(crate) async fn list(settings: &Settings, named: Option<&str>) -> Result<Answer, CommandError> {
    let Some(app) = local::open_existing(settings)? else {
        return Ok(nothing());
    };
    let project = local::project(&app, settings, named).await?.map(|project| project.id);
    let lines = local::artifacts(&app, project.clone()).await?;
    if lines.is_empty() {
        return Ok(nothing());
    }
    let mut table = Table::new(&["TITLE", "ID", "PROJECT", "STATE", "REFRESHED", "NEXT DUE"]);
    let now = app.ports.clock.now();
    for line in lines.iter() {
        let (style, state) = state(line, now);
        let refreshed =
            line.last_refreshed_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
        table.row(&[
            (Style::Bold, &line.heading.title),
            (Style::Plain, line.id.as_str()),
            (Style::Plain, line.project_id.as_str()),
            (style, &state),
            (Style::Dim, &refreshed),
            (Style::Dim, &next_due(line, now)),
        ]);
    }
    let mut text = table.shrinking(&[0]).sparing(2).lay_out();
    if let (Some(project), None) = (&project, named) {
        // A person in a project's directory may not think of the others.
        let all = local::artifacts(&app, None).await?;
        let others = all.iter().filter(|line| line.project_id != *project).count();
        if others > 0 {
            let more = format!("{others} more in other projects; this directory is in {project}.");
            text = text.styled(Style::Dim, &more);
        }
    }
    Ok(Answer::of(&views::lines(&lines, now), text))
}

/// Says when the next scheduled run is due, or why none is.
fn next_due(line: &ArtifactSummary, now: Timestamp) -> String {
    let Some(schedule) = &line.schedule else { return "-".to_owned() };
    match (schedule.state, Outlook::of(line, now).next_due) {
        (ScheduleState::Active, Some(at)) if at <= now => "now".to_owned(),
        (ScheduleState::Active, Some(at)) => at.to_string(),
        (ScheduleState::Active, None) => "on change".to_owned(),
        (state, _) => state.to_string(),
    }
}

fn nothing() -> Answer {
    let text = Text::new()
        .line("No live artifacts yet.")
        .line("`od demo` makes three; `od run -- AGENT` lets an agent make yours.");
    Answer::of(&ArtifactsAnswer { artifacts: Vec::new() }, text)
}

/// Lists what can be brought back, the last deleted first.
pub(crate) async fn list_trash(
    settings: &Settings,
    named: Option<&str>,
) -> Result<Answer, CommandError> {
    let found = match local::open_existing(settings)? {
        Some(app) => {
            let project = local::project(&app, settings, named).await?.map(|project| project.id);
            od_app::artifacts::trash(&app, &Caller::Person, ListTrash { project })
                .await
                .map_err(local::failed)?
        }
        None => Vec::new(),
    };
    let answer = TrashAnswer { trash: found.into_iter().map(views::in_trash).collect() };
    if answer.trash.is_empty() {
        return Ok(Answer::of(&answer, Text::new().line("The trash is empty.")));
    }
    let mut table = Table::new(&["TITLE", "ID", "PROJECT", "DELETED", "KEPT UNTIL"]);
    for line in &answer.trash {
        table.row(&[
            (Style::Bold, line.title.as_deref().unwrap_or("(not readable)")),
            (Style::Plain, line.artifact_id.as_str()),
            (Style::Plain, line.project_id.as_str()),
            (Style::Dim, &line.deleted_at.to_string()),
            (Style::Dim, &line.restorable_until.to_string()),
        ]);
    }
    let text = table
        .shrinking(&[0])
        .sparing(2)
        .lay_out()
        .styled(Style::Dim, "`od artifacts restore ID` brings one back.");
    Ok(Answer::of(&answer, text))
}

/// Says how an artifact is in a word or two.
pub(super) fn state(line: &ArtifactSummary, now: Timestamp) -> (Style, String) {
    if !line.health.is_healthy() {
        return (Style::Bad, line.health.state.to_string());
    }
    if line.heading.status == Status::Archived {
        return (Style::Dim, line.heading.status.to_string());
    }
    if line.refresh_status == RefreshStatus::Running {
        return (Style::Warn, "refreshing".to_owned());
    }
    let (style, word) = match (Freshness::of(line, now), &line.restored) {
        (Freshness::Failed, None) => (Style::Bad, "refresh failed"),
        (Freshness::Failed, Some(_)) => (Style::Bad, "restored, refresh failed"),
        // Whatever was read lately, it is not what is shown.
        (Freshness::Static | Freshness::Never | Freshness::Fresh | Freshness::Stale, Some(_)) => {
            (Style::Warn, "restored")
        }
        (Freshness::Static, None) => (Style::Plain, "static"),
        (Freshness::Never, None) => (Style::Plain, "never refreshed"),
        (Freshness::Fresh, None) => (Style::Good, "fresh"),
        (Freshness::Stale, None) => (Style::Warn, "stale"),
    };
    (style, word.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(status: &str, refreshes: &str, restored: bool) -> ArtifactSummary {
        let at = "2026-04-30T00:00:00.000Z";
        let restored = restored.then(|| json!({ "revision": 1, "at": at, "stateOf": at }));
        serde_json::from_value(json!({
            "id": "la-x-0123456789ab", "projectId": "web", "title": "X", "slug": "x",
            "status": status, "pinned": false, "refreshStatus": refreshes,
            "preview": { "type": "html", "entry": "index.html" }, "createdAt": at,
            "updatedAt": at, "revision": 1, "hasDocument": true, "refreshable": false,
            "health": { "state": "healthy" }, "restored": restored,
        }))
        .unwrap()
    }

    #[test]
    fn an_archived_artifact_is_not_called_static() {
        let state = |status| state(&line(status, "idle", false), Timestamp::from_unix_ms(0));
        assert_eq!(state("archived"), (Style::Dim, "archived".to_owned()));
        assert_eq!(state("active"), (Style::Plain, "static".to_owned()));
    }

    #[test]
    fn a_restored_artifact_is_called_so_whatever_its_refreshes_came_to() {
        let word = |refreshes, restored| {
            state(&line("active", refreshes, restored), Timestamp::from_unix_ms(0)).1
        };
        assert_eq!(word("succeeded", true), "restored");
        assert_eq!(word("failed", true), "restored, refresh failed");
        assert_eq!(word("failed", false), "refresh failed");
    }
}
