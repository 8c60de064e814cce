//! Bodies: what goes out, and the bounded reading of what comes in.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Bytes, Frame, Incoming, SizeHint};
use hyper::header;
use hyper::http::request::Parts;
use od_core::limits::{self, Limit};
use tokio::time::timeout;

use super::connection_cap::Presence;
use crate::event_streams::EventStream;

/// The body of an answer.
#[derive(Debug)]
pub(crate) struct Body {
    content: Content,
    /// Keeps the connection in its place until the body is written.
    presence: Option<Presence>,
}

#[derive(Debug)]
enum Content {
    Whole(Bytes),
    Events(Box<EventStream>),
}

impl Body {
    pub(crate) const fn empty() -> Self {
        Self::whole(Bytes::new())
    }

    pub(crate) const fn whole(bytes: Bytes) -> Self {
        Self { content: Content::Whole(bytes), presence: None }
    }

    pub(crate) fn events(stream: EventStream) -> Self {
        Self { content: Content::Events(Box::new(stream)), presence: None }
    }

    /// Holds the connection's place until this body is written or dropped.
    pub(crate) fn hold(&mut self, presence: Presence) {
        self.presence = Some(presence);
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.content {
            Content::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Content::Events(stream) => {
                stream.poll_next(cx).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, Content::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Events(_) => SizeHint::default(),
        }
    }
}

/// The sender of a body, and with it how much of it is read and how long it may take.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Sender {
    /// Anybody: the route asks for no token.
    Anyone,
    /// Someone who showed a token.
    Known,
}

impl Sender {
    const fn limit(self) -> Limit {
        match self {
            Self::Anyone => limits::OPEN_REQUEST_BODY,
            Self::Known => limits::REQUEST_BODY,
        }
    }

    /// Returns the time that the whole body may take.
    const fn deadline(self) -> Limit {
        match self {
            Self::Anyone => limits::OPEN_BODY_TIMEOUT,
            Self::Known => limits::BODY_TIMEOUT,
        }
    }
}

/// Why a request body was not read.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum ReadBodyError {
    /// It is longer than allowed, or says that it will be.
    #[error("the request body is longer than {} bytes", .limit.allowed)]
    TooLarge {
        /// The limit.
        limit: Limit,
        /// The length it announces, or how much of it had come when reading stopped.
        measured: u64,
    },
    /// It did not arrive in time.
    #[error("the request body did not arrive within {} ms", .limit.allowed)]
    TooSlow {
        /// The time it had.
        limit: Limit,
    },
    /// The connection broke, or the framing did.
    #[error("the request body ended early")]
    Broken,
}

/// Reads a whole body within the bounds of its sender. Until it is there, the connection gives way
/// to others.
pub(crate) async fn read(
    head: &Parts,
    body: Incoming,
    sender: Sender,
) -> Result<Bytes, ReadBodyError> {
    let limit = sender.limit();
    // Refused before the first byte: a client that announces too much need not send it.
    let announced = head
        .headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if let Some(measured) = announced.filter(|length| *length > limit.allowed) {
        return Err(ReadBodyError::TooLarge { limit, measured });
    }
    // While a body is on its way its connection gives way to others: half-sent bodies of strangers once held
    // every place. Whoever showed a token is the last to go.
    let presence = head.extensions.get::<Presence>();
    match (presence, sender) {
        (Some(presence), Sender::Known) => presence.vouch(),
        (Some(_), Sender::Anyone) | (None, _) => {}
    }
    let deadline = sender.deadline();
    let collected =
        timeout(Duration::from_millis(deadline.allowed), Limited::new(body, limit.max()).collect())
            .await;
    if let Some(presence) = presence {
        presence.answer();
    }
    match collected {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(ReadBodyError::TooLarge { limit, measured: limit.allowed + 1 })
        }
        Ok(Err(_)) => Err(ReadBodyError::Broken),
        Err(_) => Err(ReadBodyError::TooSlow { limit: deadline }),
    }
}
