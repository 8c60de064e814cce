//! How one refresh moves, as a function of values.

use super::{ChangeReport, CompactError, RecordConnector, RecordStatus, RecordStep, RefreshRecord};
use crate::error::ErrorCode;
use crate::ids::{RefreshId, Revision, Timestamp};
use crate::words::words;

/// Where a refresh stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RefreshState {
    /// The lock is held; the refresh has no id yet.
    Requested,
    /// The source runs.
    Running(Begun),
    /// The source gave its output; the candidate is built and rendered.
    Building(Begun),
    /// The candidate differs from the data; it is being committed. It can no longer be stopped.
    Committing(Begun, ChangeReport),
    /// It is over and the data is what the source gave.
    Succeeded(RefreshId, ChangeReport),
    /// It is over and the data before it is kept.
    Failed(RefreshId, CompactError),
}

/// A refresh that has its id.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Begun {
    /// The refresh.
    pub refresh_id: RefreshId,
    /// When it began.
    pub started_at: Timestamp,
}

/// What happened to a refresh. Time arrives here.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// The id was allocated, durably.
    Started {
        /// The refresh.
        refresh_id: RefreshId,
        /// When.
        at: Timestamp,
    },
    /// The source gave its output, protected.
    SourceSucceeded {
        /// When.
        at: Timestamp,
        /// What ran.
        connector: Option<RecordConnector>,
    },
    /// The source failed, or was refused.
    SourceFailed {
        /// When.
        at: Timestamp,
        /// What ran, as far as it is known.
        connector: Option<RecordConnector>,
        /// Why.
        error: CompactError,
    },
    /// The candidate is valid and renders.
    CandidateBuilt {
        /// When.
        at: Timestamp,
        /// How it differs from the data.
        changes: ChangeReport,
    },
    /// The candidate is not valid, or the commit was refused.
    StepFailed {
        /// When.
        at: Timestamp,
        /// Why.
        error: CompactError,
    },
    /// The candidate is committed.
    Committed {
        /// When.
        at: Timestamp,
        /// As which revision.
        revision: Revision,
    },
    /// Someone asked to stop.
    CancelRequested {
        /// When.
        at: Timestamp,
    },
    /// The refresh, or its source, ran past its time.
    DeadlinePassed {
        /// When.
        at: Timestamp,
    },
    /// The process that ran it is gone.
    HolderLost {
        /// When that was found.
        at: Timestamp,
    },
}

/// What is to be done after a move; the adapter carries it out, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Append a record to the history.
    Append(Box<RefreshRecord>),
    /// Run the source under its deadline.
    ExecuteSource,
    /// Map, check and render the output.
    BuildCandidate,
    /// Commit the candidate, with the finished record and the snapshot.
    Commit,
    /// Tell listeners.
    Publish(Phase),
    /// Let go of the refresh lock.
    ReleaseLock,
}

words! {
    /// What listeners are told of a refresh.
    Phase {
        /// It began.
        Started = "started",
        /// Its source has run.
        Progress = "progress",
        /// It succeeded.
        Succeeded = "succeeded",
        /// It failed, was cancelled, timed out, or was abandoned.
        Failed = "failed",
    }
}

/// A move that does not exist.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a refresh that is {state} cannot take `{event}`")]
pub struct Rejected {
    /// Where the refresh stands.
    pub state: &'static str,
    /// What was said to have happened.
    pub event: &'static str,
}

