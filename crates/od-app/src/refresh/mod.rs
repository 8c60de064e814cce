//! Refreshing: new data for an artifact, all or nothing.

mod active;
pub mod cancel;
mod fault;
pub mod recover;
pub mod run;
mod runner;

pub(crate) use active::ActiveRefreshes;
pub use cancel::{cancel, cancel_all};
pub use fault::RefreshFault;
pub use recover::{Recovered, recover};
pub use run::run;
