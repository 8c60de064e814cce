//! Authorization: from the bearer of a request to an identity, by the route's access.

use hyper::header::{self, HeaderMap};
use od_app::Caller;
use od_app::runs::{Authorize, authorize};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ConsoleSessionId, Timestamp};
use od_core::ledger::Door;
use od_core::token::{Claims, ConsoleClaims, Endpoint, PreviewClaims, TokenKind, VerifiedToken};
use od_ports::access::token_authority::VerifyError;
use od_wire::route::{Access, DOOR_HEADER, Route};

use crate::daemon::Daemon;

/// The sender of a request, as far as its bearer shows.
#[derive(Clone, Debug)]
pub(crate) enum Identity {
    /// Nobody in particular.
    Anyone,
    /// The person, until the bearer ends.
    Person {
        /// When the bearer ends: nothing that was opened with it outlives it.
        until: Timestamp,
        /// The door they came through.
        door: Door,
        /// The session of their browser, if they came through one.
        session: Option<ConsoleSessionId>,
    },
    /// The agent of a live run.
    Agent(Caller),
}

/// Decides whether the bearer of a request opens a route.
pub(crate) async fn identify(
    daemon: &Daemon,
    route: &Route,
    headers: &HeaderMap,
) -> Result<Identity, Failure> {
    match route.access {
        Access::Open => Ok(Identity::Anyone),
        Access::Person => person(daemon, headers),
        Access::Terminal => terminal(daemon, headers),
        Access::Tool(endpoint) => agent(daemon, headers, Some(endpoint)).await,
        Access::AnyTool => agent(daemon, headers, None).await,
    }
}

/// Opens a preview ticket.
pub(crate) fn verify_ticket(daemon: &Daemon, ticket: &str) -> Result<PreviewClaims, Failure> {
    let verified = verify(daemon, ticket)?;
    match verified.claims() {
        // Whoever took the preview port of a dead daemon was sent the tickets of open pages.
        Claims::Preview(claims) if claims.issued_at < daemon.started_at => Err(for_another()),
        Claims::Preview(claims) => Ok(claims.clone()),
        Claims::Tool(_) | Claims::Cli(_) | Claims::Console(_) => Err(wrong_kind(&verified)),
    }
}

fn person(daemon: &Daemon, headers: &HeaderMap) -> Result<Identity, Failure> {
    let verified = verify(daemon, bearer(headers).ok_or_else(no_bearer)?)?;
    match verified.claims() {
        Claims::Console(claims) if claims.audience == daemon.audiences.terminal => {
            console(daemon, claims)
        }
        Claims::Cli(claims) if claims.audience == daemon.audiences.terminal => {
            let door = said_door(headers, &[Door::CommandLine]);
            Ok(Identity::Person { until: claims.expires_at, door, session: None })
        }
        Claims::Console(_) | Claims::Cli(_) => Err(for_another()),
        Claims::Tool(_) | Claims::Preview(_) => Err(wrong_kind(&verified)),
    }
}

/// A bearer ends with its session: at once if the person revokes that.
fn console(daemon: &Daemon, claims: &ConsoleClaims) -> Result<Identity, Failure> {
    let session = &claims.session_id;
    match od_app::sessions::find(&daemon.app, session, &daemon.audiences.console) {
        Ok(Some(_)) => Ok(Identity::Person {
            until: claims.expires_at,
            door: Door::Console,
            session: Some(session.clone()),
        }),
        Ok(None) => {
            Err(Failure::new(ErrorCode::Unauthorized, "the session has ended")
                .suggest(SUGGEST_SESSION))
        }
        Err(error) => {
            tracing::error!(%error, "the sessions cannot be read: every bearer is refused");
            Err(Failure::new(ErrorCode::Unauthorized, "no session can be checked")
                .suggest("`od doctor` says what is wrong with OD_HOME"))
        }
    }
}

