//! Whether a source may be stored.

use od_core::artifact::{Source, SourcePin};
use od_core::error::{Failure, Issue};
use od_core::ids::ProjectId;

use super::create::CreateError;
use crate::App;
use crate::connectors::{self, SourceRefused};

/// Where a source stands in a request.
const PLACE: &str = "/input/document/sourceJson";

/// Checks everything about a source that a refresh would check, short of running it, and pins it.
pub(super) async fn check_source(
    app: &App,
    project: &ProjectId,
    source: &Source,
    _warnings: &mut Vec<Issue>,
) -> Result<Option<SourcePin>, CreateError> {
    match connectors::check_source(app, project, source).await {
        Ok(pin) => Ok(Some(pin)),
        Err(refused) => Err(CreateError::Invalid { issues: issues(&refused) }),
    }
}

/// Tells of a refusal as issues of the request: an input's own, or one with the refusal's code.
fn issues(refused: &SourceRefused) -> Vec<Issue> {
    if let SourceRefused::Call(connectors::execute::ExecuteError::Input { issues, .. }) = refused {
        let place = format!("{PLACE}/input");
        return issues.iter().map(|issue| issue.clone().under(&place)).collect();
    }
    let failure = Failure::from(refused);
    let issue = Issue::new(PLACE, failure.code.as_str(), failure.message).fix(failure.suggestion);
    vec![issue]
}
