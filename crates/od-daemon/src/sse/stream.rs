//! One follower's stream, as a response body.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::Bytes;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, Sleep, interval_at, sleep};

use super::hub::FollowerPlace;

/// The pause after which a silent stream says that it is alive: well below the 45 s after which the
/// console takes the line for dead.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);

/// The events of one follower, with a heartbeat, until it leaves, is dropped, or its time is over.
#[derive(Debug)]
pub(crate) struct EventStream {
    backlog: VecDeque<Bytes>,
    frames: mpsc::Receiver<Bytes>,
    heartbeat: Interval,
    /// When the authority it was opened with ends.
    ends: Option<Pin<Box<Sleep>>>,
    _place: FollowerPlace,
}

impl EventStream {
    pub(crate) fn new(
        backlog: VecDeque<Bytes>,
        frames: mpsc::Receiver<Bytes>,
        place: FollowerPlace,
    ) -> Self {
        let mut heartbeat = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { backlog, frames, heartbeat, ends: None, _place: place }
    }

    /// Ends the stream after `lifetime`, so that it does not outlive the bearer it was opened with.
    pub(crate) fn ending_after(mut self, lifetime: Duration) -> Self {
        self.ends = Some(Box::pin(sleep(lifetime)));
        self
    }

    /// Returns the next piece of the stream, or `None` at its end.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        // First of all: where there is always something to send, nothing after it would be reached.
        if let Some(ends) = &mut self.ends
            && ends.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(None);
        }
        if let Some(frame) = self.backlog.pop_front() {
            return Poll::Ready(Some(frame));
        }
        match self.frames.poll_recv(cx) {
            Poll::Ready(frame) => return Poll::Ready(frame),
            Poll::Pending => {}
        }
        match self.heartbeat.poll_tick(cx) {
            Poll::Ready(_) => Poll::Ready(Some(Bytes::from_static(b": alive\n\n"))),
            Poll::Pending => Poll::Pending,
        }
    }

    #[cfg(test)]
    pub(crate) fn backlog(&self) -> &VecDeque<Bytes> {
        &self.backlog
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use od_ports::EventSink as _;

    use super::*;
    use crate::sse::hub::EventHub;
    use crate::sse::tests::happened;

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_beats_and_ends_with_its_bearer() {
        let hub = EventHub::new(1);
        let mut stream =
            hub.follow(None, None).unwrap().ending_after(HEARTBEAT * 2 - HEARTBEAT / 2);
        let mut next = async || poll_fn(|cx| stream.poll_next(cx)).await;
        assert!(next().await.unwrap().starts_with(b"id: 1-0\nevent: ready"));
        assert_eq!(next().await.unwrap(), Bytes::from_static(b": alive\n\n"));
        assert_eq!(next().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_busy_stream_ends_with_its_bearer_too() {
        let hub = EventHub::new(1);
        let mut stream = hub.follow(None, None).unwrap().ending_after(HEARTBEAT);
        let mut next = async || poll_fn(|cx| stream.poll_next(cx)).await;
        assert!(next().await.is_some());
        hub.publish(happened("a", "x"));
        hub.publish(happened("a", "x"));
        assert!(next().await.is_some());
        tokio::time::advance(HEARTBEAT).await;
        assert_eq!(next().await, None, "although there is more to send");
    }

    #[tokio::test]
    async fn closing_the_hub_ends_the_stream_after_what_was_sent() {
        let hub = EventHub::new(1);
        let mut stream = hub.follow(None, None).unwrap();
        hub.publish(happened("a", "x"));
        hub.close();
        let mut next = async || poll_fn(|cx| stream.poll_next(cx)).await;
        assert!(next().await.unwrap().starts_with(b"id: 1-0"));
        assert!(next().await.unwrap().starts_with(b"id: 1-1"));
        assert_eq!(next().await, None);
    }
}
