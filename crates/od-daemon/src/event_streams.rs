//! Event streams (server-sent events): following them, the hub that sends every event once to every
//! follower with a bounded memory of the recent ones, and the stream of one follower.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::Bytes;
use od_app::Caller;
use od_core::console::ConsoleSession;
use od_core::error::Failure;
use od_core::event::Event;
use od_core::ids::{ConsoleSessionId, ProjectId};
use od_ports::EventSink;
use od_wire::event::{Ready, Resync, StreamEvent};
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, Sleep, interval_at, sleep};

use crate::auth::Identity;
use crate::exchange::Exchange;
use crate::http::reply::Reply;

/// Frames kept for followers who come back.
const REPLAY_FRAMES_MAX: usize = od_core::limits::EVENT_REPLAY.max();
/// Their bytes.
const REPLAY_BYTES_MAX: usize = od_core::limits::EVENT_REPLAY_BYTES.max();
/// Frames waiting for one follower; a follower who is further behind is dropped and resumes later.
const QUEUE_FRAMES_MAX: usize = od_core::limits::EVENT_QUEUE.max();
/// Followers at once.
const FOLLOWERS_MAX: usize = od_core::limits::EVENT_STREAMS.max();

/// The pause after which a silent stream says that it is alive: well below the 45 s after which the
/// console takes the line for dead.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Follows one project, which has to exist.
pub(crate) async fn follow_project(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let project = exchange.project()?;
    // A stream of a project that is not there would be silent for good, and look like one where nothing
    // happens.
    od_app::projects::get(&exchange.daemon.app, &Caller::Person, project.clone()).await?;
    follow(exchange, Some(project))
}

/// Follows every project.
pub(crate) fn follow_all(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    follow(exchange, None)
}

fn follow(exchange: &Exchange<'_>, project: Option<ProjectId>) -> Result<Reply, Failure> {
    let after = exchange.head.headers.get("last-event-id").map(|id| id.to_str().unwrap_or(""));
    let session = match &exchange.identity {
        Identity::Person { session, .. } => session.clone(),
        Identity::Anyone | Identity::Agent(_) => None,
    };
    let stream = exchange.daemon.hub.follow_as(session, project, after)?;
    // A stream does not outlive the bearer it was opened with.
    let stream = match exchange.identity {
        Identity::Person { until, .. } => {
            let now = exchange.daemon.app.ports.clock.now();
            stream.ending_after(Duration::from_millis(until.ms_since(now)))
        }
        Identity::Anyone | Identity::Agent(_) => stream,
    };
    Ok(Reply::Events(stream))
}

/// Fans events out to followers.
///
/// Publishing never waits: a follower whose queue is full loses its place and resumes from the
/// replay buffer when it connects again.
#[derive(Debug)]
pub(crate) struct EventHub {
    /// Differs between two starts, so that an id of an earlier daemon is recognised as such.
    epoch: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: u64,
    replay: VecDeque<Frame>,
    replay_bytes: usize,
    followers: BTreeMap<u64, Follower>,
    next_follower: u64,
    closed: bool,
}

#[derive(Debug)]
struct Follower {
    session: Option<ConsoleSessionId>,
    project: Option<ProjectId>,
    queue: mpsc::Sender<Bytes>,
}

impl Follower {
    fn wants(&self, frame: &Frame) -> bool {
        self.project.as_ref().is_none_or(|project| *project == frame.project)
    }
}

/// An event of a project, framed once for all who follow.
#[derive(Clone, Debug)]
struct Frame {
    project: ProjectId,
    bytes: Bytes,
}

/// Names an event: which start of the daemon, and its number since.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct EventId {
    epoch: u64,
    number: u64,
}

impl EventId {
    /// Reads an id that a follower sends back.
    fn parse(text: &str) -> Option<Self> {
        let (epoch, number) = text.split_once('-')?;
        Some(Self { epoch: u64::from_str_radix(epoch, 16).ok()?, number: number.parse().ok()? })
    }

    /// Writes an event under this id, as it stands on the wire.
    fn frame(self, event: &StreamEvent) -> Bytes {
        let (name, data) = (event.name().as_str(), event.data());
        Bytes::from(format!("id: {self}\nevent: {name}\ndata: {data}\n\n"))
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{}", self.epoch, self.number)
    }
}

