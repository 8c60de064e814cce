//! The state that both doors share.

use std::sync::Arc;
use std::time::Instant;

use od_app::App;
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{Audience, Timestamp, TokenId};
use od_core::token::Claims;

use crate::event_streams::EventHub;
use crate::http::access_log::{AccessLog, RequestIds};
use crate::http::lookup::RouteIndex;
use crate::http::reply::Policies;
use crate::in_flight::InFlight;
use crate::routes::mcp::McpServer;
use crate::sign_in_codes::{Code, Waiting};
use crate::views::Console;

/// The state of a running daemon.
#[derive(Debug)]
pub(crate) struct Daemon {
    pub(crate) app: Arc<App>,
    pub(crate) routes: RouteIndex,
    pub(crate) policies: Policies,
    pub(crate) hub: Arc<EventHub>,
    /// One-time codes of the console.
    pub(crate) codes: Waiting,
    /// Challenges that pages have to answer.
    pub(crate) challenges: Waiting,
    /// The key by which browsers know this daemon, as a link names it.
    pub(crate) fingerprint: String,
    pub(crate) request_ids: RequestIds,
    pub(crate) access_log: AccessLog,
    pub(crate) in_flight: Arc<InFlight>,
    /// Wakes the clock: a schedule was changed by a request.
    pub(crate) schedule_changed: tokio::sync::Notify,
    /// Answers messages of the Model Context Protocol, if this program does.
    pub(crate) mcp: Option<Arc<dyn McpServer>>,
    pub(crate) urls: Urls,
    pub(crate) audiences: Audiences,
    pub(crate) started_at: Timestamp,
    pub(crate) started: Instant,
}

impl Daemon {
    /// Returns random bytes.
    pub(crate) fn random<const N: usize>(&self) -> Result<[u8; N], Failure> {
        let mut bytes = [0; N];
        match self.app.ports.entropy.fill(&mut bytes) {
            Ok(()) => Ok(bytes),
            Err(error) => Err(Failure::new(ErrorCode::Internal, error.to_string())),
        }
    }

    /// Returns the console's start page with a one-time code in its fragment, and the name of the key that
    /// the page has to find here before it shows the code to anybody.
    pub(crate) fn console_with_code(&self, code: &Code) -> String {
        format!("{}/#code={}&daemon={}", self.urls.api, code.as_str(), self.fingerprint)
    }

    /// Makes the name of a new token.
    pub(crate) fn token_id(&self) -> Result<TokenId, Failure> {
        let bytes: [u8; 16] = self.random()?;
        let name: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        name.parse().map_err(|_| Failure::new(ErrorCode::Internal, "no token can be named"))
    }

    /// Signs claims.
    pub(crate) fn sign(&self, claims: &Claims) -> Result<String, Failure> {
        self.app.ports.tokens.sign(claims).map_err(|error| {
            Failure::new(ErrorCode::Internal, format!("no token can be made: {error}"))
                .suggest("`od doctor` says what is wrong with the keyring")
        })
    }
}

/// The audiences that a token has to name to be taken here.
#[derive(Clone, Debug)]
pub(crate) struct Audiences {
    /// Of a browser's session, which goes on after a restart: the data directory.
    pub(crate) console: Audience,
    /// Of bearers and of the command line, which prove the daemon anew each time: this start of it.
    pub(crate) terminal: Audience,
}

/// The addresses of the two doors.
#[derive(Clone, Debug)]
pub(crate) struct Urls {
    pub(crate) api: String,
    pub(crate) preview: String,
    pub(crate) console: Console,
}

impl Urls {
    /// Returns the address of the API, `host:port`.
    pub(crate) fn address(&self) -> &str {
        self.api.strip_prefix("http://").unwrap_or(&self.api)
    }
}
