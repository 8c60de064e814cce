//! The event stream: the events of the core under their names, and two frames of the stream's own.

use od_core::event::{AgentEvent, AgentSubject, ArtifactEvent, CheckEvent, Event, RefreshEvent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One frame of a stream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum StreamEvent {
    /// The first of every stream.
    Ready(Ready),
    /// Something may have been missed.
    Resync(Resync),
    /// Something happened.
    Happened(Event),
}

/// The data of `ready`, the first event of every stream.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Ready {
    /// Whether the stream goes on from the id that was sent; false on a first connection, and when
    /// something may have been missed.
    pub resumed: bool,
}

/// The data of `resync`: read everything again.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Resync {}

/// The names of events on the wire.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EventName {
    /// [`Ready`].
    Ready,
    /// [`Resync`].
    Resync,
    /// [`ArtifactEvent`].
    Artifact,
    /// [`RefreshEvent`].
    Refresh,
    /// [`CheckEvent`].
    Check,
    /// [`AgentEvent`] about this.
    Agent(AgentSubject),
}

impl EventName {
    /// Every name, in the order of the reference.
    pub const ALL: [Self; 12] = [
        Self::Ready,
        Self::Resync,
        Self::Artifact,
        Self::Refresh,
        Self::Check,
        Self::Agent(AgentSubject::Session),
        Self::Agent(AgentSubject::Message),
        Self::Agent(AgentSubject::Tool),
        Self::Agent(AgentSubject::Plan),
        Self::Agent(AgentSubject::Permission),
        Self::Agent(AgentSubject::Usage),
        Self::Agent(AgentSubject::Error),
    ];

    /// Returns the name as it stands in a frame.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Resync => "resync",
            Self::Artifact => "live_artifact",
            Self::Refresh => "live_artifact_refresh",
            Self::Check => "live_artifact_check",
            Self::Agent(AgentSubject::Session) => "agent_session",
            Self::Agent(AgentSubject::Message) => "agent_message",
            Self::Agent(AgentSubject::Tool) => "agent_tool",
            Self::Agent(AgentSubject::Plan) => "agent_plan",
            Self::Agent(AgentSubject::Permission) => "agent_permission",
            Self::Agent(AgentSubject::Usage) => "agent_usage",
            Self::Agent(AgentSubject::Error) => "agent_error",
        }
    }

    /// Returns what a name stands for; a newer daemon may send others.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str() == word)
    }
}

impl StreamEvent {
    /// Returns the frame's name.
    #[must_use]
    pub fn name(&self) -> EventName {
        match self {
            Self::Ready(_) => EventName::Ready,
            Self::Resync(_) => EventName::Resync,
            Self::Happened(Event::Artifact(_)) => EventName::Artifact,
            Self::Happened(Event::Refresh(_)) => EventName::Refresh,
            Self::Happened(Event::Check(_)) => EventName::Check,
            Self::Happened(Event::Agent(event)) => EventName::Agent(event.what.subject()),
        }
    }

    /// Writes the frame's data as one line of JSON.
    #[must_use]
    pub fn data(&self) -> String {
        let written = match self {
            Self::Ready(data) => serde_json::to_string(data),
            Self::Resync(data) => serde_json::to_string(data),
            Self::Happened(Event::Artifact(data)) => serde_json::to_string(data),
            Self::Happened(Event::Refresh(data)) => serde_json::to_string(data),
            Self::Happened(Event::Check(data)) => serde_json::to_string(data),
            Self::Happened(Event::Agent(data)) => serde_json::to_string(data),
        };
        written.expect("events are plain structures of words and strings")
    }

    /// Reads the data of a frame by its name.
    ///
    /// # Errors
    ///
    /// Fails if the data is not what the name promises.
    pub fn read(name: EventName, data: &str) -> Result<Self, serde_json::Error> {
        match name {
            EventName::Ready => serde_json::from_str(data).map(Self::Ready),
            EventName::Resync => serde_json::from_str(data).map(Self::Resync),
            EventName::Artifact => serde_json::from_str::<ArtifactEvent>(data)
                .map(|event| Self::Happened(Event::Artifact(event))),
            EventName::Refresh => serde_json::from_str::<RefreshEvent>(data)
                .map(|event| Self::Happened(Event::Refresh(event))),
            EventName::Check => serde_json::from_str::<CheckEvent>(data)
                .map(|event| Self::Happened(Event::Check(event))),
            EventName::Agent(_) => serde_json::from_str::<AgentEvent>(data)
                .map(|event| Self::Happened(Event::Agent(Box::new(event)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use od_core::agent::Speaker;
    use od_core::artifact::RefreshStatus;
    use od_core::event::{AgentChange, ArtifactAction};
    use od_core::refresh::{CompactError, Notice};

    use super::*;

    #[test]
    fn every_event_reads_back_as_it_was_written() {
        let refresh = |notice| {
            let refresh = "refresh-000001".parse().unwrap();
            let (project, artifact) = ("p".parse().unwrap(), "la-a-000000000000".parse().unwrap());
            Event::Refresh(RefreshEvent::new(project, artifact, refresh, notice))
        };
        let code = od_core::error::ErrorCode::RefreshTimedOut;
        let error = CompactError { code, message: "late\nby far".to_owned(), suggestion: None };
        let mut events = vec![
            StreamEvent::Ready(Ready { resumed: true }),
            StreamEvent::Resync(Resync {}),
            StreamEvent::Happened(Event::Artifact(ArtifactEvent {
                action: ArtifactAction::Deleted,
                project_id: "p".parse().unwrap(),
                artifact_id: "la-a-000000000000".parse().unwrap(),
                title: "T".to_owned(),
                refresh_status: RefreshStatus::Idle,
                run_id: None,
            })),
            StreamEvent::Happened(Event::Agent(Box::new(AgentEvent {
                project_id: "p".parse().unwrap(),
                session_id: "as-1".parse().unwrap(),
                change: 7,
                what: AgentChange::Words {
                    number: 1,
                    speaker: Speaker::Agent,
                    text: "two\nlines".to_owned(),
                },
            }))),
        ];
        events.extend(
            [
                Notice::Started,
                Notice::SourceRan,
                Notice::Succeeded { changed: false },
                Notice::Failed(error),
            ]
            .map(|notice| StreamEvent::Happened(refresh(notice))),
        );
        for event in events {
            let data = event.data();
            assert!(!data.contains('\n'), "a line break ends a frame's data: {data}");
            assert_eq!(StreamEvent::read(event.name(), &data).unwrap(), event);
            assert_eq!(EventName::from_word(event.name().as_str()), Some(event.name()));
        }
    }
}
