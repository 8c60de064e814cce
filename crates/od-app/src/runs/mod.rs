//! The runs of agents.

mod end;
mod renew;
mod start;

pub use end::end;
pub use renew::{MoveRunError, renew};
pub use start::{StartRun, StartRunError, StartedRun, start};