/// Moves a refresh.
///
/// # Errors
///
/// Refuses an event the state has no move for; a refresh that is over never moves.
pub fn step(state: RefreshState, event: Event) -> Result<(RefreshState, Vec<Effect>), Rejected> {
    use RefreshState::{Building, Committing, Failed, Requested, Running, Succeeded};
    let rejected = Rejected { state: state.name(), event: event.name() };
    match (state, event) {
        (Requested, Event::Started { refresh_id, at }) => Ok(started(refresh_id, at)),
        (Running(begun), Event::SourceSucceeded { at, connector }) => {
            Ok(source_succeeded(begun, connector, at))
        }
        (Running(begun), Event::SourceFailed { at, connector, error }) => {
            Ok(source_failed(begun, connector, error, at))
        }
        (Building(begun), Event::CandidateBuilt { at, changes }) => Ok(built(begun, changes, at)),
        (Committing(begun, changes), Event::Committed { at, revision }) => {
            Ok(succeeded(begun, changes, Some(revision), at))
        }
        (Building(begun) | Committing(begun, _), Event::StepFailed { at, error }) => {
            Ok(failed(begun, RecordStatus::Failed, error, at))
        }
        (Running(begun) | Building(begun), Event::CancelRequested { at }) => {
            Ok(ended(begun, RecordStatus::Cancelled, ErrorCode::RefreshCancelled, at))
        }
        (Running(begun) | Building(begun), Event::DeadlinePassed { at }) => {
            Ok(ended(begun, RecordStatus::TimedOut, ErrorCode::RefreshTimedOut, at))
        }
        (Running(begun) | Building(begun) | Committing(begun, _), Event::HolderLost { at }) => {
            Ok(ended(begun, RecordStatus::Abandoned, ErrorCode::RefreshAbandoned, at))
        }
        (
            Requested,
            Event::SourceSucceeded { .. }
            | Event::SourceFailed { .. }
            | Event::CandidateBuilt { .. }
            | Event::StepFailed { .. }
            | Event::Committed { .. }
            | Event::CancelRequested { .. }
            | Event::DeadlinePassed { .. }
            | Event::HolderLost { .. },
        )
        | (
            Running(_),
            Event::Started { .. }
            | Event::CandidateBuilt { .. }
            | Event::StepFailed { .. }
            | Event::Committed { .. },
        )
        | (
            Building(_),
            Event::Started { .. }
            | Event::SourceSucceeded { .. }
            | Event::SourceFailed { .. }
            | Event::Committed { .. },
        )
        | (
            Committing(..),
            Event::Started { .. }
            | Event::SourceSucceeded { .. }
            | Event::SourceFailed { .. }
            | Event::CandidateBuilt { .. }
            | Event::CancelRequested { .. }
            | Event::DeadlinePassed { .. },
        )
        | (Succeeded(..) | Failed(..), _) => Err(rejected),
    }
}

fn started(refresh_id: RefreshId, at: Timestamp) -> (RefreshState, Vec<Effect>) {
    let begun = Begun { refresh_id, started_at: at };
    let mut record = begun.record(RecordStep::Started, RecordStatus::Running, at);
    record.duration_ms = None;
    let effects = vec![
        Effect::Append(Box::new(record)),
        Effect::Publish(Phase::Started),
        Effect::ExecuteSource,
    ];
    (RefreshState::Running(begun), effects)
}

fn source_succeeded(
    begun: Begun,
    connector: Option<RecordConnector>,
    at: Timestamp,
) -> (RefreshState, Vec<Effect>) {
    let mut record = begun.record(RecordStep::Source, RecordStatus::Succeeded, at);
    record.connector = connector;
    let effects = vec![
        Effect::Append(Box::new(record)),
        Effect::Publish(Phase::Progress),
        Effect::BuildCandidate,
    ];
    (RefreshState::Building(begun), effects)
}

fn source_failed(
    begun: Begun,
    connector: Option<RecordConnector>,
    error: CompactError,
    at: Timestamp,
) -> (RefreshState, Vec<Effect>) {
    let mut record = begun.record(RecordStep::Source, RecordStatus::Failed, at);
    record.connector = connector;
    record.error = Some(error.clone());
    let (state, mut effects) = failed(begun, RecordStatus::Failed, error, at);
    effects.insert(0, Effect::Append(Box::new(record)));
    (state, effects)
}

/// Nothing changed means nothing to commit: the history says so, and no revision is made.
fn built(begun: Begun, changes: ChangeReport, at: Timestamp) -> (RefreshState, Vec<Effect>) {
    if changes.is_changed() {
        (RefreshState::Committing(begun, changes), vec![Effect::Commit])
    } else {
        succeeded(begun, changes, None, at)
    }
}

