//! Sessions of the console: a browser registers its key with a one-time code, gets bearers for a
//! signature, and is shut out by the person.

use od_core::console::{BrowserName, ConsoleSession, Meeting, Nonce, PublicKey, Signature};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{Audience, ConsoleSessionId};
use od_ports::access::console_sessions::SessionsError;
use od_ports::system::EntropyError;

use crate::{App, Caller, Mode, PersonOnly};

/// The daemon's half of a proof.
#[derive(Clone, Debug)]
pub struct Challenge {
    /// The daemon's nonce, which the page has to sign.
    pub nonce: Nonce,
    /// The daemon's key.
    pub daemon: PublicKey,
    /// The daemon's signature over the meeting.
    pub signature: Signature,
}

/// Answers a page's nonce with the daemon's proof. It is worth something to this page at this address only.
pub fn challenge(
    app: &App,
    address: &str,
    page_nonce: &Nonce,
) -> Result<Challenge, ChallengeError> {
    let mut entropy = [0; 16];
    app.ports.entropy.fill(&mut entropy)?;
    let nonce = Nonce::generate(entropy);
    let daemon = app.ports.sessions.daemon_key()?;
    let meeting = Meeting { address, daemon: &daemon, page_nonce, daemon_nonce: &nonce };
    let signature = app.ports.sessions.sign(&meeting.daemon_text())?;
    Ok(Challenge { nonce, daemon, signature })
}

/// The reason for no challenge.
#[derive(Debug, thiserror::Error)]
pub enum ChallengeError {
    /// The system gave no random bytes.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
    /// The daemon's key cannot be used.
    #[error(transparent)]
    Sessions(#[from] SessionsError),
}

/// Where and how page and daemon met. That the daemon's nonce is its own, recent and not used before is for
/// the caller to know: it made it.
#[derive(Clone, Debug)]
pub struct Met<'a> {
    /// The daemon's address, `host:port`.
    pub address: &'a str,
    /// The data directory.
    pub audience: &'a Audience,
    /// The page's nonce.
    pub page_nonce: Nonce,
    /// The daemon's nonce.
    pub daemon_nonce: Nonce,
    /// The page's signature.
    pub signature: Signature,
}

impl Met<'_> {
    fn meeting<'m>(&'m self, daemon: &'m PublicKey) -> Meeting<'m> {
        let Self { address, page_nonce, daemon_nonce, .. } = self;
        Meeting { address, daemon, page_nonce, daemon_nonce }
    }
}

/// Registers the key of a browser that has shown a one-time code.
pub fn register(
    app: &App,
    met: &Met<'_>,
    code: &str,
    public_key: PublicKey,
    browser: BrowserName,
) -> Result<ConsoleSession, ProveError> {
    let daemon = app.ports.sessions.daemon_key()?;
    let text = met.meeting(&daemon).registration_text(code, &public_key);
    if !public_key.signed(&text, &met.signature) {
        return Err(ProveError::Signature);
    }
    let mut entropy = [0; 6];
    app.ports.entropy.fill(&mut entropy)?;
    let now = app.ports.clock.now();
    let session = ConsoleSession {
        id: ConsoleSessionId::generate(entropy),
        audience: met.audience.clone(),
        address: met.address.to_owned(),
        public_key,
        browser,
        created_at: now,
        last_used_at: now,
    };
    app.ports.sessions.add(session.clone())?;
    Ok(session)
}

/// Lets the browser of a session prove itself, and notes that it did.
pub fn prove(
    app: &App,
    met: &Met<'_>,
    id: &ConsoleSessionId,
) -> Result<ConsoleSession, ProveError> {
    let daemon = app.ports.sessions.daemon_key()?;
    // Of this data directory: a browser that was let in to another one of the same home is a stranger
    // here.
    let session = find(app, id, met.audience)?.ok_or(ProveError::Ended)?;
    // The key belongs to the pages of another address, which may be somebody else's by now.
    if session.address != met.address {
        return Err(ProveError::Ended);
    }
    if !session.public_key.signed(&met.meeting(&daemon).bearer_text(id), &met.signature) {
        return Err(ProveError::Signature);
    }
    app.ports.sessions.note_use(id, app.ports.clock.now())?;
    Ok(session)
}

/// Returns a session that is neither revoked nor over, if it belongs here.
pub fn find(
    app: &App,
    id: &ConsoleSessionId,
    audience: &Audience,
) -> Result<Option<ConsoleSession>, SessionsError> {
    let now = app.ports.clock.now();
    let found = app.ports.sessions.get(id)?;
    Ok(found.filter(|session| session.audience == *audience && session.is_live(now)))
}

