//! The state that every use case works with, and the caller it works for.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use od_core::artifact::Author;
use od_core::checks::{self, CheckResult};
use od_core::error::{ErrorCode, Failure};
use od_core::event::{ArtifactAction, ArtifactEvent, CheckEvent, Event, RefreshEvent};
use od_core::ids::{ArtifactId, ProjectId, RefreshId, RunId, Timestamp};
use od_core::ledger::{Actor, CommitKind, CommitNote, Door};
use od_core::notification::Notification;
use od_core::refresh::Notice;
use od_ports::Ports;
use od_ports::store::Stored;

use crate::agent_sessions::LiveSessions;
use crate::connectors::ConnectorState;
use crate::cpu::CpuPool;
use crate::notifications::Outbox;
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
    /// Runs what takes a processor for long.
    pub cpu: CpuPool,
    /// Calls made and last refusals of connectors.
    pub(crate) connectors: ConnectorState,
    /// The sessions whose agents run in this process.
    pub(crate) agent_sessions: LiveSessions,
    /// The refreshes that run in this process.
    pub(crate) refreshes: ActiveRefreshes,
    /// The notifications that are on their way.
    pub(crate) outbox: Outbox,
    /// The latest time that a lease was looked at, in milliseconds.
    latest_lease_check: AtomicI64,
}

impl App {
    /// Makes one over the given adapters.
    pub fn new(ports: Ports) -> Self {
        Self {
            outbox: Outbox::new(ports.clone()),
            ports,
            pages: PageCache::default(),
            cpu: CpuPool::default(),
            connectors: ConnectorState::default(),
            agent_sessions: LiveSessions::default(),
            refreshes: ActiveRefreshes::default(),
            latest_lease_check: AtomicI64::new(0),
        }
    }

    /// Returns the time that leases are measured by: the clock's, but never before one it has told already.
    /// A clock that is set back must not revive what has lapsed.
    pub(crate) fn lease_time(&self) -> Timestamp {
        let now = self.ports.clock.now().unix_ms();
        let latest = self.latest_lease_check.fetch_max(now, Ordering::Relaxed);
        Timestamp::from_unix_ms(now.max(latest))
    }

    /// Tells listeners what became of an artifact, once that is durable, and by whose run if by one's.
    pub(crate) fn publish(&self, run: Option<&RunId>, action: ArtifactAction, stored: &Stored) {
        self.ports.events.publish(Event::Artifact(ArtifactEvent {
            action,
            project_id: stored.project.clone(),
            artifact_id: stored.id.clone(),
            title: stored.summary.heading.title.clone(),
            refresh_status: stored.summary.refresh_status,
            run_id: run.cloned(),
        }));
        if let (Some(run), ArtifactAction::Created | ArtifactAction::Updated) = (run, action) {
            self.agent_sessions.note_made(self.ports.events.as_ref(), run, stored);
        }
    }

    /// Says where the console is, `http://127.0.0.1:PORT`, for the links in notifications.
    pub fn set_console(&self, url: &str) {
        self.outbox.set_console(url);
    }

    /// Waits until every notification has arrived or was given up, for so long at most; what is left then
    /// counts as lost. For whoever ends the process.
    pub async fn settle_notifications(&self, longest: Duration) {
        self.outbox.settle(longest).await;
    }

    /// Tells listeners which checks are in another state than before, once that is durable, and sends one
    /// notification for each.
    pub(crate) fn publish_checks(&self, before: &[CheckResult], stored: &Stored) {
        let after = stored.artifact().map(|artifact| artifact.check_results.as_slice());
        let after = after.unwrap_or_default();
        for change in checks::changes(before, after) {
            let Some(result) = after.iter().find(|result| result.id == change.id) else { continue };
            let event = CheckEvent {
                project_id: stored.project.clone(),
                artifact_id: stored.id.clone(),
                title: stored.summary.heading.title.clone(),
                from: change.from,
                check: result.clone(),
            };
            self.outbox.push(Notification::of(&event));
            self.ports.events.publish(Event::Check(event));
        }
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
    /// The person at the machine, at the command line.
    Person,
    /// The person at the machine, through another door.
    PersonVia(Door),
    /// A schedule that was switched on: it may refresh, and nothing else.
    Schedule,
    /// An agent, through its run's token.
    Agent {
        /// The run.
        run: RunId,
        /// The one project it may see.
        project: ProjectId,
        /// The door that its client says it came through.
        door: Door,
    },
}

impl Caller {
    /// Returns what is written down as the author.
    pub const fn author(&self) -> Author {
        match self {
            Self::Person | Self::PersonVia(_) | Self::Schedule => Author::Person,
            Self::Agent { .. } => Author::Agent,
        }
    }

    /// Returns the run, if an agent asks.
    pub const fn run(&self) -> Option<&RunId> {
        match self {
            Self::Person | Self::PersonVia(_) | Self::Schedule => None,
            Self::Agent { run, .. } => Some(run),
        }
    }

    /// Returns what the timeline says of a commit that the caller asks for.
    pub(crate) fn note(&self, kind: CommitKind) -> CommitNote {
        let door = match self {
            Self::Person => Door::CommandLine,
            Self::PersonVia(door) | Self::Agent { door, .. } => *door,
            Self::Schedule => Door::Clock,
        };
        CommitNote::new(kind, self.actor(), door)
    }

    /// Returns who the caller is, as records name it.
    pub(crate) fn actor(&self) -> Actor {
        match self {
            Self::Person | Self::PersonVia(_) => Actor::Person,
            Self::Schedule => Actor::Schedule,
            Self::Agent { run, .. } => Actor::Agent { run_id: run.clone(), agent: None },
        }
    }

    /// Lets only a person through.
    pub const fn require_person(&self) -> Result<(), PersonOnly> {
        match self {
            Self::Person | Self::PersonVia(_) => Ok(()),
            Self::Schedule | Self::Agent { .. } => Err(PersonOnly),
        }
    }

    /// Tells whether the caller may see a project at all.
    pub fn may_see(&self, project: &ProjectId) -> bool {
        match self {
            Self::Person | Self::PersonVia(_) | Self::Schedule => true,
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