fn terminal(daemon: &Daemon, headers: &HeaderMap) -> Result<Identity, Failure> {
    let verified = verify(daemon, bearer(headers).ok_or_else(no_bearer)?)?;
    match verified.claims() {
        Claims::Cli(claims) if claims.audience == daemon.audiences.terminal => {
            let door = said_door(headers, &[Door::CommandLine]);
            Ok(Identity::Person { until: claims.expires_at, door, session: None })
        }
        Claims::Cli(_) => Err(for_another()),
        Claims::Console(_) => {
            Err(Failure::new(ErrorCode::Forbidden, "the console cannot make codes for itself")
                .suggest("run `od open`"))
        }
        Claims::Tool(_) | Claims::Preview(_) => Err(wrong_kind(&verified)),
    }
}

/// The rules are the use case's; every refusal names the endpoint and the operation it was about.
async fn agent(
    daemon: &Daemon,
    headers: &HeaderMap,
    endpoint: Option<Endpoint>,
) -> Result<Identity, Failure> {
    let request = Authorize { token: bearer(headers), endpoint };
    let through = |caller| match caller {
        Caller::Agent { run, project, .. } => {
            let door = said_door(headers, &[Door::Mcp, Door::ToolShell]);
            Identity::Agent(Caller::Agent { run, project, door })
        }
        other @ (Caller::Person | Caller::PersonVia(_) | Caller::Schedule) => {
            Identity::Agent(other)
        }
    };
    authorize(&daemon.app, request).await.map(through).map_err(|error| {
        let failure = Failure::from(error);
        match endpoint {
            Some(endpoint) => failure
                .detail("endpoint", endpoint.as_str())
                .detail("operation", endpoint.operation().as_str()),
            None => failure,
        }
    })
}

/// Returns the door that the client says it is, if its token can belong to that one. It is written into
/// the timeline and decides nothing.
fn said_door(headers: &HeaderMap, possible: &[Door]) -> Door {
    let said = headers.get(DOOR_HEADER).and_then(|said| Door::from_word(said.to_str().ok()?));
    said.filter(|door| possible.contains(door)).unwrap_or(Door::Http)
}

fn verify(daemon: &Daemon, token: &str) -> Result<VerifiedToken, Failure> {
    let now = daemon.app.ports.clock.now();
    daemon.app.ports.tokens.verify(token, now).map_err(|error| match error {
        VerifyError::Token(error) => {
            Failure::new(ErrorCode::Unauthorized, error.to_string()).suggest(SUGGEST_SESSION)
        }
        VerifyError::Keyring(error) => {
            tracing::error!(%error, "the keyring cannot be read: every token is refused");
            Failure::new(ErrorCode::Unauthorized, "no token can be checked")
                .suggest("`od doctor` says what is wrong with the keyring")
        }
    })
}

const SUGGEST_SESSION: &str = "open the console again with `od open`";

fn no_bearer() -> Failure {
    Failure::new(ErrorCode::Unauthorized, "the request carries no bearer").suggest(SUGGEST_SESSION)
}

/// One keyring signs for every data directory: what was shown to one daemon is worth nothing at another.
fn for_another() -> Failure {
    Failure::new(ErrorCode::Unauthorized, "the token was made for another daemon")
        .suggest(SUGGEST_SESSION)
}

fn wrong_kind(verified: &VerifiedToken) -> Failure {
    let message = match verified.claims().kind() {
        TokenKind::Tool => "a tool token opens /api/tools/ only",
        TokenKind::Preview => "a preview ticket opens one page of the preview port only",
        TokenKind::Cli | TokenKind::Console => "this token opens nothing here",
    };
    Failure::new(ErrorCode::Unauthorized, message).suggest(SUGGEST_SESSION)
}

/// Returns the one bearer of a request. Two are none: nobody can say which one was meant.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (value, None) = (all.next()?, all.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn a_request_has_one_bearer_or_none() {
        let mut headers = HeaderMap::new();
        assert_eq!(bearer(&headers), None);
        headers.append(header::AUTHORIZATION, HeaderValue::from_static("bearer abc"));
        assert_eq!(bearer(&headers), Some("abc"));
        headers.append(header::AUTHORIZATION, HeaderValue::from_static("Bearer abc"));
        assert_eq!(bearer(&headers), None);
        for value in ["Basic abc", "Bearer", "Bearer ", "abc", "Bearer\u{a0}x"] {
            let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) else { continue };
            headers.insert(header::AUTHORIZATION, value);
            assert_eq!(bearer(&headers), None);
        }
    }
}