/// The reason for no bearer.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    /// The session was revoked, is over, or never was.
    #[error("the session has ended")]
    Ended,
    /// The signature is not the browser's.
    #[error("the signature is not that of this session's browser")]
    Signature,
    /// The system gave no random bytes.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
    /// The sessions cannot be used.
    #[error(transparent)]
    Sessions(#[from] SessionsError),
}

/// Lists the sessions that are not over, the one used last first. Only a person may.
pub fn list(app: &App, caller: &Caller) -> Result<Vec<ConsoleSession>, ListSessionsError> {
    caller.require_person()?;
    let now = app.ports.clock.now();
    Ok(app.ports.sessions.list()?.into_iter().filter(|session| session.is_live(now)).collect())
}

/// The reason for no list of sessions.
#[derive(Debug, thiserror::Error)]
pub enum ListSessionsError {
    /// An agent asked.
    #[error(transparent)]
    PersonOnly(#[from] PersonOnly),
    /// The sessions cannot be used.
    #[error(transparent)]
    Sessions(#[from] SessionsError),
}

/// The sessions that a person ends.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Revoke {
    /// One.
    One(ConsoleSessionId),
    /// Every one of this home.
    All,
}

/// Ends sessions, and with them every bearer that they got. Only a person may. Returns the sessions.
pub fn revoke(
    app: &App,
    caller: &Caller,
    which: &Revoke,
    mode: Mode,
) -> Result<Vec<ConsoleSession>, RevokeSessionError> {
    caller.require_person()?;
    let all = app.ports.sessions.list()?;
    let ended = match which {
        Revoke::All => all,
        Revoke::One(id) => match all.into_iter().find(|session| session.id == *id) {
            Some(session) => vec![session],
            None => return Err(RevokeSessionError::NotFound { id: id.clone() }),
        },
    };
    match mode {
        Mode::DryRun => Ok(ended),
        Mode::Commit => {
            let ids: Vec<_> = ended.into_iter().map(|session| session.id).collect();
            Ok(app.ports.sessions.revoke(&ids)?)
        }
    }
}

/// The reason for no revocation.
#[derive(Debug, thiserror::Error)]
pub enum RevokeSessionError {
    /// An agent asked.
    #[error(transparent)]
    PersonOnly(#[from] PersonOnly),
    /// There is no such session.
    #[error("there is no session `{id}`")]
    NotFound {
        /// The id.
        id: ConsoleSessionId,
    },
    /// The sessions cannot be used.
    #[error(transparent)]
    Sessions(#[from] SessionsError),
}

fn unusable(err: &SessionsError) -> Failure {
    let fix = match err {
        SessionsError::Damaged { .. } => {
            "move sessions.json (or daemon.key) in OD_HOME/keys away, and open the console with `od open`"
        }
        SessionsError::Unavailable { .. } => "check permissions and free space of OD_HOME/keys",
    };
    Failure::new(ErrorCode::Internal, err.to_string()).suggest(fix)
}

const OPEN_AGAIN: &str = "open the console again with `od open`";

impl From<ChallengeError> for Failure {
    fn from(err: ChallengeError) -> Self {
        match err {
            ChallengeError::Entropy(error) => Self::new(ErrorCode::Internal, error.to_string()),
            ChallengeError::Sessions(error) => unusable(&error),
        }
    }
}

impl From<ProveError> for Failure {
    fn from(err: ProveError) -> Self {
        match err {
            ProveError::Ended | ProveError::Signature => {
                Self::new(ErrorCode::Unauthorized, err.to_string()).suggest(OPEN_AGAIN)
            }
            ProveError::Entropy(error) => Self::new(ErrorCode::Internal, error.to_string()),
            ProveError::Sessions(error) => unusable(&error),
        }
    }
}

impl From<ListSessionsError> for Failure {
    fn from(err: ListSessionsError) -> Self {
        match err {
            ListSessionsError::PersonOnly(error) => error.into(),
            ListSessionsError::Sessions(error) => unusable(&error),
        }
    }
}

impl From<RevokeSessionError> for Failure {
    fn from(err: RevokeSessionError) -> Self {
        match err {
            RevokeSessionError::PersonOnly(error) => error.into(),
            RevokeSessionError::NotFound { .. } => Self::new(ErrorCode::NotFound, err.to_string())
                .suggest("`od sessions list` shows those there are"),
            RevokeSessionError::Sessions(error) => unusable(&error),
        }
    }
}
