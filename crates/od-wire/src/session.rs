//! Opening pages: the code, the sessions and the bearers of the console, and the ticket of a preview.

use od_core::console::{BrowserName, ConsoleSession, Nonce, PublicKey, Signature};
use od_core::ids::{ConsoleSessionId, RefreshId, Revision, Timestamp};
use od_core::token::Variant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Asks the daemon to prove itself.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChallengeRequest {
    /// A number that the page never used before.
    pub nonce: Nonce,
}

/// The daemon's proof, and the number that the page has to sign.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Challenge {
    /// The daemon's nonce, good once.
    pub challenge: Nonce,
    /// The daemon's public key. A page that knows another one stops here.
    pub daemon_key: PublicKey,
    /// The daemon's signature over address, key and both nonces.
    pub signature: Signature,
    /// When the challenge ends.
    pub expires_at: Timestamp,
}

/// Exchanges a one-time code: registers the key of a browser.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenSession {
    /// The code from the URL's fragment.
    #[schemars(regex(pattern = "^[0-9a-f]{32}$"))]
    pub code: String,
    /// The nonce that the daemon's proof was asked with.
    pub nonce: Nonce,
    /// The daemon's nonce.
    pub challenge: Nonce,
    /// The browser's public key.
    pub public_key: PublicKey,
    /// The browser's signature over code, key, address, the daemon's key and both nonces.
    pub signature: Signature,
}

/// Asks for a bearer of a session.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProveSession {
    /// The session.
    pub session_id: ConsoleSessionId,
    /// The nonce that the daemon's proof was asked with.
    pub nonce: Nonce,
    /// The daemon's nonce.
    pub challenge: Nonce,
    /// The browser's signature over session, address, the daemon's key and both nonces.
    pub signature: Signature,
}

/// A console bearer.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The bearer; it belongs into the memory of a page and nowhere else.
    #[schemars(length(max = 4096))]
    pub token: String,
    /// When it ends.
    pub expires_at: Timestamp,
    /// The session it belongs to.
    pub session_id: ConsoleSessionId,
    /// When the session ends.
    pub session_expires_at: Timestamp,
}

/// A browser that may open the console.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionLine {
    /// Names the session.
    pub id: ConsoleSessionId,
    /// The browser, in a few words.
    pub browser: BrowserName,
    /// When its code was exchanged.
    pub created_at: Timestamp,
    /// When it last got a bearer.
    pub last_used_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Timestamp,
}

impl From<&ConsoleSession> for SessionLine {
    fn from(session: &ConsoleSession) -> Self {
        Self {
            id: session.id.clone(),
            browser: session.browser.clone(),
            created_at: session.created_at,
            last_used_at: session.last_used_at,
            expires_at: session.expires_at(),
        }
    }
}

/// The browsers that may open the console.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionsAnswer {
    /// The sessions, the one used last first.
    #[schemars(length(max = 64))]
    pub sessions: Vec<SessionLine>,
}

/// The sessions that were ended.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RevokedAnswer {
    /// The sessions; their bearers are refused from now on.
    #[schemars(length(max = 64))]
    pub revoked: Vec<SessionLine>,
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
    /// This revision, as it looked, instead of the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
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
