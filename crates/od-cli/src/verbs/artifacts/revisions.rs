//! `od artifacts revisions`, `diff`: the timeline of one artifact, with or without a daemon.

use od_app::Caller;
use od_app::artifacts::{
    self, CompareRevisions, Comparison, ListRevisions as Listing, TimelineEntry,
};
use od_core::artifact::PageRows;
use od_core::diff::{Change, LineDiff, ValueChange, ValueDiff};
use od_core::error::ErrorCode;
use od_core::ledger::{Actor, CommitRecord, RevisionName};
use od_wire::revision::{CompareAnswer, ComparisonView, RevisionLine, RevisionsAnswer};

use super::show::find;
use crate::args::{DiffRevisions, ListRevisions};
use crate::local;
use crate::output::{Answer, CommandError, Exit, Style, Table, Text, counted};
use crate::settings::Settings;

/// Shows the commits of one artifact, newest first.
pub(crate) async fn revisions(
    settings: &Settings,
    args: &ListRevisions,
) -> Result<Answer, CommandError> {
    let (app, address) = find(settings, &args.artifact).await?;
    let limit = args.limit.unwrap_or(PageRows::PERSON.get());
    let request = Listing { address, before: None, limit };
    let page = artifacts::revisions(&app, &Caller::Person, request).await.map_err(local::failed)?;
    let mut text = Text::new();
    if page.lines.is_empty() {
        text = text.line("No commit is recorded yet: its history begins with its next change.");
    } else {
        let mut table = Table::new(&["REVISION", "WHEN", "WHAT", "WHO", "CHANGED"]);
        for TimelineEntry { commit, is_kept } in &page.lines {
            let style = if *is_kept { Style::Bold } else { Style::Dim };
            table.row(&[
                (style, &commit.revision.to_string()),
                (Style::Plain, &commit.at.to_string()),
                (Style::Plain, &what(commit)),
                (Style::Plain, &who(commit)),
                (Style::Dim, &changed(commit)),
            ]);
        }
        text = text.then(table.shrinking(&[3, 4]).lay_out());
    }
    let line = |TimelineEntry { commit, is_kept }| RevisionLine { commit, kept: is_kept };
    let answer = RevisionsAnswer {
        revisions: page.lines.into_iter().map(line).collect(),
        next_cursor: page.next.map(|next| next.to_string()),
    };
    Ok(Answer::of(&answer, text))
}

fn what(commit: &CommitRecord) -> String {
    match commit.restored_from {
        Some(revision) => format!("{} of {revision}", commit.kind),
        None => commit.kind.to_string(),
    }
}

fn who(commit: &CommitRecord) -> String {
    let actor = match &commit.actor {
        Actor::Person => "person".to_owned(),
        Actor::Agent { agent: Some(agent), .. } => agent.clone(),
        Actor::Agent { run_id, agent: None } => format!("agent {run_id}"),
        Actor::Schedule => "schedule".to_owned(),
    };
    format!("{actor}, {}", commit.door.as_str().replace('_', " "))
}

fn changed(commit: &CommitRecord) -> String {
    let parts: Vec<&str> = commit.changed.iter().map(|part| part.as_str()).collect();
    match &commit.changes {
        Some(changes) => format!("{} ({})", parts.join(" "), counted(changes.count, "value")),
        None => parts.join(" "),
    }
}

/// Compares two revisions of one artifact.
pub(crate) async fn diff(
    settings: &Settings,
    args: &DiffRevisions,
) -> Result<Answer, CommandError> {
    let (from, to) = parse_range(args.range.as_deref())?;
    let (app, address) = find(settings, &args.artifact).await?;
    let request = CompareRevisions { address, from, to };
    let compared = artifacts::compare(&app, &Caller::Person, request).await;
    let Comparison { from, to, diff } = compared.map_err(local::failed)?;
    let heading = format!(
        "revision {} ({}, {}) to revision {} ({}, {})",
        from.revision, from.kind, from.at, to.revision, to.kind, to.at
    );
    let mut text = Text::new().styled(Style::Bold, &heading);
    if diff.equal {
        text = text.line("They are equal.");
    }
    text = text.then(values("data", &diff.data)).then(lines(&diff.template));
    text = text.then(values("source", &diff.source));
    let exit = if diff.equal { Exit::Ok } else { Exit::Found };
    let answer = CompareAnswer { comparison: ComparisonView { from, to, diff } };
    Ok(Answer::of(&answer, text).ending(exit))
}

/// Reads `A..B`; the last change if nothing is given.
fn parse_range(range: Option<&str>) -> Result<(RevisionName, RevisionName), CommandError> {
    let Some(range) = range else { return Ok((RevisionName::Previous, RevisionName::Current)) };
    let parse = |name: &str| name.parse::<RevisionName>().ok();
    let (from, to) = range.split_once("..").unwrap_or((range, "current"));
    parse(from).zip(parse(to)).ok_or_else(|| {
        let words = RevisionName::WORDS.join(", ");
        CommandError::new(ErrorCode::BadRequest, format!("`{range}` names no two revisions"))
            .suggest(format!("give A..B, each a number, a date such as 2026-04-30, or {words}"))
    })
}

fn values(part: &str, diff: &ValueDiff) -> Text {
    let mut text = Text::new();
    if diff.count == 0 {
        return text;
    }
    text = text.gap().styled(Style::Bold, &format!("{part}: {} different", diff.count));
    for change in &diff.changes {
        let ValueChange { path, before, after, .. } = change;
        let shown = |value: &Option<serde_json::Value>| match value {
            Some(value) => value.to_string(),
            None => "(too large to show)".to_owned(),
        };
        let (style, line) = match change.change {
            Change::Added => (Style::Good, format!("+ {path} {}", shown(after))),
            Change::Removed => (Style::Bad, format!("- {path} {}", shown(before))),
            Change::Changed => {
                (Style::Warn, format!("~ {path} {} -> {}", shown(before), shown(after)))
            }
        };
        text = text.styled(style, &format!("  {line}"));
    }
    let unnamed = diff.count.saturating_sub(diff.changes.len() as u64);
    if unnamed > 0 { text.line(&format!("  and {unnamed} more")) } else { text }
}

fn lines(diff: &LineDiff) -> Text {
    let mut text = Text::new();
    if diff.is_empty() {
        return text;
    }
    let removed = counted(diff.removed, "line");
    let heading = format!("template: {removed} removed, {} added", diff.added);
    text = text.gap().styled(Style::Bold, &heading);
    for hunk in &diff.hunks {
        text = text.styled(Style::Dim, &format!("  @ {} {}", hunk.from_line, hunk.to_line));
        for line in &hunk.removed {
            text = text.styled(Style::Bad, &format!("  - {line}"));
        }
        for line in &hunk.added {
            text = text.styled(Style::Good, &format!("  + {line}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_two_names_or_one_up_to_now_or_the_last_change() {
        let range = |text| parse_range(text).map(|(from, to)| format!("{from}..{to}")).ok();
        assert_eq!(range(None).as_deref(), Some("previous..current"));
        assert_eq!(range(Some("3..7")).as_deref(), Some("3..7"));
        assert_eq!(range(Some("yesterday")).as_deref(), Some("yesterday..current"));
        assert_eq!(
            range(Some("first..2026-04-30")).as_deref(),
            Some("first..2026-04-30T23:59:59.999Z")
        );
        assert_eq!(range(Some("..")), None);
        assert_eq!(range(Some("3..x")), None);
    }
}
