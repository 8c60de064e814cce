//! Bodies: what goes out, and the bounded reading of what comes in.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Bytes, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderMap};
use tokio::time::timeout;

use super::slots::Answering;
use crate::sse::stream::EventStream;

/// How long a client has to send a whole body.
pub(crate) const BODY_DEADLINE: Duration = Duration::from_secs(15);

/// The body of an answer.
#[derive(Debug)]
pub(crate) struct Body {
    content: Content,
    /// Keeps the connection in its place until the body is written.
    answering: Option<Answering>,
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
        Self { content: Content::Whole(bytes), answering: None }
    }

    pub(crate) fn events(stream: EventStream) -> Self {
        Self { content: Content::Events(Box::new(stream)), answering: None }
    }

    /// Holds the connection's place until this body is written or dropped.
    pub(crate) fn hold(&mut self, answering: Answering) {
        self.answering = Some(answering);
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

/// Why a request body was not read.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum ReadBodyError {
    /// It is longer than allowed, or says that it will be.
    #[error("the request body is longer than {allowed} bytes")]
    TooLarge {
        /// The limit.
        allowed: usize,
    },
    /// It did not arrive in time.
    #[error("the request body did not arrive within {} s", BODY_DEADLINE.as_secs())]
    TooSlow,
    /// The connection broke, or the framing did.
    #[error("the request body ended early")]
    Broken,
}

/// Reads a whole body of at most `allowed` bytes within the deadline.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: Incoming,
    allowed: usize,
) -> Result<Bytes, ReadBodyError> {
    // Refused before the first byte: a client that announces too much need not send it.
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > allowed as u64) {
        return Err(ReadBodyError::TooLarge { allowed });
    }
    match timeout(BODY_DEADLINE, Limited::new(body, allowed).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(ReadBodyError::TooLarge { allowed })
        }
        Ok(Err(_)) => Err(ReadBodyError::Broken),
        Err(_) => Err(ReadBodyError::TooSlow),
    }
}
