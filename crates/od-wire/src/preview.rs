//! Previews: the ticket that opens one in a browser.

use od_core::ids::{RefreshId, Timestamp};
use od_core::token::Variant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
