//! Refreshing: new data for an artifact, all or nothing.

mod active;
pub mod cancel;
mod fault;
pub(crate) mod gather;
pub mod recover;
pub mod run;
mod runner;
mod sources;

pub(crate) use active::ActiveRefreshes;
pub use cancel::{cancel, cancel_all};
pub use fault::RefreshFault;
pub use gather::{QueriesFailed, QueryRefused};
pub use recover::{Recovered, recover};
pub use run::run;
