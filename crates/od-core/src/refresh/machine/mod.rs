//! The state machine of one refresh, as a function of values: a signal goes in, effects come out, and
//! the caller carries them out.

mod effect;
mod signal;
mod state;
mod step;

pub use effect::{Effect, Notice, Phase};
pub use signal::Signal;
pub use state::{Outcome, RefreshState, StartedRefresh};
pub use step::{InvalidTransition, step};
