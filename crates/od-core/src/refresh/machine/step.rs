//! The transitions of a refresh.

use super::{Effect, Notice, Outcome, RefreshState, Signal, SourceRan, StartedRefresh};
use crate::artifact::{OnFailure, StaleSource};
use crate::ids::{RefreshId, Revision, Timestamp};
use crate::refresh::{
    ChangeReport, CompactError, RecordConnector, RecordStatus, RecordStep, RefreshRecord,
};

/// A signal that the state has no transition for.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a refresh that is {state} cannot take `{event}`")]
pub struct InvalidTransition {
    /// The state of the refresh.
    pub state: &'static str,
    /// The signal that it got.
    pub event: &'static str,
}

type Transition = (RefreshState, Vec<Effect>);

/// Takes a signal: returns the next state, and the effects to carry out.
///
/// # Errors
///
/// Refuses a signal the state has no transition for; a refresh that is over never moves.
pub fn step(state: RefreshState, event: Signal) -> Result<Transition, InvalidTransition> {
    use RefreshState::{Building, Committing, Failed, Recording, Requested, Running, Succeeded};
    let rejected = InvalidTransition { state: state.name(), event: event.name() };
    match (state, event) {
        (Requested, Signal::Started { refresh_id, at }) => Ok(started(refresh_id, at)),
        (Running(begun), Signal::SourcesRan { at, ran }) => Ok(sources_ran(begun, ran, at)),
        (Building(begun, connector), Signal::CandidateBuilt { at, changes, stale, revision }) => {
            Ok(built(begun, connector, Built { changes, stale, revision }, at))
        }
        (Committing(begun, changes), Signal::Committed) => {
            Ok(succeeded(begun.refresh_id, changes, true))
        }
        (
            Building(begun, _)
            | Committing(begun, _)
            // Where the record of a step could not be written, the last one may still be.
            | Recording(begun, Outcome::Unchanged(_)),
            Signal::StepFailed { at, error },
        ) => Ok(failing(begun, error, at)),
        // The first fault is the cause; that its record could not be written either is only a consequence.
        (Recording(begun, Outcome::Failed(first)), Signal::StepFailed { at, .. }) => {
            Ok(failing(begun, first, at))
        }
        // Not from the commit on: its pointer may be renamed by now, and a refresh that says it was cancelled must
        // have changed nothing.
        (Running(begun) | Building(begun, _), Signal::CancelRequested { at }) => {
            Ok(failing(begun, CompactError::cancelled(), at))
        }
        (Running(begun) | Building(begun, _), Signal::DeadlinePassed { at }) => {
            Ok(failing(begun, CompactError::timed_out(), at))
        }
        (
            Running(begun) | Building(begun, _) | Committing(begun, _),
            Signal::HolderLost { at },
        ) => Ok(failing(begun, CompactError::abandoned(), at)),
        (Recording(begun, ending), Signal::Recorded) => Ok(match ending {
            Outcome::Unchanged(changes) => succeeded(begun.refresh_id, changes, false),
            Outcome::Failed(error) => failed(begun.refresh_id, error),
        }),
        (Recording(begun, Outcome::Unchanged(_)), Signal::RecordRefused { at, error }) => {
            Ok(failing(begun, error, at))
        }
        // Nothing more can be done here: the refresh is found abandoned later, and closed then.
        (Recording(begun, Outcome::Failed(first)), Signal::RecordRefused { .. }) => {
            Ok(failed(begun.refresh_id, first))
        }
        (Recording(begun, _), Signal::FoundClosed { record }) => Ok(found_closed(begun, *record)),
        (
            Requested | Running(_) | Building(..) | Committing(..) | Recording(..)
            | Succeeded(..) | Failed(..),
            Signal::Started { .. }
            | Signal::SourcesRan { .. }
            | Signal::CandidateBuilt { .. }
            | Signal::StepFailed { .. }
            | Signal::Committed
            | Signal::Recorded
            | Signal::RecordRefused { .. }
            | Signal::FoundClosed { .. }
            | Signal::CancelRequested { .. }
            | Signal::DeadlinePassed { .. }
            | Signal::HolderLost { .. },
        ) => Err(rejected),
    }
}

fn started(refresh_id: RefreshId, at: Timestamp) -> Transition {
    let begun = StartedRefresh { refresh_id, started_at: at };
    let effects = vec![Effect::Publish(Notice::Started), Effect::ExecuteSource];
    (RefreshState::Running(begun), effects)
}

