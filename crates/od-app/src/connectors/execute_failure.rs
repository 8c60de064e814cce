//! A tool that gave nothing, in the neutral form.

use od_core::connector::ProtectError;
use od_core::error::{ErrorCode, Failure, Issue, Retry};
use od_core::repair::{Operation, Proposal};
use od_ports::connector_provider::ProviderError;
use serde_json::json;

use super::denied::Denied;
use super::execute::ExecuteError;
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
                    Denied::Mapped { pointer } => failure
                        .suggest(format!("map from another path: `{pointer}` is never stored"))
                        .detail("pointer", pointer),
                    Denied::Everything => failure
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

fn provider_failure(fault: &ProviderError) -> Failure {
    let unreadable = |kind: &str, suggestion: &str| {
        Failure::new(ErrorCode::SourceUnreadable, fault.to_string())
            .suggest(suggestion)
            .detail("kind", kind)
    };
    match fault {
        ProviderError::UnknownTool { .. } => {
            Failure::new(ErrorCode::ConnectorToolNotFound, fault.to_string())
                .suggest("list the connector's tools")
        }
        ProviderError::Input { pointer, .. } => {
            Failure::new(ErrorCode::ConnectorInputSchemaMismatch, fault.to_string())
                .suggest("correct the input")
                .detail("pointer", pointer.as_str())
        }
        ProviderError::Missing { .. } => unreadable(
            "source_missing",
            "check the name; put back what is gone, or set another source",
        ),
        ProviderError::Malformed { .. } => {
            unreadable("wrong_type", "check what the source holds: it is not what the tool reads")
        }
        ProviderError::Forbidden { .. } => {
            Failure::new(ErrorCode::ConnectorSafetyDenied, fault.to_string())
                .suggest("name something inside the project, or that the account may read")
                .detail("kind", "forbidden")
        }
        ProviderError::TooLarge { allowed } => {
            too_large(fault.to_string(), &format!("at most {allowed} bytes (as read)"))
                .detail("allowed", *allowed)
        }
        ProviderError::OutOfBounds { limit, .. } => too_large(fault.to_string(), limit),
        ProviderError::TimedOut { .. } => {
            Failure::new(ErrorCode::ConnectorTimedOut, fault.to_string())
                .suggest(
                    "ask for less at once: a WHERE, a LIMIT, an end of the recursion, an index",
                )
                .detail("kind", "timed_out")
        }
        ProviderError::CredentialRefused => {
            Failure::new(ErrorCode::ConnectorNotConnected, fault.to_string())
                .suggest("make a new token at the provider and connect again")
        }
        ProviderError::RateLimited { after_ms } => {
            Failure::new(ErrorCode::ConnectorRateLimited, fault.to_string())
                .retry(Retry::RetryableAfterMs { after_ms: *after_ms })
                .suggest(format!("wait {} s; a token raises the limit", after_ms.div_ceil(1000)))
        }
        ProviderError::Unavailable { .. } => {
            Failure::new(ErrorCode::ConnectorExecutionFailed, fault.to_string())
                .suggest("check that the provider can be reached, then try again")
                .detail("kind", "unavailable")
        }
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

/// Refuses more than a limit allows; the limit is the one that was broken.
fn too_large(message: String, limit: &str) -> Failure {
    Failure::new(ErrorCode::ConnectorOutputTooLarge, message)
        .suggest("narrow the input: fewer entries, a smaller file, a glob")
        .detail("limit", limit)
}
