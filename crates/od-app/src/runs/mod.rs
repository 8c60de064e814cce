//! The runs of agents.

mod authorize;
mod end;
mod renew;
mod start;

pub use authorize::{Authorize, AuthorizeError, authorize};
pub use end::end;
pub use renew::{MoveRunError, renew};
pub use start::{StartRun, StartRunError, StartedRun, start};