/// A refresh goes on if no source failed that has to succeed, and at least one succeeded. Every source
/// has its record either way.
fn sources_ran(begun: StartedRefresh, ran: Vec<SourceRan>, at: Timestamp) -> Transition {
    let mut effects = Vec::with_capacity(ran.len() + 2);
    let (mut fatal, mut kept, mut succeeded) = (None, None, 0_usize);
    let mut connector = None;
    let is_only = ran.len() == 1;
    for SourceRan { source, at, rows, on_failure, outcome } in ran {
        let status =
            outcome.as_ref().map_or_else(CompactError::status, |_| RecordStatus::Succeeded);
        let mut record = begun.record(RecordStep::Source, status, at);
        (record.source, record.rows) = (source, rows);
        match outcome {
            Ok(call) => {
                succeeded += 1;
                // The last record names the call of a lone source, as before there were several; of
                // several each has a record of its own.
                connector = call.clone().filter(|_| is_only);
                record.connector = call;
            }
            Err(error) => {
                record.error = Some(error.clone());
                match on_failure {
                    OnFailure::Fail => fatal = fatal.or(Some(error)),
                    OnFailure::Keep => kept = kept.or(Some(error)),
                }
            }
        }
        effects.push(Effect::AppendStep(Box::new(record)));
    }
    // Where every source failed there is nothing new, whatever they were allowed to keep.
    let nothing = if succeeded == 0 { kept } else { None };
    match fatal.or(nothing) {
        Some(error) => {
            let (state, last) = failing(begun, error, at);
            effects.extend(last);
            (state, effects)
        }
        None => {
            effects.extend([Effect::Publish(Notice::SourceRan), Effect::BuildCandidate]);
            (RefreshState::Building(begun, connector), effects)
        }
    }
}

/// A candidate that may be committed.
struct Built {
    changes: ChangeReport,
    stale: Vec<StaleSource>,
    revision: Option<Revision>,
}

/// Nothing to commit means that only the history is written, and no revision is made.
fn built(
    begun: StartedRefresh,
    connector: Option<RecordConnector>,
    built: Built,
    at: Timestamp,
) -> Transition {
    let Built { changes, stale, revision } = built;
    let status =
        if stale.is_empty() { RecordStatus::Succeeded } else { RecordStatus::SucceededPartially };
    let mut record = begun.record(RecordStep::Committed, status, at);
    record.connector = connector;
    record.changes = Some(changes.clone());
    record.stale = stale;
    record.revision = revision;
    let record = Box::new(record);
    match revision {
        Some(_) => (RefreshState::Committing(begun, changes), vec![Effect::Commit(record)]),
        None => {
            let ending = Outcome::Unchanged(changes);
            (RefreshState::Recording(begun, ending), vec![Effect::AppendLast(record)])
        }
    }
}

/// The error code says how the refresh ended, so that no two places can disagree about it.
fn failing(begun: StartedRefresh, error: CompactError, at: Timestamp) -> Transition {
    let status = error.status();
    let mut record = begun.record(RecordStep::last(status), status, at);
    record.error = Some(error.clone());
    let effects = vec![Effect::AppendLast(Box::new(record))];
    (RefreshState::Recording(begun, Outcome::Failed(error)), effects)
}

fn found_closed(begun: StartedRefresh, record: RefreshRecord) -> Transition {
    if record.status.is_success() {
        let changes = record.changes.unwrap_or_default();
        succeeded(begun.refresh_id, changes, record.revision.is_some())
    } else {
        let error = record.error.unwrap_or_else(CompactError::abandoned);
        failed(begun.refresh_id, error)
    }
}

fn succeeded(refresh_id: RefreshId, changes: ChangeReport, is_committed: bool) -> Transition {
    let notice = Notice::Succeeded { changed: changes.is_changed() };
    let mut effects = vec![Effect::Publish(notice)];
    if is_committed {
        effects.push(Effect::PublishUpdate);
    }
    effects.push(Effect::ReleaseLock);
    (RefreshState::Succeeded(refresh_id, changes), effects)
}

