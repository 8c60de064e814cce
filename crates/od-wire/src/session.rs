//! How a console page gets its bearer.

use od_core::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Exchanges a one-time code.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenSession {
    /// The code from the URL's fragment.
    #[schemars(regex(pattern = "^[0-9a-f]{32}$"))]
    pub code: String,
}

/// A console bearer.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The bearer; it belongs into `sessionStorage` and nowhere else.
    #[schemars(length(max = 4096))]
    pub token: String,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// A one-time code and the page it opens.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionCode {
    /// The code, good once.
    #[schemars(regex(pattern = "^[0-9a-f]{32}$"))]
    pub code: String,
    /// The console with the code in its fragment.
    #[schemars(length(max = 1024))]
    pub url: String,
    /// When the code ends.
    pub expires_at: Timestamp,
}
