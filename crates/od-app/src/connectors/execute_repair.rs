//! A refused call of a tool, told with fixes that work together.

use od_core::connector::{ExecuteRequest, Purpose};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::ids::ProjectId;
use od_core::json::Value;
use od_core::repair::{Operation, Proposal};
use od_ports::connector_provider::ProviderError;

use super::execute::{self, ExecuteError, ExecuteTool};
use super::rate_limit::Payer;
use crate::app::App;
use crate::artifacts::nearest_file;

/// Refuses a call whose body cannot be read, with everything else that is wrong with it.
pub async fn refuse_request(
    app: &App,
    project: &ProjectId,
    body: &Value,
    issues: Vec<Issue>,
) -> Failure {
    let issues = mended(app, project, body, issues).await;
    Failure::validation(ErrorCode::BadRequest, &issues)
}

/// Refuses a call that failed; what its body could say otherwise is told with its fixes.
pub async fn refuse_call(
    app: &App,
    project: &ProjectId,
    body: &Value,
    err: ExecuteError,
) -> Failure {
    let issues = faults(app, project, body, &err).await;
    let failure = Failure::from(err);
    if issues.is_empty() {
        return failure;
    }
    let issues = mended(app, project, body, issues).await;
    Failure { message: failure.message, ..Failure::validation(failure.code, &issues) }
}

async fn mended(app: &App, project: &ProjectId, body: &Value, issues: Vec<Issue>) -> Vec<Issue> {
    let mut proposal = Proposal::new(Operation::Execute, body);
    let mut found = issues;
    for _ in 0..Proposal::ROUNDS {
        if !proposal.mend(found, None) {
            return proposal.finish(false);
        }
        found = match ExecuteRequest::parse(proposal.body()) {
            Ok(request) => {
                let call = call(project, request);
                match execute::check(app, &call).await {
                    Ok(_) => path_faults(proposal.body()),
                    Err(err) => faults(app, project, proposal.body(), &err).await,
                }
            }
            Err(issues) => issues,
        };
        if found.is_empty() {
            return proposal.finish(true);
        }
    }
    proposal.finish(false)
}

fn call(project: &ProjectId, request: ExecuteRequest) -> ExecuteTool {
    ExecuteTool {
        project: project.clone(),
        connector: request.connector_id,
        tool: request.tool_name.to_string(),
        input: request.input,
        purpose: Purpose::AgentPreview,
        payer: Payer::Project(project.clone()),
        expected: None,
        mapping: None,
    }
}

/// Returns the faults of a body that a refusal is about; none if the body is not at fault.
async fn faults(app: &App, project: &ProjectId, body: &Value, err: &ExecuteError) -> Vec<Issue> {
    let named = |at: &str, code: ErrorCode, near: &str| {
        let fix = format!("write `\"{near}\"`");
        vec![Issue::new(at, code.as_str(), err.to_string()).fix(fix)]
    };
    match err {
        ExecuteError::ConnectorNotFound { nearest: Some(near), .. } => {
            named("/connectorId", ErrorCode::ConnectorNotFound, near.as_str())
        }
        ExecuteError::ToolNotFound { nearest: Some(near), .. } => {
            named("/toolName", ErrorCode::ConnectorToolNotFound, near.as_str())
        }
        ExecuteError::Input { issues, .. } => {
            issues.iter().map(|issue| issue.clone().under("/input")).collect()
        }
        ExecuteError::Provider { fault: ProviderError::Input { .. }, .. } => path_faults(body),
        ExecuteError::Provider { fault: ProviderError::Missing { .. }, .. } => {
            let path = body.pointer("/input/path").and_then(Value::as_str);
            let near = match path {
                Some(path) => nearest_file(app, project, path).await,
                None => None,
            };
            let code = ErrorCode::SourceUnreadable;
            near.map(|near| named("/input/path", code, &near)).unwrap_or_default()
        }
        ExecuteError::ConnectorNotFound { nearest: None, .. }
        | ExecuteError::ToolNotFound { nearest: None, .. }
        | ExecuteError::Disabled { .. }
        | ExecuteError::NotConnected { .. }
        | ExecuteError::AccountChanged { .. }
        | ExecuteError::Unsafe { .. }
        | ExecuteError::ContractChanged { .. }
        | ExecuteError::OverLimit(_)
        | ExecuteError::TimedOut { .. }
        | ExecuteError::Provider { .. }
        | ExecuteError::Denied { .. }
        | ExecuteError::Output { .. }
        | ExecuteError::Vault(_) => Vec::new(),
    }
}

/// Returns the paths of an input that lie in no project.
fn path_faults(body: &Value) -> Vec<Issue> {
    let path = body.pointer("/input/path").and_then(Value::as_str);
    let refused = path.and_then(|path| path.parse::<od_core::ids::RelPath>().err());
    let issue = |err: od_core::ids::ParseIdError| {
        Issue::new("/input/path", "malformed", err.to_string())
            .fix("write a path inside the project")
    };
    refused.map(issue).into_iter().collect()
}