fn failed(refresh_id: RefreshId, error: CompactError) -> Transition {
    let effects = vec![Effect::Publish(Notice::Failed(error.clone())), Effect::ReleaseLock];
    (RefreshState::Failed(refresh_id, error), effects)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorCode;

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

    fn built(count: u64, ms: i64) -> Signal {
        let revision = (count > 0).then(Revision::first);
        Signal::CandidateBuilt { at: at(ms), changes: changed(count), stale: Vec::new(), revision }
    }

    fn source(outcome: Result<(), CompactError>, on_failure: OnFailure) -> SourceRan {
        SourceRan {
            source: None,
            at: at(5),
            rows: None,
            on_failure,
            outcome: outcome.map(|()| None),
        }
    }

    fn ran(ms: i64, outcome: Result<(), CompactError>) -> Signal {
        let mut source = source(outcome, OnFailure::Fail);
        source.at = at(ms);
        Signal::SourcesRan { at: at(ms), ran: vec![source] }
    }

    fn run(events: Vec<Signal>) -> (RefreshState, Vec<Effect>) {
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
                Effect::AppendStep(record)
                | Effect::AppendLast(record)
                | Effect::Commit(record) => Some((record.step, record.status, record.duration_ms)),
                Effect::ExecuteSource
                | Effect::BuildCandidate
                | Effect::Publish(_)
                | Effect::PublishUpdate
                | Effect::ReleaseLock => None,
            })
            .collect()
    }

    fn notices(effects: &[Effect]) -> Vec<Phase> {
        effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Publish(notice) => Some(notice.phase()),
                Effect::AppendStep(_)
                | Effect::AppendLast(_)
                | Effect::Commit(_)
                | Effect::ExecuteSource
                | Effect::BuildCandidate
                | Effect::PublishUpdate
                | Effect::ReleaseLock => None,
            })
            .collect()
    }

    use super::super::Phase;

    #[test]
    fn a_refresh_that_changes_something_commits() {
        let (state, effects) = run(vec![
            Signal::Started { refresh_id: id(), at: at(0) },
            ran(10, Ok(())),
            built(2, 20),
            Signal::Committed,
        ]);
        assert_eq!(state, RefreshState::Succeeded(id(), changed(2)));
        assert_eq!(effects.last(), Some(&Effect::ReleaseLock));
        assert!(effects.contains(&Effect::PublishUpdate));
        assert_eq!(notices(&effects), [Phase::Started, Phase::Progress, Phase::Succeeded]);
        assert_eq!(
            lines(&effects),
            [
                (RecordStep::Source, RecordStatus::Succeeded, Some(10)),
                (RecordStep::Committed, RecordStatus::Succeeded, Some(20)),
            ]
        );
    }

    #[test]
    fn a_refresh_that_changes_nothing_commits_nothing() {
        let (state, effects) = run(vec![
            Signal::Started { refresh_id: id(), at: at(0) },
            ran(10, Ok(())),
            built(0, 12),
            Signal::Recorded,
        ]);
        assert!(state.is_final());
        assert!(!effects.contains(&Effect::PublishUpdate));
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Commit(_))));
    }

    #[test]
    fn a_failed_source_leaves_two_records_and_lets_go() {
        let (state, effects) = run(vec![
            Signal::Started { refresh_id: id(), at: at(0) },
            ran(5, Err(error())),
            Signal::Recorded,
        ]);
        assert_eq!(state, RefreshState::Failed(id(), error()));
        assert_eq!(
            lines(&effects),
            [
                (RecordStep::Source, RecordStatus::Failed, Some(5)),
                (RecordStep::Failed, RecordStatus::Failed, Some(5)),
            ]
        );
        assert_eq!(effects.last(), Some(&Effect::ReleaseLock));
    }

    #[test]
    fn a_source_that_took_too_long_is_recorded_as_such() {
        let (_, effects) = run(vec![
            Signal::Started { refresh_id: id(), at: at(0) },
            ran(5, Err(CompactError::timed_out())),
        ]);
        let statuses: Vec<_> = lines(&effects).into_iter().map(|(_, status, _)| status).collect();
        assert_eq!(statuses, [RecordStatus::TimedOut, RecordStatus::TimedOut]);
    }

    #[test]
    fn a_refresh_goes_on_without_a_source_that_may_fail_and_says_so() {
        let stale = StaleSource { source: "b".to_owned(), since: at(9), code: error().code };
        let both = |second: SourceRan| {
            let ran = vec![source(Ok(()), OnFailure::Fail), second];
            run(vec![
                Signal::Started { refresh_id: id(), at: at(0) },
                Signal::SourcesRan { at: at(9), ran },
            ])
        };
        let (state, effects) = both(source(Err(error()), OnFailure::Keep));
        assert_eq!(effects.last(), Some(&Effect::BuildCandidate));
        let statuses: Vec<_> = lines(&effects).into_iter().map(|(_, status, _)| status).collect();
        assert_eq!(statuses, [RecordStatus::Succeeded, RecordStatus::Failed]);
        let changes = changed(1);
        let built =
            Signal::CandidateBuilt { at: at(9), changes, stale: vec![stale], revision: None };
        let (_, effects) = step(state, built).unwrap();
        let [Effect::AppendLast(record)] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!(record.status, RecordStatus::SucceededPartially);
        assert_eq!(record.stale[0].source, "b");
        let (state, _) = both(source(Err(error()), OnFailure::Fail));
        assert!(matches!(state, RefreshState::Recording(_, Outcome::Failed(_))));
    }

    #[test]
    fn a_refresh_in_which_no_source_succeeded_fails() {
        let ran =
            vec![source(Err(error()), OnFailure::Keep), source(Err(error()), OnFailure::Keep)];
        let (state, effects) = run(vec![
            Signal::Started { refresh_id: id(), at: at(0) },
            Signal::SourcesRan { at: at(9), ran },
        ]);
        assert!(matches!(state, RefreshState::Recording(_, Outcome::Failed(_))));
        assert_eq!(
            lines(&effects).len(),
            3,
            "each source has its record, and the refresh its last"
        );
    }

    #[test]
    fn a_commit_can_no_longer_be_stopped() {
        let begun = StartedRefresh { refresh_id: id(), started_at: at(0) };
        let state = RefreshState::Committing(begun, changed(1));
        assert!(step(state.clone(), Signal::CancelRequested { at: at(1) }).is_err());
        assert!(step(state.clone(), Signal::DeadlinePassed { at: at(1) }).is_err());
        assert!(step(state, Signal::HolderLost { at: at(1) }).is_ok());
    }

    #[test]
    fn a_commit_that_only_looked_as_if_it_had_failed_has_succeeded() {
        let mut record =
            RefreshRecord::new(id(), RecordStep::Committed, RecordStatus::Succeeded, at(3));
        record.changes = Some(changed(4));
        record.revision = Some(Revision::first());
        let (state, effects) = run(vec![
            Signal::Started { refresh_id: id(), at: at(0) },
            ran(1, Ok(())),
            built(4, 2),
            Signal::StepFailed { at: at(3), error: error() },
            Signal::FoundClosed { record: Box::new(record) },
        ]);
        assert_eq!(state, RefreshState::Succeeded(id(), changed(4)));
        assert!(effects.contains(&Effect::PublishUpdate));
    }

    fn any_event() -> impl Strategy<Value = Signal> {
        (0..12_u8, 0..1000_i64, 0..3_u64).prop_map(|(kind, ms, count)| match kind {
            0 => Signal::Started { refresh_id: id(), at: at(ms) },
            1 => ran(ms, Ok(())),
            2 => ran(ms, Err(error())),
            3 => built(count, ms),
            4 => Signal::StepFailed { at: at(ms), error: error() },
            5 => Signal::Committed,
            6 => Signal::Recorded,
            7 => Signal::RecordRefused { at: at(ms), error: error() },
            8 => {
                let status =
                    if count == 0 { RecordStatus::Succeeded } else { RecordStatus::Failed };
                let step = RecordStep::last(status);
                let record = RefreshRecord::new(id(), step, status, at(ms));
                Signal::FoundClosed { record: Box::new(record) }
            }
            9 => Signal::CancelRequested { at: at(ms) },
            10 => Signal::DeadlinePassed { at: at(ms) },
            _ => Signal::HolderLost { at: at(ms) },
        })
    }

    proptest! {
        #[test]
        fn final_states_never_move_and_end_exactly_once(
            events in prop::collection::vec(any_event(), 0..40)
        ) {
            let mut state = RefreshState::Requested;
            let (mut told, mut released, mut commits) = (0, 0, 0);
            for event in events {
                let was_final = state.is_final();
                match step(state.clone(), event) {
                    Ok((next, effects)) => {
                        prop_assert!(!was_final);
                        for effect in &effects {
                            match effect {
                                Effect::Publish(Notice::Succeeded { .. } | Notice::Failed(_)) => {
                                    told += 1;
                                }
                                Effect::ReleaseLock => released += 1,
                                Effect::Commit(record) => {
                                    prop_assert!(record.step == RecordStep::Committed);
                                    commits += 1;
                                }
                                Effect::AppendLast(record) => prop_assert!(record.step.is_last()),
                                Effect::AppendStep(record) => prop_assert!(!record.step.is_last()),
                                Effect::ExecuteSource
                                | Effect::BuildCandidate
                                | Effect::PublishUpdate
                                | Effect::Publish(Notice::Started | Notice::SourceRan) => {}
                            }
                        }
                        // Whoever runs it always has something to wait for, until it is over.
                        let waits = effects.iter().any(|effect| matches!(
                            effect,
                            Effect::ExecuteSource
                                | Effect::BuildCandidate
                                | Effect::Commit(_)
                                | Effect::AppendLast(_)
                        ));
                        prop_assert_eq!(waits, !next.is_final());
                        state = next;
                    }
                    Err(rejected) => prop_assert_eq!(rejected.state, state.name()),
                }
                let ends = usize::from(state.is_final());
                prop_assert_eq!((told, released), (ends, ends));
                prop_assert!(commits <= 1);
            }
        }
    }
}
