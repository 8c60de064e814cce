//! The life of a session: from the start of its agent to the end of its last process.

use super::SessionStatus;
use crate::words::words;

/// How a session's process ends, or has ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// A person stopped the turn.
    Stopped,
    /// A person closed the session.
    Closed,
    /// The process ended unasked.
    Interrupted,
    /// The agent never got as far as taking a prompt.
    Failed,
}

/// The state of a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SessionState {
    /// The agent is being started.
    Starting,
    /// The agent waits for a prompt.
    Idle,
    /// The agent works.
    Working,
    /// The agent was asked to stop, and may still run.
    Stopping(End),
    /// No process of the agent is left.
    Over(End),
}

words! {
    /// What happens to a session.
    Signal {
        /// The agent is ready for a prompt.
        Opened = "opened",
        /// A person asks for something.
        Prompted = "prompted",
        /// The agent has answered.
        TurnEnded = "turn_ended",
        /// A person stops the turn.
        StopAsked = "stop_asked",
        /// A person closes the session.
        CloseAsked = "close_asked",
        /// A stopped turn did not end in time.
        Overdue = "overdue",
        /// No process of the agent is left.
        Gone = "gone",
        /// A person goes on with a session that is over.
        Reopened = "reopened",
    }
}

words! {
    /// One thing that the caller has to do, in the order given.
    Effect {
        /// Hand the prompt to the agent.
        SendPrompt = "send_prompt",
        /// Answer every open question of permission with "cancelled". Before anything else of an end:
        /// some agents wait for the answer before they read on.
        CancelPermissions = "cancel_permissions",
        /// Tell the agent that the turn is over.
        CancelTurn = "cancel_turn",
        /// End the process and everything it started.
        EndProcess = "end_process",
        /// End the run, whose token the agent has.
        EndRun = "end_run",
    }
}

/// A signal that the state does not take.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a session that is {state} takes no `{signal}`")]
pub struct Rejected {
    /// The state.
    pub state: SessionStatus,
    /// The signal.
    pub signal: Signal,
}

impl SessionState {
    /// Returns the state as clients know it.
    #[must_use]
    pub const fn status(self) -> SessionStatus {
        match self {
            Self::Starting => SessionStatus::Starting,
            Self::Idle => SessionStatus::Idle,
            Self::Working => SessionStatus::Working,
            Self::Stopping(_) => SessionStatus::Stopping,
            Self::Over(End::Stopped) => SessionStatus::Stopped,
            Self::Over(End::Closed) => SessionStatus::Closed,
            Self::Over(End::Interrupted) => SessionStatus::Interrupted,
            Self::Over(End::Failed) => SessionStatus::Failed,
        }
    }
}

/// Takes a signal: returns the next state, and what has to be done.
///
/// # Errors
///
/// Fails if the state does not take the signal.
pub fn step(
    state: SessionState,
    signal: Signal,
) -> Result<(SessionState, &'static [Effect]), Rejected> {
    use Effect::{CancelPermissions, CancelTurn, EndProcess, EndRun, SendPrompt};
    use SessionState::{Idle, Over, Starting, Stopping, Working};
    let rejected = Err(Rejected { state: state.status(), signal });
    match (state, signal) {
        (Starting, Signal::Opened) => Ok((Idle, &[])),
        (Starting, Signal::StopAsked) => Ok((Stopping(End::Stopped), &[EndProcess])),
        (Starting | Idle, Signal::CloseAsked) => Ok((Stopping(End::Closed), &[EndProcess])),
        (Starting, Signal::Gone) => Ok((Over(End::Failed), &[EndRun])),
        (Idle, Signal::Prompted) => Ok((Working, &[SendPrompt])),
        (Idle | Working, Signal::Gone) => {
            Ok((Over(End::Interrupted), &[CancelPermissions, EndRun]))
        }
        (Working, Signal::TurnEnded) => Ok((Idle, &[CancelPermissions])),
        (Working, Signal::StopAsked) => {
            Ok((Stopping(End::Stopped), &[CancelPermissions, CancelTurn]))
        }
        (Working, Signal::CloseAsked) => {
            Ok((Stopping(End::Closed), &[CancelPermissions, CancelTurn]))
        }
        (Stopping(end), Signal::TurnEnded | Signal::Overdue) => Ok((Stopping(end), &[EndProcess])),
        (Stopping(_), Signal::CloseAsked) => Ok((Stopping(End::Closed), &[])),
        // Asked twice: it is under way.
        (Stopping(end), Signal::StopAsked) => Ok((Stopping(end), &[])),
        (Stopping(end), Signal::Gone) => Ok((Over(end), &[CancelPermissions, EndRun])),
        (Over(_), Signal::Reopened) => Ok((Starting, &[])),
        // Asked twice: it is done.
        (Over(_), Signal::CloseAsked) => Ok((Over(End::Closed), &[])),
        (Starting, Signal::Prompted | Signal::TurnEnded | Signal::Overdue | Signal::Reopened)
        | (
            Idle,
            Signal::Opened
            | Signal::TurnEnded
            | Signal::StopAsked
            | Signal::Overdue
            | Signal::Reopened,
        )
        | (Working, Signal::Opened | Signal::Prompted | Signal::Overdue | Signal::Reopened)
        | (Stopping(_), Signal::Opened | Signal::Prompted | Signal::Reopened)
        | (
            Over(_),
            Signal::Opened
            | Signal::Prompted
            | Signal::TurnEnded
            | Signal::StopAsked
            | Signal::Overdue
            | Signal::Gone,
        ) => rejected,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn signals() -> impl Strategy<Value = Vec<Signal>> {
        proptest::collection::vec(proptest::sample::select(Signal::ALL), 0..60)
    }

    proptest! {
        #[test]
        fn the_run_ends_exactly_once_for_each_process_and_only_when_that_is_gone(sent in signals()) {
            let (mut state, mut processes, mut ended) = (SessionState::Starting, 1, 0);
            for signal in sent {
                let Ok((next, effects)) = step(state, signal) else { continue };
                if signal == Signal::Reopened {
                    processes += 1;
                }
                let ends = effects.iter().filter(|effect| **effect == Effect::EndRun).count();
                prop_assert_eq!(ends, usize::from(signal == Signal::Gone));
                ended += ends;
                state = next;
                let open = usize::from(!matches!(state, SessionState::Over(_)));
                prop_assert_eq!(processes, ended + open);
            }
        }

        #[test]
        fn nothing_is_said_to_be_stopped_before_its_process_is_gone(sent in signals()) {
            let mut state = SessionState::Starting;
            for signal in sent {
                let Ok((next, _)) = step(state, signal) else { continue };
                if matches!(next, SessionState::Over(_)) {
                    let was_over = matches!(state, SessionState::Over(_));
                    prop_assert!(signal == Signal::Gone || was_over, "{state:?} {signal}");
                }
                state = next;
            }
        }

        #[test]
        fn open_questions_are_answered_before_a_turn_is_cancelled(sent in signals()) {
            let mut state = SessionState::Starting;
            for signal in sent {
                let Ok((next, effects)) = step(state, signal) else { continue };
                if let Some(at) = effects.iter().position(|effect| *effect == Effect::CancelTurn) {
                    prop_assert!(effects[..at].contains(&Effect::CancelPermissions));
                }
                state = next;
            }
        }
    }
}
