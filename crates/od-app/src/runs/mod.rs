//! The runs of agents.

mod authorize;
mod lease;
mod start;

pub use authorize::{Authorize, AuthorizeError, authorize};
pub use lease::{MoveRunError, end, renew};
pub use start::{StartRun, StartRunError, StartedRun, start};