fn succeeded(
    begun: Begun,
    changes: ChangeReport,
    revision: Option<Revision>,
    at: Timestamp,
) -> (RefreshState, Vec<Effect>) {
    let mut record = begun.record(RecordStep::Committed, RecordStatus::Succeeded, at);
    record.changes = Some(changes.clone());
    record.revision = revision;
    let state = RefreshState::Succeeded(begun.refresh_id, changes);
    (state, over(record, Phase::Succeeded))
}

fn failed(
    begun: Begun,
    status: RecordStatus,
    error: CompactError,
    at: Timestamp,
) -> (RefreshState, Vec<Effect>) {
    let mut record = begun.record(RecordStep::last(status), status, at);
    record.error = Some(error.clone());
    (RefreshState::Failed(begun.refresh_id, error), over(record, Phase::Failed))
}

fn ended(
    begun: Begun,
    status: RecordStatus,
    code: ErrorCode,
    at: Timestamp,
) -> (RefreshState, Vec<Effect>) {
    failed(
        begun,
        status,
        CompactError { code, message: code.doc().to_owned(), suggestion: None },
        at,
    )
}

fn over(record: RefreshRecord, phase: Phase) -> Vec<Effect> {
    vec![Effect::Append(Box::new(record)), Effect::Publish(phase), Effect::ReleaseLock]
}

impl Begun {
    fn record(&self, step: RecordStep, status: RecordStatus, at: Timestamp) -> RefreshRecord {
        let mut record = RefreshRecord::new(self.refresh_id.clone(), step, status, at);
        record.duration_ms = Some(at.ms_since(self.started_at));
        record
    }
}

impl RefreshState {
    /// Returns whether the refresh is over.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::Succeeded(..) | Self::Failed(..))
    }

    /// Returns the state's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Running(_) => "running",
            Self::Building(_) => "building",
            Self::Committing(..) => "committing",
            Self::Succeeded(..) => "succeeded",
            Self::Failed(..) => "failed",
        }
    }
}

