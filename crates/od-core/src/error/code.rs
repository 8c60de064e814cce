//! The closed list of codes, with all that follows from each.

use std::fmt::{self, Write as _};

/// What a client may do about a failure.
#[derive(
    Clone, Copy, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[serde(deny_unknown_fields)]
pub enum Retry {
    /// The same request will fail again.
    NotRetryable,
    /// The same request may succeed now.
    RetryableImmediate,
    /// The same request may succeed after a while.
    RetryableAfterMs {
        /// How long to wait.
        #[schemars(range(min = 0, max = 86_400_000))]
        after_ms: u64,
    },
}

/// All that follows from one code; a row of the catalogue.
struct Row {
    text: &'static str,
    http_status: u16,
    exit_code: u8,
    retry: Retry,
    doc: &'static str,
}

macro_rules! codes {
    ($($variant:ident = $text:literal, $status:literal, $exit:literal, $retry:expr, $doc:literal;)*) => {
        /// A failure, as clients know it. Adding a variant is an API change.
        #[derive(
            Clone,
            Copy,
            Debug,
            Eq,
            Hash,
            Ord,
            PartialEq,
            PartialOrd,
            serde::Deserialize,
            serde::Serialize,
            schemars::JsonSchema,
        )]
        #[schemars(inline)]
        pub enum ErrorCode {
            $(#[doc = $doc] #[serde(rename = $text)] $variant,)*
        }

        impl ErrorCode {
            /// Every code, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            const fn row(self) -> Row {
                match self {
                    $(Self::$variant => Row {
                        text: $text,
                        http_status: $status,
                        exit_code: $exit,
                        retry: $retry,
                        doc: $doc,
                    },)*
                }
            }
        }
    };
}

const NO: Retry = Retry::NotRetryable;
const NOW: Retry = Retry::RetryableImmediate;

const fn after(after_ms: u64) -> Retry {
    Retry::RetryableAfterMs { after_ms }
}

