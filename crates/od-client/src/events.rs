//! Following the daemon's events.

use std::collections::VecDeque;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use od_wire::event::{EventName, StreamEvent};
use od_wire::route::Operation;

use crate::client::Client;
use crate::error::CallError;

/// The longest event that is read.
const EVENT_BYTES_MAX: usize = od_core::limits::CLIENT_EVENT.max();

/// One event as it came.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReceivedEvent {
    /// The id to resume from.
    pub id: String,
    /// The event.
    pub event: StreamEvent,
}

/// An open event stream.
#[derive(Debug)]
pub struct EventReader {
    url: String,
    body: Incoming,
    parser: FrameParser,
}

impl Client {
    /// Follows one project, or all of them, from `last_event_id` if given.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn follow(
        &self,
        project: Option<&str>,
        last_event_id: Option<&str>,
    ) -> Result<EventReader, CallError> {
        let call = match project {
            Some(project) => self.call(Operation::FollowProject).parameter(project),
            None => self.call(Operation::FollowAll),
        };
        let (route, target) = call.into_target();
        let request = self.request(route, &target, None, last_event_id)?;
        let response = self.send(request).await?;
        if response.status() != hyper::StatusCode::OK {
            return match self.read_whole(response).await {
                Err(error) => Err(error),
                Ok(_) => Err(CallError::Address { url: target }),
            };
        }
        Ok(EventReader {
            url: self.url().to_owned(),
            body: response.into_body(),
            parser: FrameParser::default(),
        })
    }
}

impl EventReader {
    /// Returns the next event, or `None` when the daemon has ended the stream.
    ///
    /// # Errors
    ///
    /// Fails when the connection breaks, or an event is not what its name promises.
    pub async fn next(&mut self) -> Result<Option<ReceivedEvent>, CallError> {
        loop {
            if let Some(Frame { id, name, data }) = self.parser.ready.pop_front() {
                // A newer daemon may send events that this program does not know.
                let Some(name) = EventName::from_word(&name) else { continue };
                let event = StreamEvent::read(name, &data)
                    .map_err(|source| CallError::Decode { source })?;
                return Ok(Some(ReceivedEvent { id, event }));
            }
            match self.body.frame().await {
                None => return Ok(None),
                Some(Ok(frame)) => {
                    if let Some(bytes) = frame.data_ref()
                        && !self.parser.push(bytes)
                    {
                        let url = self.url.clone();
                        return Err(CallError::TooLarge { url, allowed: EVENT_BYTES_MAX });
                    }
                }
                Some(Err(source)) => {
                    return Err(CallError::Broken { url: self.url.clone(), source });
                }
            }
        }
    }
}

/// One event as it stands on the wire.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Frame {
    id: String,
    name: String,
    data: String,
}

/// Splits the stream into frames, however the pieces arrive.
#[derive(Debug, Default)]
struct FrameParser {
    line: Vec<u8>,
    frame: Frame,
    ready: VecDeque<Frame>,
}

impl FrameParser {
    /// Takes a piece; false if an event grows beyond every bound.
    fn push(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            if *byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                self.end_line(&line);
            } else {
                self.line.push(*byte);
            }
        }
        self.line.len() + self.frame.data.len() <= EVENT_BYTES_MAX
    }

    fn end_line(&mut self, line: &[u8]) {
        // The end of a line is a byte that no longer character of UTF-8 contains: a line is whole text,
        // however the pieces were cut.
        let line = String::from_utf8_lossy(line);
        let line = line.strip_suffix('\r').unwrap_or(&line);
        if line.is_empty() {
            let frame = std::mem::take(&mut self.frame);
            // A comment ends with an empty line too, and gives a frame without a name.
            if !frame.name.is_empty() {
                self.ready.push_back(frame);
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => value.clone_into(&mut self.frame.id),
            "event" => value.clone_into(&mut self.frame.name),
            "data" => {
                if !self.frame.data.is_empty() {
                    self.frame.data.push('\n');
                }
                self.frame.data.push_str(value);
            }
            // A comment, which is the heartbeat, or a field of the future.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let stream = b": alive\n\nid: a-1\nevent: ready\ndata: {}\n\nid: a-2\nevent: x\ndata: 1\ndata: 2\n\n";
        let mut whole = FrameParser::default();
        assert!(whole.push(stream));
        assert_eq!(whole.ready.len(), 2);
        assert_eq!(whole.ready[1].data, "1\n2");
        for cut in 0..stream.len() {
            let mut parser = FrameParser::default();
            parser.push(&stream[..cut]);
            parser.push(&stream[cut..]);
            assert_eq!(parser.ready, whole.ready);
        }
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut parser = FrameParser::default();
        assert!(!parser.push(&vec![b'x'; EVENT_BYTES_MAX + 1]));
    }
}
