//! Trying the queries of a document before it is stored: one that can only fail is refused.

use std::time::Duration;

use od_core::artifact::{Document, OnFailure, SourceRef};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::ids::{ArtifactId, ProjectId};
use od_core::intake::{InputTable, RowsFault};
use od_core::json::Value;
use od_core::limits::{SHORT_TEXT, SOURCE_TIMEOUT, cut};

use crate::connectors::execute::ExecuteError;
use crate::connectors::{Payer, SourceRefused, source_call, take};
use crate::refresh::gather::{self, Call, Planned};
use crate::{App, Caller};

/// The outcome of trying the queries.
#[derive(Debug, Default)]
pub(super) struct Trial {
    /// The queries that fail on what the sources give now.
    pub(super) issues: Vec<Issue>,
    /// The sources that gave nothing, so that nobody knows whether their queries work.
    pub(super) warnings: Vec<Issue>,
}

/// Why a source gave no rows to try queries on.
#[derive(Debug, thiserror::Error)]
enum NotRead {
    #[error(transparent)]
    Source(#[from] SourceRefused),
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    #[error(transparent)]
    Rows(#[from] RowsFault),
}

impl From<NotRead> for Failure {
    fn from(err: NotRead) -> Self {
        match err {
            NotRead::Source(err) => err.into(),
            NotRead::Execute(err) => err.into(),
            NotRead::Rows(err) => Self::new(ErrorCode::QueryFailed, err.to_string())
                .suggest("name the path of the rows in `rows`, or leave it out"),
        }
    }
}

/// Reads the sources once, and runs the queries on what they give. Nothing is
/// stored. A source that gives nothing now may do so later: its queries are not judged.
pub(super) async fn try_queries(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
    artifact: Option<&ArtifactId>,
    document: &Document,
) -> Trial {
    if document.queries.is_empty() {
        return Trial::default();
    }
    let payer = match caller.run() {
        Some(run) => Payer::Run(run.clone()),
        None => Payer::Project(project.clone()),
    };
    // All of them: a query may have meant one that it does not name.
    let sources = document.all_sources();
    let call = |source: &SourceRef<'_>| {
        let call = source_call(app, project, payer.clone(), source.source);
        let call: Call<'_, NotRead> = Box::pin(async move { Ok(take(app, call?).await?) });
        // Each is read for itself: what one gives says nothing of the others.
        Planned { id: source.id.to_owned(), on_failure: OnFailure::Keep, call }
    };
    let calls = sources.iter().map(call).collect();
    let deadline = app.ports.clock.sleep(Duration::from_millis(SOURCE_TIMEOUT.allowed));
    let mut ran = tokio::select! {
        biased;
        ran = gather::run_sources(app, calls) => ran,
        () = deadline => Vec::new(),
    };
    let tables: Vec<InputTable> = gather::tables(&sources, &mut ran);
    let is_read =
        |source: &&SourceRef<'_>| !ran.iter().any(|ran| ran.id == source.id && ran.outcome.is_ok());
    let failed: Vec<String> = sources.iter().filter(is_read).map(|it| it.id.to_owned()).collect();
    let owner = artifact.map(|artifact| (project, artifact));
    let answers = gather::each(app, owner, document, tables, &failed).await;
    let mut trial = Trial::default();
    for ran in ran {
        let Some(source) = sources.iter().find(|source| source.id == ran.id) else { continue };
        if let Err(fault) = ran.outcome {
            trial.warnings.push(not_read(source, fault.into()));
        }
    }
    match answers {
        Ok(answers) => {
            let refused = answers.into_iter().filter_map(Result::err);
            trial.issues.extend(refused.map(|refused| {
                let at = format!("/input/document/queries/{}/sql", refused.index);
                let issue = Issue::new(at, ErrorCode::QueryFailed.as_str(), refused.to_string());
                let issue = issue
                    .got(document.queries[refused.index].sql.as_str())
                    .want(cut(refused.known(), SHORT_TEXT));
                let sql = &document.queries[refused.index].sql;
                match (refused.fault.mended(sql), &refused.fault.nearest) {
                    // The text of a fix ends at its first backtick.
                    (Some(sql), _) if !sql.contains('`') => {
                        issue.fix(format!("write `{}`", Value::from(sql)))
                    }
                    (_, Some(near)) => issue.fix(format!("did you mean `{near}`?")),
                    (_, None) => {
                        issue.fix("change the query so that it fits these tables and columns")
                    }
                }
            }));
        }
        Err(fault) => {
            let (at, code) = ("/input/document/queries", ErrorCode::QueryFailed.as_str());
            trial.issues.push(Issue::new(at, code, fault.to_string()));
        }
    }
    trial
}

fn not_read(source: &SourceRef<'_>, failure: Failure) -> Issue {
    let at = format!("/input/document{}", source.pointer());
    let message = format!(
        "the source `{}` gave nothing to try its queries on: {}",
        source.id, failure.message
    );
    Issue::new(at, "source_not_read", message).fix(failure.suggestion)
}
