//! A provider that gave nothing, in the neutral form: unreadable source, refused input, limit, outage.

use od_core::error::{ErrorCode, Failure, Retry};
use od_ports::connector_provider::ProviderError;

/// Returns the refusal for a provider's fault: what is wrong with a source is not what is wrong with an
/// input, and neither is an outage.
pub(super) fn provider_failure(fault: &ProviderError) -> Failure {
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

/// Refuses more than a limit allows; the limit is the one that was broken.
pub(super) fn too_large(message: String, limit: &str) -> Failure {
    Failure::new(ErrorCode::ConnectorOutputTooLarge, message)
        .suggest("narrow the input: fewer entries, a smaller file, a glob")
        .detail("limit", limit)
}
