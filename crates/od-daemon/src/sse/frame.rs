//! One event as it stands on the wire, and its id.

use std::fmt;

use hyper::body::Bytes;

/// Names an event: which start of the daemon, and its number since.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct EventId {
    pub(crate) epoch: u64,
    pub(crate) number: u64,
}

impl EventId {
    /// Reads an id that a follower sends back.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (epoch, number) = text.split_once('-')?;
        Some(Self { epoch: u64::from_str_radix(epoch, 16).ok()?, number: number.parse().ok()? })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{}", self.epoch, self.number)
    }
}

/// One event, framed once for all who follow.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) project: String,
    pub(crate) bytes: Bytes,
}

impl Frame {
    /// Frames an event. `data` is one line of JSON.
    pub(crate) fn new(id: EventId, project: &str, name: &str, data: &str) -> Self {
        Self { project: project.to_owned(), bytes: framed(id, name, data) }
    }

    /// The first frame of every stream.
    pub(crate) fn ready(id: EventId, resumed: bool) -> Bytes {
        framed(id, "ready", if resumed { r#"{"resumed":true}"# } else { r#"{"resumed":false}"# })
    }

    /// Tells a follower that it may have missed something and should read everything again.
    pub(crate) fn resync(id: EventId) -> Bytes {
        framed(id, "resync", "{}")
    }
}

fn framed(id: EventId, name: &str, data: &str) -> Bytes {
    debug_assert!(!data.contains(['\n', '\r']), "event data is one line");
    Bytes::from(format!("id: {id}\nevent: {name}\ndata: {data}\n\n"))
}
