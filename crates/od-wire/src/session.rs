//! Opening pages: the code and the bearer of the console, and the ticket of a preview.

use od_core::ids::{RefreshId, Timestamp};
use od_core::token::Variant;
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

/// Asks for a ticket.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TicketRequest {
    /// Which form of the page; the rendered one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// The stored state of this refresh instead of the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<RefreshId>,
}

/// A URL on the preview port.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TicketAnswer {
    /// Opens one page, in a frame of the console or in a tab.
    #[schemars(length(max = 4096))]
    pub url: String,
    /// When it stops.
    pub expires_at: Timestamp,
}
