//! The error envelope.

use od_core::error::{ErrorCode, Retry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What every refusal and failure looks like.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct ErrorAnswer {
    /// The failure.
    pub error: ErrorView,
}

/// One failure.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrorView {
    /// Which one.
    pub code: ErrorCode,
    /// What went wrong, in one sentence.
    #[schemars(length(max = 4096))]
    pub message: String,
    /// What the client may do.
    pub retry: Retry,
    /// The next step that helps.
    #[schemars(length(max = 4096))]
    pub suggestion: String,
    /// Facts for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Map<String, Value>>,
    /// The id to quote, and to find in the log.
    #[schemars(length(max = 64))]
    pub request_id: String,
}
