//! Why a call did not give what was asked for.

use std::io;
use std::time::Duration;

use od_core::error::{ErrorCode, Failure};
use od_wire::error::Envelope;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The daemon said no.
    #[error("{}", envelope.error.failure.message)]
    Refused {
        /// The status.
        status: u16,
        /// The envelope it came in.
        envelope: Envelope,
    },
    /// Nobody listens there.
    #[error("no daemon answers at {url}")]
    Unreachable {
        /// Where it was expected.
        url: String,
        /// What the system said.
        source: io::Error,
    },
    /// The daemon that was talked to has ended.
    #[error("the daemon of this data directory no longer serves {url}")]
    Gone {
        /// Where it was.
        url: String,
    },
    /// Another program than the run's daemon listens there.
    #[error("the program at {url} is not this run's daemon")]
    Impostor {
        /// Where it listens.
        url: String,
    },
    /// The daemon took too long.
    #[error("the daemon at {url} did not answer within {} s", after.as_secs())]
    TimedOut {
        /// Where it is.
        url: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// The address is not one a daemon has.
    #[error("`{url}` is not a daemon's address")]
    Address {
        /// The address given.
        url: String,
    },
    /// The bearer cannot stand in a header.
    #[error("the token is not one a daemon has made")]
    Bearer,
    /// The request could not be written.
    #[error("the request cannot be written as JSON")]
    Encode {
        /// Why not.
        source: serde_json::Error,
    },
    /// The answer is not what the contract says.
    #[error("the daemon's answer cannot be read")]
    Decode {
        /// Why not.
        source: serde_json::Error,
    },
    /// The connection broke, or somebody else listens there.
    #[error("the answer of {url} broke off or is not HTTP")]
    Broken {
        /// Where.
        url: String,
        /// What happened.
        source: hyper::Error,
    },
    /// The answer is longer than any answer of a daemon.
    #[error("the answer of {url} is longer than {allowed} bytes")]
    TooLarge {
        /// Where.
        url: String,
        /// The limit.
        allowed: usize,
    },
}

/// A refusal of our own, before anything is sent.
impl From<Failure> for CallError {
    fn from(failure: Failure) -> Self {
        let status = failure.code.http_status();
        Self::Refused { status, envelope: failure.into() }
    }
}

/// The daemon's own envelope, or one of ours around why there is none.
impl From<CallError> for Envelope {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused { envelope, .. } => envelope,
            CallError::Unreachable { .. }
            | CallError::Gone { .. }
            | CallError::Impostor { .. }
            | CallError::TimedOut { .. }
            | CallError::Address { .. }
            | CallError::Bearer
            | CallError::Encode { .. }
            | CallError::Decode { .. }
            | CallError::Broken { .. }
            | CallError::TooLarge { .. } => Failure::from(error).into(),
        }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused { envelope, .. } => envelope.error.failure,
            CallError::Unreachable { .. } => Self::new(ErrorCode::DaemonUnavailable, error.to_string())
                .suggest("start the daemon with `od serve`, or run the agent with `od run -- …`"),
            CallError::Gone { .. } => Self::new(ErrorCode::DaemonUnavailable, error.to_string())
                .suggest("run the command again: it starts a daemon if there is none"),
            CallError::Impostor { .. } => Self::new(ErrorCode::DaemonUnavailable, error.to_string())
                .suggest("nothing was sent to it; ask the person to start the agent again with `od run -- …`"),
            CallError::TimedOut { .. } => Self::new(ErrorCode::DaemonUnavailable, error.to_string())
                .suggest("look at the daemon's log; `od doctor` checks it"),
            CallError::Address { .. } => Self::new(ErrorCode::BadRequest, error.to_string())
                .suggest("give http://127.0.0.1 and the daemon's port"),
            CallError::Bearer => Self::new(ErrorCode::ToolTokenInvalid, error.to_string())
                .suggest("use the token of `od run` unchanged"),
            CallError::Encode { .. } => Self::new(ErrorCode::BadRequest, error.to_string())
                .suggest("this is a fault of od; please report it"),
            CallError::Broken { .. } => Self::new(ErrorCode::DaemonUnavailable, error.to_string())
                .suggest("the daemon ended during the call, or another program listens there; call again"),
            CallError::Decode { .. } | CallError::TooLarge { .. } => {
                Self::new(ErrorCode::Internal, error.to_string())
                    .suggest("`od doctor` checks that daemon and program are of one version")
            }
        }
    }
}
