//! The faults of a request that its reader alone cannot see: of its source and its template.

use std::sync::Arc;

use od_core::artifact::{ArtifactState, ReadableParts, Source, SourcePin, check_page};
use od_core::error::{Failure, Issue};
use od_core::ids::ProjectId;
use od_core::json::{BoundedObject, Value};

use crate::App;
use crate::connectors::{self, SourceRefused};

/// The place of a source in a request.
const PLACE: &str = "/input/document/sourceJson";

/// Checks everything about a source that a refresh would check, short of running it, and pins it.
pub(super) async fn check_source(
    app: &App,
    project: &ProjectId,
    source: &Source,
) -> Result<SourcePin, Vec<Issue>> {
    connectors::check_source(app, project, source).await.map_err(issues)
}

/// Returns what else is wrong with a body that its reader refused: its source and its template are
/// judged as far as they could be read, so that no fault hides another. What the body leaves as it
/// is comes from the state `before` it.
pub(super) async fn further_faults(
    app: &App,
    project: &ProjectId,
    before: Option<&ArtifactState>,
    body: &Value,
) -> Vec<Issue> {
    let ReadableParts { template_html, data, source } = ReadableParts::of(body);
    let mut found = Vec::new();
    let known = before.and_then(|before| before.artifact.source());
    if let Some(source) = source
        && !known.is_some_and(|known| known.runs_as(&source))
    {
        found.extend(check_source(app, project, &source).await.err().unwrap_or_default());
    }
    let kept = |before: &ArtifactState| Arc::clone(&before.template_html);
    let html = template_html.map(Arc::from).or_else(|| before.map(kept));
    let data = match (&data, before) {
        (None, Some(before)) if body.pointer("/input/document/dataJson").is_none() => {
            Some(&before.data)
        }
        (data, _) => data.as_ref(),
    };
    if let Some(html) = html {
        found.extend(check_page(&html, data.map(BoundedObject::value)));
    }
    found
}

/// Turns a refusal into issues of the request: an input's own, or one with the refusal's code.
fn issues(refused: SourceRefused) -> Vec<Issue> {
    if let SourceRefused::Call(connectors::execute::ExecuteError::Input { issues, .. }) = refused {
        let place = format!("{PLACE}/input");
        return issues.into_iter().map(|issue| issue.under(&place)).collect();
    }
    let failure = Failure::from(refused);
    let issue = Issue::new(PLACE, failure.code.as_str(), failure.message).fix(failure.suggestion);
    vec![issue]
}
