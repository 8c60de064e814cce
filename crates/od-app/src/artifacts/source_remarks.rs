//! Remarks on what sources give today: what is taken out of it, what it cannot be counted by, and why it
//! cannot be read.

use od_core::artifact::SourceRef;
use od_core::connector::LocalTool;
use od_core::error::{Failure, Issue, nearest_name};
use od_core::ids::ProjectId;
use od_core::intake::Intake;
use od_core::json::Value;
use od_core::limits::{SHORT_TEXT, cut};
use od_ports::connector_provider::ProviderError;

use super::dry_run::NotRead;
use crate::App;
use crate::connectors::Taken;
use crate::connectors::execute::ExecuteError;

/// The code of a remark on what protection takes out.
const SOURCE_REDACTED: &str = "source_redacted";

/// The code of a remark on texts that are numbers in another way of writing.
const DECIMAL_COMMA: &str = "decimal_comma";

/// The codes of remarks with which a refresh may succeed all the same.
pub(super) const MAY_SUCCEED: [&str; 2] = [SOURCE_REDACTED, DECIMAL_COMMA];

/// The files of a project among which a name is looked for.
const FILES_MAX: usize = 2_000;

/// Remarks on what protection takes out of an output.
pub(super) fn redacted(source: &SourceRef<'_>, taken: &Taken) -> Option<Issue> {
    let redactions = taken.call.redactions.bounded();
    if redactions.is_empty() {
        return None;
    }
    let places: Vec<&str> = redactions.places.iter().map(|place| place.path.as_str()).collect();
    let message = format!(
        "{} values of the source are left out or replaced: {}",
        redactions.count,
        cut(places.join(", "), SHORT_TEXT)
    );
    let at = format!("/input/document{}", source.pointer());
    let fix = "bind other paths: what is taken out cannot be shown";
    Some(Issue::new(at, SOURCE_REDACTED, message).fix(fix))
}

/// Remarks on columns of a file that no sum is right of: SQL takes `1.234,50` for 1.234.
pub(super) fn comma_columns(source: &SourceRef<'_>, taken: &Taken) -> Option<Issue> {
    let is_table = taken.call.tool_name.as_str() == LocalTool::ReadTable.as_str();
    let Intake::Table(table) = taken.intake.as_ref() else { return None };
    let columns: Vec<String> =
        table.comma_columns().into_iter().map(|name| format!("`{name}`")).collect();
    if !is_table || columns.is_empty() {
        return None;
    }
    let message = format!(
        "numbers with a decimal comma are read as texts, of which no sum or order is right: {}",
        cut(columns.join(", "), SHORT_TEXT)
    );
    let at = format!("/input/document{}/input/decimal", source.pointer());
    Some(Issue::new(at, DECIMAL_COMMA, message).fix("write `\",\"`"))
}

/// Remarks that a source cannot be read today, with the file that was probably meant.
pub(super) async fn not_read(
    app: &App,
    project: &ProjectId,
    source: &SourceRef<'_>,
    fault: NotRead,
) -> Option<Issue> {
    // Too many calls say nothing about the source.
    if matches!(fault, NotRead::Execute(ExecuteError::OverLimit(_))) {
        return None;
    }
    let is_missing = matches!(
        &fault,
        NotRead::Execute(ExecuteError::Provider { fault: ProviderError::Missing { .. }, .. })
    );
    let input = source.source.input.object();
    let given = ["path", "file", "name"]
        .iter()
        .find_map(|field| Some((field, input.get(*field)?.as_str()?)));
    let near = match given.filter(|_| is_missing) {
        Some((field, path)) => nearest_file(app, project, path).await.map(|near| (field, near)),
        None => None,
    };
    let failure = Failure::from(fault);
    let message = format!("a refresh would fail today: {}", failure.message);
    let place = format!("/input/document{}", source.pointer());
    let (at, fix) = match near {
        Some((field, near)) => {
            (format!("{place}/input/{field}"), format!("write `{}`", Value::from(near)))
        }
        None => (format!("{place}/input"), failure.suggestion),
    };
    Some(Issue::new(at, "source_not_readable", message).fix(fix))
}

/// Returns the file of a project that a path was probably meant for.
pub(crate) async fn nearest_file(app: &App, project: &ProjectId, path: &str) -> Option<String> {
    let listing = app.ports.files.list(project, FILES_MAX).await.ok()?;
    let paths: Vec<&str> = listing.files.iter().map(|file| file.path.as_str()).collect();
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let same: Vec<&&str> = paths.iter().filter(|known| name(known) == name(path)).collect();
    if let [only] = same[..] {
        return Some((*only).to_owned());
    }
    nearest_name(path, paths.iter().copied()).map(str::to_owned)
}