#[rustfmt::skip]
codes! {
    BadRequest                     = "BAD_REQUEST", 400, 2, NO, "The request is not understood: not JSON, a missing or unknown field, a bad parameter.";
    Unauthorized                   = "UNAUTHORIZED", 401, 4, NO, "The bearer of the console or the command line is missing, invalid or expired.";
    Forbidden                      = "FORBIDDEN", 403, 8, NO, "The host, the origin or a field of the request is not allowed here.";
    NotFound                       = "NOT_FOUND", 404, 5, NO, "There is no such route, file, run or snapshot.";
    MethodNotAllowed               = "METHOD_NOT_ALLOWED", 405, 2, NO, "The path is known and does not take this method; the header Allow lists those it takes.";
    Conflict                       = "CONFLICT", 409, 3, NO, "The request contradicts what is stored, such as a used attemptId with another body.";
    PayloadTooLarge                = "PAYLOAD_TOO_LARGE", 413, 2, NO, "The request body is larger than allowed.";
    UnsupportedMediaType           = "UNSUPPORTED_MEDIA_TYPE", 415, 2, NO, "A changing request must carry Content-Type: application/json.";
    RateLimited                    = "RATE_LIMITED", 429, 9, after(1_000), "All event streams of the daemon are in use, or it is shutting down.";
    Internal                       = "INTERNAL", 500, 2, NO, "The daemon failed; its log has the cause.";
    DaemonUnavailable              = "DAEMON_UNAVAILABLE", 503, 9, NOW, "No daemon answers, or it ended during the call.";
    ProjectNotFound                = "PROJECT_NOT_FOUND", 404, 5, NO, "There is no such project.";
    ToolTokenMissing               = "TOOL_TOKEN_MISSING", 401, 4, NO, "The request carries no tool token.";
    ToolTokenInvalid               = "TOOL_TOKEN_INVALID", 401, 4, NO, "The tool token is malformed, not signed by this daemon, or of a run that is not known.";
    ToolTokenExpired               = "TOOL_TOKEN_EXPIRED", 401, 4, NO, "The tool token has expired, its run is over, or the lease of its run has lapsed.";
    ToolEndpointDenied             = "TOOL_ENDPOINT_DENIED", 403, 8, NO, "The tool token does not cover this endpoint.";
    ToolOperationDenied            = "TOOL_OPERATION_DENIED", 403, 8, NO, "The tool token does not cover this operation.";
    LiveArtifactNotFound           = "LIVE_ARTIFACT_NOT_FOUND", 404, 5, NO, "There is no such live artifact in this project.";
    LiveArtifactInvalid            = "LIVE_ARTIFACT_INVALID", 400, 1, NO, "The artifact, its data, source, provenance or template breaks rules; each is an issue.";
    LiveArtifactNotHealthy         = "LIVE_ARTIFACT_NOT_HEALTHY", 409, 7, NO, "The stored artifact is damaged and read-only until it is repaired.";
    LiveArtifactStorageFailed      = "LIVE_ARTIFACT_STORAGE_FAILED", 503, 9, after(1_000), "The store could not read or write; nothing was changed.";
    LiveArtifactRefreshUnavailable = "LIVE_ARTIFACT_REFRESH_UNAVAILABLE", 400, 9, NO, "The artifact has no source that may be refreshed.";
    RevisionConflict               = "REVISION_CONFLICT", 409, 3, NO, "The artifact has changed since the revision the request names, or during its refresh.";
    RefreshLocked                  = "REFRESH_LOCKED", 409, 3, after(1_000), "Another refresh of the artifact is running.";
    RefreshTimedOut                = "REFRESH_TIMED_OUT", 504, 9, NOW, "The refresh ran past its time; the previous data is kept.";
    RefreshCancelled               = "REFRESH_CANCELLED", 499, 1, NOW, "The refresh was cancelled; the previous data is kept.";
    RefreshAbandoned               = "REFRESH_ABANDONED", 503, 9, NOW, "The process that ran the refresh ended before it did; the previous data is kept.";
    OutputTooLarge                 = "OUTPUT_TOO_LARGE", 413, 1, NO, "The data after a refresh, or the rendered page, is larger than allowed.";
    OutputMappingUnresolved        = "OUTPUT_MAPPING_UNRESOLVED", 422, 1, NO, "The output mapping does not fit: a `from` names nothing in the output, a `to` lies behind a value that is no object, or the transform does not fit what it is given.";
    TemplateBindingInvalid         = "TEMPLATE_BINDING_INVALID", 422, 1, NO, "The template does not fit its data.";
    RedactionRequired              = "REDACTION_REQUIRED", 400, 8, NO, "Something that looks like a credential stands where it would be stored.";
    ConnectorNotFound              = "CONNECTOR_NOT_FOUND", 404, 5, NO, "There is no such connector.";
    ConnectorNotConnected          = "CONNECTOR_NOT_CONNECTED", 403, 8, NO, "The connector is not connected, or to another account than the one saved.";
    ConnectorDisabled              = "CONNECTOR_DISABLED", 403, 8, NO, "The connector is switched off.";
    ConnectorToolNotFound          = "CONNECTOR_TOOL_NOT_FOUND", 404, 5, NO, "The connector has no such tool, or it is not on its allow-list.";
    ConnectorSafetyDenied          = "CONNECTOR_SAFETY_DENIED", 403, 8, NO, "The tool is not read-only, or no longer the tool that was approved.";
    ConnectorInputSchemaMismatch   = "CONNECTOR_INPUT_SCHEMA_MISMATCH", 400, 1, NO, "The input does not fit the tool's schema.";
    ConnectorRateLimited           = "CONNECTOR_RATE_LIMITED", 429, 9, after(60_000), "Too many connector calls, by this run or as the provider counts.";
    ConnectorOutputTooLarge        = "CONNECTOR_OUTPUT_TOO_LARGE", 413, 1, NO, "The connector's output is larger than allowed.";
    ConnectorExecutionFailed       = "CONNECTOR_EXECUTION_FAILED", 503, 9, after(5_000), "The connector failed, or a remote one answered with an error dressed as data.";
    ConnectorTimedOut              = "CONNECTOR_TIMED_OUT", 504, 9, NOW, "The connector did not answer in its time.";
    QueryFailed                    = "QUERY_FAILED", 422, 1, NO, "A query of the document cannot be run on the rows of its sources: it names a table or column that is not there, is not one SELECT, or gives another shape than it says.";
    SourceUnreadable               = "SOURCE_UNREADABLE", 422, 1, NO, "What a source names is missing or malformed, breaks a rule of JSON, nests too deep, or gives data that does not fit dataSchemaJson.";
    BundleInvalid                  = "BUNDLE_INVALID", 422, 1, NO, "The file is no bundle that can be believed: cut, changed, of another version, or with a signature or a digest that does not hold.";
    ProgramUnavailable             = "PROGRAM_UNAVAILABLE", 503, 9, NO, "A program that the request needs is not installed, or did not work.";
    StoreUnavailable               = "STORE_UNAVAILABLE", 503, 9, after(1_000), "Somebody else holds what the request needs; nothing is wrong with it, and nothing was changed.";
}