/// Why nobody more can follow.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum FollowError {
    /// Every place is taken.
    #[error("all {FOLLOWERS_MAX} event streams are in use")]
    Full,
    /// The daemon is shutting down.
    #[error("the daemon is shutting down")]
    Closed,
}

impl EventSink for EventHub {
    fn publish(&self, event: Event) {
        let project = event.project().clone();
        let mut state = self.lock();
        // Numbered, queued and kept under one lock: in another order a follower that comes in between
        // would get an event twice or never.
        state.last += 1;
        let id = EventId { epoch: self.epoch, number: state.last };
        let frame = Frame { project, bytes: id.frame(&StreamEvent::Happened(event)) };
        // A full queue is a follower who does not read. Waiting for him would make whoever
        // committed wait, and queueing more would let him take the daemon's memory: he is dropped,
        // and the replay buffer has what he missed when he connects again.
        state
            .followers
            .retain(|_, to| !to.wants(&frame) || to.queue.try_send(frame.bytes.clone()).is_ok());
        state.replay_bytes += frame.bytes.len();
        state.replay.push_back(frame);
        // The newest is kept whatever its size: a stream that resumes before it is told of a gap.
        while state.replay.len() > 1
            && (state.replay.len() > REPLAY_FRAMES_MAX || state.replay_bytes > REPLAY_BYTES_MAX)
        {
            let Some(gone) = state.replay.pop_front() else { break };
            state.replay_bytes -= gone.bytes.len();
        }
    }
}

impl EventHub {
    pub(crate) fn new(epoch: u64) -> Arc<Self> {
        Arc::new(Self { epoch, state: Mutex::default() })
    }

    /// Starts following for nobody's session; see [`Self::follow_as`].
    #[cfg(test)]
    pub(crate) fn follow(
        self: &Arc<Self>,
        project: Option<ProjectId>,
        after: Option<&str>,
    ) -> Result<EventStream, FollowError> {
        self.follow_as(None, project, after)
    }

    /// Starts following one project, or all of them, from `after` if that is still remembered. The stream
    /// ends with the session.
    pub(crate) fn follow_as(
        self: &Arc<Self>,
        session: Option<ConsoleSessionId>,
        project: Option<ProjectId>,
        after: Option<&str>,
    ) -> Result<EventStream, FollowError> {
        let mut state = self.lock();
        if state.closed {
            return Err(FollowError::Closed);
        }
        if state.followers.len() >= FOLLOWERS_MAX {
            return Err(FollowError::Full);
        }
        let (queue, frames) = mpsc::channel(QUEUE_FRAMES_MAX);
        let follower = Follower { session, project, queue };
        // Worked out while the lock is held that the follower is added under: no event falls between the
        // two.
        let backlog = self.backlog(&state, &follower, after);
        let key = state.next_follower;
        state.next_follower += 1;
        state.followers.insert(key, follower);
        let place = FollowerPlace { key, hub: Arc::clone(self) };
        Ok(EventStream::new(backlog, frames, place))
    }

