//! `od artifacts list`: what there is, and what is in the trash, with or without a daemon.

use std::fmt::Display;
use std::str::FromStr;

use od_app::artifacts::{ListTrash, PageOfList, TrashPage};
use od_app::{App, Caller};
use od_core::artifact::{
    ArtifactSummary, Freshness, ListCursor, ListPage, ListQuery, PageRows, RefreshStatus, Status,
};
use od_core::checks::Severity;
use od_core::error::ErrorCode;
use od_core::ids::{ProjectId, Timestamp};
use od_core::schedule::{Outlook, ScheduleState};
use od_daemon::views;

use crate::args::ListArtifacts;
use crate::config::Origin;
use crate::local;
use crate::output::{Answer, CommandError, Exit, Style, Table, Text, counted};
use crate::settings::Settings;

/// Lists a page of the artifacts of a project, or of all, the last updated first.
pub(crate) async fn list(
    settings: &Settings,
    args: &ListArtifacts,
) -> Result<Answer, CommandError> {
    let query = ListQuery {
        query: given("query", args.query.as_deref())?,
        cursor: after(args)?,
        ..ListQuery::default()
    };
    let is_part = query != ListQuery::default();
    let rows = rows(args)?;
    let Some(app) = opened(settings)? else {
        return Ok(nothing());
    };
    let named = args.project.as_deref();
    let project = local::project(&app, settings, named).await?.map(|project| project.id);
    let request = PageOfList { project: project.clone(), query, rows };
    let page =
        od_app::artifacts::page(&app, &Caller::Person, request).await.map_err(local::failed)?;
    // A person in a project's directory may not think of the others.
    let more = match (&project, named) {
        (Some(project), None) => more_elsewhere(&app, project).await?,
        (_, Some(_)) | (None, None) => None,
    };
    let now = app.ports.clock.now();
    if page.lines.is_empty() {
        let none = Text::new().line("No live artifact has these words.");
        let mut answer =
            if is_part { Answer::of(&views::lines(&page, now), none) } else { nothing() };
        if let Some(more) = more {
            answer.text = answer.text.styled(Style::Dim, &more);
        }
        return Ok(answer);
    }
    let mut table = Table::new(&["TITLE", "ID", "PROJECT", "STATE", "REFRESHED", "NEXT DUE"]);
    for line in &page.lines {
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
    if let Some(more) = more {
        text = text.styled(Style::Dim, &more);
    }
    text = with_next(text, page.next.as_ref(), page.total);
    Ok(Answer::of(&views::lines(&page, now), text))
}

/// Says how many artifacts other projects have.
async fn more_elsewhere(app: &App, project: &ProjectId) -> Result<Option<String>, CommandError> {
    let all = PageOfList { project: None, query: ListQuery::default(), rows: 0 };
    let own = PageOfList { project: Some(project.clone()), ..all.clone() };
    let count = async |request| {
        let page = od_app::artifacts::page(app, &Caller::Person, request).await;
        page.map(|page| page.total).map_err(local::failed)
    };
    let others = count(all).await?.saturating_sub(count(own).await?);
    let more = format!("{others} more in other projects; this directory is in {project}.");
    Ok((others > 0).then_some(more))
}

/// Opens the store; a data directory that was named by hand has to be there.
fn opened(settings: &Settings) -> Result<Option<App>, CommandError> {
    match local::open_existing(settings)? {
        None if settings.data_dir_origin == Origin::Flag => {
            Err(local::nothing_stored(&settings.data_dir))
        }
        found => Ok(found),
    }
}

/// Says how the list goes on.
fn with_next(text: Text, next: Option<&ListCursor>, total: usize) -> Text {
    match next {
        Some(next) => {
            text.styled(Style::Dim, &format!("{total} in all; the next page: --cursor {next}"))
        }
        None => text,
    }
}

fn rows(args: &ListArtifacts) -> Result<usize, CommandError> {
    let limit: Option<PageRows> = given("limit", args.limit.as_deref())?;
    Ok(limit.unwrap_or(PageRows::PERSON).get())
}

fn after(args: &ListArtifacts) -> Result<Option<ListCursor>, CommandError> {
    given("cursor", args.cursor.as_deref())
}

/// Reads the text of a flag.
fn given<T>(flag: &str, text: Option<&str>) -> Result<Option<T>, CommandError>
where
    T: FromStr<Err: Display>,
{
    text.map(str::parse).transpose().map_err(|error| {
        CommandError::new(ErrorCode::BadRequest, format!("--{flag}: {error}"))
            .suggest(format!("correct --{flag} or leave it out"))
            .ending(Exit::Usage)
    })
}

/// Says when the next scheduled run is due, or why none is.
fn next_due(line: &ArtifactSummary, now: Timestamp) -> String {
    let Some(schedule) = &line.schedule else { return "-".to_owned() };
    match (schedule.state, Outlook::of(line, now).next_due) {
        (ScheduleState::Active, Some(at)) if at <= now => "now".to_owned(),
        (ScheduleState::Active, Some(at)) => at.to_string(),
        (ScheduleState::Active, None) if schedule.refresh.on_change => "on change".to_owned(),
        // Only its age counts: opening its page refreshes it.
        (ScheduleState::Active, None) => "-".to_owned(),
        (state, _) => state.to_string(),
    }
}

fn nothing() -> Answer {
    let text = Text::new()
        .line("No live artifacts yet.")
        .line("`od demo` makes three; `od run -- AGENT` lets an agent make yours.");
    Answer::of(&views::lines(&ListPage::default(), Timestamp::from_unix_ms(0)), text)
}

/// Lists a page of what can be brought back, the last deleted first.
pub(crate) async fn list_trash(
    settings: &Settings,
    args: &ListArtifacts,
) -> Result<Answer, CommandError> {
    if args.query.is_some() {
        let message = "--query searches the artifacts in use, not the trash";
        return Err(CommandError::new(ErrorCode::BadRequest, message)
            .suggest("leave --query or --trash out")
            .ending(Exit::Usage));
    }
    let (after, rows) = (after(args)?, rows(args)?);
    let page = match opened(settings)? {
        Some(app) => {
            let project = local::project(&app, settings, args.project.as_deref()).await?;
            let request = ListTrash { project: project.map(|project| project.id) };
            od_app::artifacts::trash_page(&app, &Caller::Person, request, after, rows)
                .await
                .map_err(local::failed)?
        }
        None => TrashPage::default(),
    };
    let next = page.next.clone();
    let answer = views::trash(page);
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
    let text = with_next(text, next.as_ref(), answer.total);
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
    let checks = line.checks.as_ref().filter(|checks| checks.failing > 0);
    match checks {
        None => (style, word.to_owned()),
        Some(checks) => {
            let is_info =
                checks.worst.as_ref().is_some_and(|worst| worst.severity == Severity::Info);
            let style = if is_info && style != Style::Bad { Style::Warn } else { Style::Bad };
            (style, format!("{} failing, {word}", counted(checks.failing as usize, "check")))
        }
    }
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
