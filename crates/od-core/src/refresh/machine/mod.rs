//! How one refresh moves, as a function of values: what happened goes in, what is to be done comes
//! out, and whoever runs the refresh carries it out.

mod effect;
mod event;
mod state;
mod step;

pub use effect::{Effect, Notice, Phase};
pub use event::Event;
pub use state::{Begun, Ending, RefreshState};
pub use step::{Rejected, step};