    /// Ends every stream and takes no new ones.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.followers.clear();
    }

    /// Ends the streams of these sessions.
    pub(crate) fn end_sessions(&self, ended: &[ConsoleSession]) {
        let is_ended = |id: &ConsoleSessionId| ended.iter().any(|session| session.id == *id);
        self.lock()
            .followers
            .retain(|_, follower| !follower.session.as_ref().is_some_and(is_ended));
    }

    /// Returns how many follow.
    pub(crate) fn follower_count(&self) -> usize {
        self.lock().followers.len()
    }

    /// Returns the first frames of a new follower: `ready` at the point it resumes from and everything since,
    /// or `ready` and, when something may have been missed, `resync`.
    fn backlog(&self, state: &State, follower: &Follower, after: Option<&str>) -> VecDeque<Bytes> {
        let ready = |at: EventId, resumed| at.frame(&StreamEvent::Ready(Ready { resumed }));
        let now = EventId { epoch: self.epoch, number: state.last };
        let Some(after) = after else {
            return VecDeque::from([ready(now, false)]);
        };
        // The number before the first that is kept: whoever has that one has missed nothing.
        let oldest = state.last - state.replay.len() as u64;
        match EventId::parse(after) {
            Some(id) if id.epoch == self.epoch && (oldest..=state.last).contains(&id.number) => {
                let missed = state.replay.iter().skip((id.number - oldest) as usize);
                std::iter::once(ready(id, true))
                    .chain(missed.filter(|f| follower.wants(f)).map(|f| f.bytes.clone()))
                    .collect()
            }
            Some(_) | None => {
                VecDeque::from([ready(now, false), now.frame(&StreamEvent::Resync(Resync {}))])
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A follower's place, given up when the stream is dropped.
#[derive(Debug)]
pub(crate) struct FollowerPlace {
    key: u64,
    hub: Arc<EventHub>,
}

impl Drop for FollowerPlace {
    fn drop(&mut self) {
        self.hub.lock().followers.remove(&self.key);
    }
}

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
        // A stream that was not polled for a while says once that it is alive, not once for each heartbeat
        // it missed.
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

    use od_core::artifact::RefreshStatus;
    use od_core::event::{ArtifactAction, ArtifactEvent};

    use super::*;

    /// Returns an event of a project.
    fn happened(project: &str, title: &str) -> Event {
        Event::Artifact(ArtifactEvent {
            action: ArtifactAction::Updated,
            project_id: project.parse().unwrap(),
            artifact_id: "la-1".parse().unwrap(),
            title: title.to_owned(),
            refresh_status: RefreshStatus::Idle,
            run_id: None,
        })
    }

    fn text(frames: &VecDeque<Bytes>) -> Vec<String> {
        frames.iter().map(|f| String::from_utf8(f.to_vec()).unwrap()).collect()
    }

    #[tokio::test]
    async fn a_follower_who_comes_back_gets_what_it_missed_and_only_its_project() {
        let hub = EventHub::new(7);
        for (project, title) in [("a", "1"), ("b", "2"), ("a", "3")] {
            hub.publish(happened(project, title));
        }
        let stream = hub.follow(Some("a".parse().unwrap()), Some("7-1")).unwrap();
        let third = "{\"action\":\"updated\",\"projectId\":\"a\",\"artifactId\":\"la-1\",\
             \"title\":\"3\",\"refreshStatus\":\"idle\"}";
        assert_eq!(
            text(stream.backlog()),
            [
                "id: 7-1\nevent: ready\ndata: {\"resumed\":true}\n\n".to_owned(),
                format!("id: 7-3\nevent: live_artifact\ndata: {third}\n\n"),
            ]
        );
    }

    #[tokio::test]
    async fn beyond_the_buffer_or_after_a_restart_the_answer_is_resync() {
        let hub = EventHub::new(7);
        for _ in 0..=REPLAY_FRAMES_MAX {
            hub.publish(happened("a", "x"));
        }
        for id in ["7-0", "6-1025", "7-99999", "nonsense", ""] {
            let stream = hub.follow(None, Some(id)).unwrap();
            assert_eq!(
                text(stream.backlog()),
                [
                    "id: 7-1025\nevent: ready\ndata: {\"resumed\":false}\n\n",
                    "id: 7-1025\nevent: resync\ndata: {}\n\n",
                ],
                "{id}"
            );
        }
        let oldest_kept = hub.follow(None, Some("7-1")).unwrap();
        assert_eq!(oldest_kept.backlog().len(), 1 + REPLAY_FRAMES_MAX);
    }

    #[tokio::test]
    async fn a_follower_who_does_not_read_is_dropped_and_the_others_are_not() {
        let hub = EventHub::new(1);
        let slow = hub.follow(None, None).unwrap();
        for _ in 0..=QUEUE_FRAMES_MAX {
            hub.publish(happened("a", "x"));
        }
        assert_eq!(hub.follower_count(), 0);
        drop(slow);
        let _next = hub.follow(None, None).unwrap();
        assert_eq!(hub.follower_count(), 1);
    }

    #[tokio::test]
    async fn places_are_bounded_and_given_back() {
        let hub = EventHub::new(1);
        let mut streams: Vec<_> =
            (0..FOLLOWERS_MAX).map(|_| hub.follow(None, None).unwrap()).collect();
        assert_eq!(hub.follow(None, None).unwrap_err(), FollowError::Full);
        streams.pop();
        assert!(hub.follow(None, None).is_ok());
        hub.close();
        assert_eq!(hub.follow(None, None).unwrap_err(), FollowError::Closed);
    }

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
