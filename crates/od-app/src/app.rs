//! The state that every use case works with, and the caller it works for.

use od_core::artifact::Author;
use od_core::error::{ErrorCode, Failure};
use od_core::event::{ArtifactAction, ArtifactEvent, Event, RefreshEvent};
use od_core::ids::{ArtifactId, ProjectId, RefreshId, RunId};
use od_core::refresh::Notice;
use od_ports::Ports;
use od_ports::store::Stored;

use crate::connectors::ConnectorState;
use crate::preview::PageCache;
use crate::refresh::ActiveRefreshes;

/// The ports, and what the use cases remember between calls. Nothing in it is truth: another process
/// may work on the same store.
#[derive(Debug)]
pub struct App {
    /// The adapters.
    pub ports: Ports,
    /// Compiled templates and rendered pages.
    pub pages: PageCache,
    /// Calls made and last refusals of connectors.
    pub(crate) connectors: ConnectorState,
    /// The refreshes that run in this process.
    pub(crate) refreshes: ActiveRefreshes,
}

impl App {
    /// Makes one over the given adapters.
    pub fn new(ports: Ports) -> Self {
        Self {
            ports,
            pages: PageCache::default(),
            connectors: ConnectorState::default(),
            refreshes: ActiveRefreshes::default(),
        }
    }

    /// Tells listeners what became of an artifact, once that is durable.
    pub(crate) fn publish(&self, action: ArtifactAction, stored: &Stored) {
        self.ports.events.publish(Event::Artifact(ArtifactEvent {
            action,
            project_id: stored.project.clone(),
            artifact_id: stored.id.clone(),
            title: stored.summary.heading.title.clone(),
            refresh_status: stored.summary.refresh_status,
        }));
    }

    /// Tells listeners how far a refresh is.
    pub(crate) fn publish_refresh(
        &self,
        project: &ProjectId,
        artifact: &ArtifactId,
        refresh: &RefreshId,
        notice: Notice,
    ) {
        let event = RefreshEvent::new(project.clone(), artifact.clone(), refresh.clone(), notice);
        self.ports.events.publish(Event::Refresh(event));
    }
}

/// The one who asks for something: decides what may be asked for and is written down as its author.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Caller {
    /// The person at the machine, through the console or the command line.
    Person,
    /// An agent, through its run's token.
    Agent {
        /// The run.
        run: RunId,
        /// The one project it may see.
        project: ProjectId,
    },
}

impl Caller {
    /// Returns what is written down as the author.
    pub const fn author(&self) -> Author {
        match self {
            Self::Person => Author::Person,
            Self::Agent { .. } => Author::Agent,
        }
    }

    /// Returns the run, if an agent asks.
    pub const fn run(&self) -> Option<&RunId> {
        match self {
            Self::Person => None,
            Self::Agent { run, .. } => Some(run),
        }
    }

    /// Lets only a person through.
    pub const fn require_person(&self) -> Result<(), PersonOnly> {
        match self {
            Self::Person => Ok(()),
            Self::Agent { .. } => Err(PersonOnly),
        }
    }

    /// Tells whether the caller may see a project at all.
    pub fn may_see(&self, project: &ProjectId) -> bool {
        match self {
            Self::Person => true,
            Self::Agent { project: own, .. } => own == project,
        }
    }
}

/// An agent asked for what only a person may do.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("only a person may do this")]
pub struct PersonOnly;

impl From<PersonOnly> for Failure {
    fn from(err: PersonOnly) -> Self {
        Self::new(ErrorCode::Forbidden, err.to_string())
            .suggest("ask the person to do it in the console, or with `od` in a terminal")
    }
}