impl ErrorCode {
    /// Returns the code as clients see it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.row().text
    }

    /// Returns the status of an answer that carries the code.
    #[must_use]
    pub const fn http_status(self) -> u16 {
        self.row().http_status
    }

    /// Returns the exit code of a command that ends with the code.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        self.row().exit_code
    }

    /// Returns what a client may do, unless the failure knows better.
    #[must_use]
    pub const fn retry(self) -> Retry {
        self.row().retry
    }

    /// Returns one sentence about the code.
    #[must_use]
    pub const fn doc(self) -> &'static str {
        self.row().doc
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for ErrorCode {
    type Err = UnknownCode;
    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text).ok_or(UnknownCode)
    }
}

/// The text is no code of the catalogue.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a known error code")]
pub struct UnknownCode;

/// Renders `docs/errors.md` from the catalogue.
#[must_use]
pub fn catalogue_markdown() -> String {
    let mut page = String::from(
        "# Errors\n\n\
         Generated by `cargo xtask codegen` from `od_core::error`; do not edit.\n\n\
         Every failure is `{ \"error\": { code, message, retry, suggestion, details?, requestId } }`; \
         the command line prints the same object and ends with the exit code.\n\n\
         | code | HTTP | exit | retry | meaning |\n|---|---|---|---|---|\n",
    );
    for code in ErrorCode::ALL {
        let retry = match code.retry() {
            Retry::NotRetryable => "no".to_owned(),
            Retry::RetryableImmediate => "at once".to_owned(),
            Retry::RetryableAfterMs { after_ms } => format!("after {after_ms} ms"),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            page,
            "| `{code}` | {} | {} | {retry} | {} |",
            code.http_status(),
            code.exit_code(),
            code.doc()
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_serde_agree() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            assert_eq!(code.as_str().parse::<ErrorCode>().unwrap(), *code);
        }
        assert!("NOPE".parse::<ErrorCode>().is_err());
    }

    #[test]
    fn statuses_and_exit_codes_are_those_of_the_contract() {
        const STATUSES: &[u16] =
            &[400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 499, 500, 503, 504];
        for code in ErrorCode::ALL {
            assert!(STATUSES.contains(&code.http_status()), "{code}");
            assert!((1..=9).contains(&code.exit_code()), "{code}");
            assert!(code.doc().ends_with('.'), "{code}");
        }
    }

    #[test]
    fn retry_is_written_as_the_contract_says() {
        let json = |retry: Retry| serde_json::to_string(&retry).unwrap();
        assert_eq!(json(NO), r#"{"kind":"not_retryable"}"#);
        assert_eq!(json(NOW), r#"{"kind":"retryable_immediate"}"#);
        assert_eq!(json(after(5)), r#"{"kind":"retryable_after_ms","afterMs":5}"#);
    }

    #[test]
    fn every_code_has_its_row() {
        let page = catalogue_markdown();
        for code in ErrorCode::ALL {
            assert!(page.contains(&format!("| `{code}` |")));
        }
    }
}
