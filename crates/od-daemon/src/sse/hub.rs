//! The event hub: every event once to every follower, with a bounded memory of the recent ones.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::body::Bytes;
use od_core::event::Event;
use od_core::ids::ProjectId;
use od_ports::EventSink;
use od_wire::event::{Ready, Resync, StreamEvent};
use tokio::sync::mpsc;

use super::stream::EventStream;

/// Frames kept for followers who come back.
pub(crate) const REPLAY_FRAMES_MAX: usize = 1024;
/// Frames waiting for one follower; a follower who is further behind is dropped and resumes later.
pub(crate) const QUEUE_FRAMES_MAX: usize = 256;
/// Followers at once.
pub(crate) const FOLLOWERS_MAX: usize = 256;

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
    followers: BTreeMap<u64, Follower>,
    next_follower: u64,
    closed: bool,
}

#[derive(Debug)]
struct Follower {
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
        state.last += 1;
        let id = EventId { epoch: self.epoch, number: state.last };
        let frame = Frame { project, bytes: id.frame(&StreamEvent::Happened(event)) };
        // A full queue is a follower who does not read. Waiting for him would make whoever
        // committed wait, and queueing more would let him take the daemon's memory: he is dropped,
        // and the replay buffer has what he missed when he connects again.
        state
            .followers
            .retain(|_, to| !to.wants(&frame) || to.queue.try_send(frame.bytes.clone()).is_ok());
        if state.replay.len() == REPLAY_FRAMES_MAX {
            state.replay.pop_front();
        }
        state.replay.push_back(frame);
    }
}

impl EventHub {
    pub(crate) fn new(epoch: u64) -> Arc<Self> {
        Arc::new(Self { epoch, state: Mutex::default() })
    }

    /// Starts following one project, or all of them, from `after` if that is still remembered.
    pub(crate) fn follow(
        self: &Arc<Self>,
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
        let follower = Follower { project, queue };
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

    fn leave(&self, key: u64) {
        self.lock().followers.remove(&key);
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
        self.hub.leave(self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sse::tests::happened;

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
}
