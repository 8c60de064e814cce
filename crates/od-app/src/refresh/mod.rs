//! Refreshing: new data for an artifact, all or nothing.

mod active;
mod attempt;
pub mod cancel;
mod candidate;
mod fault;
mod notice;
pub mod plan;
pub mod recover;
pub mod run;

pub(crate) use active::ActiveRefreshes;
pub use cancel::{cancel, cancel_all};
pub use fault::RefreshFault;
pub use plan::plan;
pub use recover::{Recovered, recover};
pub use run::run;
