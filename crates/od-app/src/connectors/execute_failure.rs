//! A tool that gave nothing, in the neutral form.

use od_core::connector::ProtectError;
use od_core::error::{ErrorCode, Failure, Issue, Retry};
use od_core::repair::{Operation, Proposal};
use serde_json::json;

use super::denied_keys::DeniedKeys;
use super::execute::ExecuteError;
use super::provider_failure::{provider_failure, too_large};
use super::rate_limit::OverLimit;
use crate::failure;

impl From<ExecuteError> for Failure {
    fn from(err: ExecuteError) -> Self {
        let message = err.to_string();
        match err {
            ExecuteError::ConnectorNotFound { nearest: Some(near), .. } => {
                meant(ErrorCode::ConnectorNotFound, message, "/connectorId", near.as_str())
            }
            ExecuteError::ConnectorNotFound { nearest: None, .. } => {
                failure::unknown_connector(message)
            }
            ExecuteError::Disabled { connector } => {
                Self::new(ErrorCode::ConnectorDisabled, message)
                    .suggest(format!("switch it on with `od connectors connect {connector}`"))
            }
            ExecuteError::NotConnected { connector } => {
                Self::new(ErrorCode::ConnectorNotConnected, message)
                    .suggest(format!("connect it with `od connectors connect {connector}`"))
            }
            ExecuteError::AccountChanged { saved, connected, .. } => {
                Self::new(ErrorCode::ConnectorNotConnected, message)
                    .suggest("connect the saved account again, or accept the new one as a person")
                    .detail("kind", "account_drift")
                    .detail("savedAccount", saved)
                    .detail("connectedAccount", connected)
            }
            ExecuteError::ToolNotFound { nearest: Some(near), .. } => {
                meant(ErrorCode::ConnectorToolNotFound, message, "/toolName", near.as_str())
            }
            ExecuteError::ToolNotFound { allowed, nearest: None, .. } => {
                let names: Vec<&str> = allowed.iter().map(|name| name.as_str()).collect();
                Self::new(ErrorCode::ConnectorToolNotFound, message)
                    .suggest(format!("call one of {}", names.join(", ")))
            }
            ExecuteError::Unsafe { safety, .. } => {
                Self::new(ErrorCode::ConnectorSafetyDenied, message)
                    .suggest("use a tool that only reads and runs without approval")
                    .detail("sideEffect", safety.side_effect.as_str())
                    .detail("approval", safety.approval.as_str())
            }
            ExecuteError::ContractChanged { changes, .. } => {
                Self::new(ErrorCode::ConnectorSafetyDenied, message)
                    .suggest("look at what changed; accept it as a person, or set the source again")
                    .detail("kind", "tool_drift")
                    .detail("changed", changes)
            }
            ExecuteError::Input { issues, input, .. } => {
                let body = json!({ "input": input.value() });
                let issues = issues.into_iter().map(|issue| issue.under("/input")).collect();
                let mut proposal = Proposal::new(Operation::Execute, &body);
                proposal.mend(issues, None);
                let issues = proposal.finish(false);
                Self::validation(ErrorCode::ConnectorInputSchemaMismatch, &issues)
            }
            ExecuteError::OverLimit(limit) => over_limit(limit),
            ExecuteError::TimedOut { .. } => Self::new(ErrorCode::ConnectorTimedOut, message)
                .suggest("ask for less at once, or try again later")
                .detail("kind", "timed_out"),
            ExecuteError::Provider { fault, .. } => provider_failure(&fault),
            ExecuteError::Denied { found, .. } => {
                let failure =
                    Self::new(ErrorCode::RedactionRequired, message).detail("kind", "denied_key");
                match found {
                    DeniedKeys::Mapped { pointer } => failure
                        .suggest(format!("map from another path: `{pointer}` is never stored"))
                        .detail("pointer", pointer),
                    DeniedKeys::Everything => failure
                        .suggest("use a tool or file that names its values by what they mean"),
                }
            }
            ExecuteError::Output { fault, .. } => output_failure(&fault, message),
            ExecuteError::Vault(err) => failure::vault(&err),
        }
    }
}

/// Refuses a name with the one that was probably meant.
fn meant(code: ErrorCode, message: String, path: &str, near: &str) -> Failure {
    let issue = Issue::new(path, code.as_str(), message.clone()).fix(format!("write `\"{near}\"`"));
    Failure { message, ..Failure::validation(code, &[issue]) }
}

fn over_limit(limit: OverLimit) -> Failure {
    match limit {
        OverLimit::PerMinute { after_ms, allowed } => Failure::new(
            ErrorCode::ConnectorRateLimited,
            format!("more than {allowed} connector calls in a minute"),
        )
        .retry(Retry::RetryableAfterMs { after_ms })
        .suggest(format!("wait {} s", after_ms.div_ceil(1000)))
        .detail("allowed", allowed),
        OverLimit::PerRun { allowed } => Failure::new(
            ErrorCode::ConnectorRateLimited,
            format!("the run has made all of its {allowed} connector calls"),
        )
        .retry(Retry::NotRetryable)
        .suggest("work with the data already fetched; a new run has calls again")
        .detail("kind", "per_run")
        .detail("allowed", allowed),
    }
}

fn output_failure(fault: &ProtectError, message: String) -> Failure {
    match fault {
        ProtectError::TooLarge { faults } => too_large(message, faults.limit())
            .detail("issues", serde_json::to_value(faults.issues("")).unwrap_or_default()),
        ProtectError::Unacceptable { faults } => {
            Failure::validation(fault.code(), &faults.issues("")).detail("limit", faults.limit())
        }
        ProtectError::ErrorAsData { .. } => Failure::new(fault.code(), message)
            .suggest("read what the provider says; the input may name something it refuses")
            .detail("kind", "error_as_data"),
    }
}
