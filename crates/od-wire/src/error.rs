//! The error envelope: one type for what HTTP answers, what the client reads, and what the command line
//! and MCP hand on.

use od_core::error::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What every refusal and failure looks like.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "ErrorAnswer")]
pub struct Envelope {
    /// The failure.
    pub error: Box<EnvelopedFailure>,
}

/// One failure.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ErrorView")]
pub struct EnvelopedFailure {
    /// The failure, as every door tells it.
    #[serde(flatten)]
    pub failure: Failure,
    /// The id to quote, and to find in the log; absent from a failure that never reached a daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(max = 64))]
    pub request_id: Option<String>,
}

impl Envelope {
    /// Wraps a failure of a request that the daemon numbered.
    #[must_use]
    pub fn new(failure: Failure, request_id: Option<String>) -> Self {
        Self { error: Box::new(EnvelopedFailure { failure, request_id }) }
    }
}

/// Wraps a failure that never reached a daemon.
impl From<Failure> for Envelope {
    fn from(failure: Failure) -> Self {
        Self::new(failure, None)
    }
}