impl Event {
    /// Returns the event's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Started { .. } => "started",
            Self::SourceSucceeded { .. } => "source_succeeded",
            Self::SourceFailed { .. } => "source_failed",
            Self::CandidateBuilt { .. } => "candidate_built",
            Self::StepFailed { .. } => "step_failed",
            Self::Committed { .. } => "committed",
            Self::CancelRequested { .. } => "cancel_requested",
            Self::DeadlinePassed { .. } => "deadline_passed",
            Self::HolderLost { .. } => "holder_lost",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_unix_ms(ms)
    }

    fn id() -> RefreshId {
        RefreshId::from_number(7)
    }

    fn error() -> CompactError {
        CompactError {
            code: ErrorCode::ConnectorExecutionFailed,
            message: "no".to_owned(),
            suggestion: None,
        }
    }

    fn changed(count: u64) -> ChangeReport {
        ChangeReport { count, paths: Vec::new() }
    }

    fn run(events: Vec<Event>) -> (RefreshState, Vec<Effect>) {
        events.into_iter().fold((RefreshState::Requested, Vec::new()), |(state, mut all), event| {
            let (state, effects) = step(state, event).unwrap();
            all.extend(effects);
            (state, all)
        })
    }

    fn lines(effects: &[Effect]) -> Vec<(RecordStep, RecordStatus, Option<u64>)> {
        effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Append(record) => Some((record.step, record.status, record.duration_ms)),
                Effect::ExecuteSource
                | Effect::BuildCandidate
                | Effect::Commit
                | Effect::Publish(_)
                | Effect::ReleaseLock => None,
            })
            .collect()
    }

    #[test]
    fn a_refresh_that_changes_something_commits() {
        let (state, effects) = run(vec![
            Event::Started { refresh_id: id(), at: at(0) },
            Event::SourceSucceeded { at: at(10), connector: None },
            Event::CandidateBuilt { at: at(12), changes: changed(2) },
            Event::Committed { at: at(20), revision: Revision::first() },
        ]);
        assert_eq!(state, RefreshState::Succeeded(id(), changed(2)));
        assert!(effects.contains(&Effect::Commit));
        assert_eq!(effects.last(), Some(&Effect::ReleaseLock));
        assert_eq!(
            lines(&effects),
            [
                (RecordStep::Started, RecordStatus::Running, None),
                (RecordStep::Source, RecordStatus::Succeeded, Some(10)),
                (RecordStep::Committed, RecordStatus::Succeeded, Some(20)),
            ]
        );
    }

    #[test]
    fn a_refresh_that_changes_nothing_commits_nothing() {
        let (state, effects) = run(vec![
            Event::Started { refresh_id: id(), at: at(0) },
            Event::SourceSucceeded { at: at(10), connector: None },
            Event::CandidateBuilt { at: at(12), changes: changed(0) },
        ]);
        assert!(state.is_final());
        assert!(!effects.contains(&Effect::Commit));
    }

    #[test]
    fn a_failed_source_leaves_two_records_and_lets_go() {
        let (state, effects) = run(vec![
            Event::Started { refresh_id: id(), at: at(0) },
            Event::SourceFailed { at: at(5), connector: None, error: error() },
        ]);
        assert_eq!(state, RefreshState::Failed(id(), error()));
        assert_eq!(lines(&effects).len(), 3);
        assert_eq!(effects.last(), Some(&Effect::ReleaseLock));
    }

    #[test]
    fn a_commit_can_no_longer_be_stopped() {
        let begun = Begun { refresh_id: id(), started_at: at(0) };
        let state = RefreshState::Committing(begun, changed(1));
        assert!(step(state.clone(), Event::CancelRequested { at: at(1) }).is_err());
        assert!(step(state.clone(), Event::DeadlinePassed { at: at(1) }).is_err());
        assert!(step(state, Event::HolderLost { at: at(1) }).is_ok());
    }

    fn any_event() -> impl Strategy<Value = Event> {
        (0..9_u8, 0..1000_i64, 0..3_u64).prop_map(|(kind, ms, count)| match kind {
            0 => Event::Started { refresh_id: id(), at: at(ms) },
            1 => Event::SourceSucceeded { at: at(ms), connector: None },
            2 => Event::SourceFailed { at: at(ms), connector: None, error: error() },
            3 => Event::CandidateBuilt { at: at(ms), changes: changed(count) },
            4 => Event::StepFailed { at: at(ms), error: error() },
            5 => Event::Committed { at: at(ms), revision: Revision::first() },
            6 => Event::CancelRequested { at: at(ms) },
            7 => Event::DeadlinePassed { at: at(ms) },
            _ => Event::HolderLost { at: at(ms) },
        })
    }

    proptest! {
        #[test]
        fn final_states_never_move_and_end_exactly_once(
            events in prop::collection::vec(any_event(), 0..20)
        ) {
            let mut state = RefreshState::Requested;
            let (mut finished, mut released, mut commits) = (0, 0, 0);
            for event in events {
                let was_final = state.is_final();
                match step(state.clone(), event) {
                    Ok((next, effects)) => {
                        prop_assert!(!was_final);
                        for effect in &effects {
                            match effect {
                                Effect::Append(record) if record.step.is_last() => {
                                    finished += 1;
                                }
                                Effect::ReleaseLock => released += 1,
                                Effect::Commit => commits += 1,
                                Effect::Append(_)
                                | Effect::ExecuteSource
                                | Effect::BuildCandidate
                                | Effect::Publish(_) => {}
                            }
                        }
                        state = next;
                    }
                    Err(rejected) => prop_assert_eq!(rejected.state, state.name()),
                }
                let ends = usize::from(state.is_final());
                prop_assert_eq!((finished, released), (ends, ends));
                prop_assert!(commits <= 1);
            }
        }
    }
}
