//! The contract suite of every store of artifacts, port by port.

mod artifact_store;
mod maintenance;
mod refresh_log;
mod revision_store;
mod trash;
mod trial;

pub use artifact_store::check_artifact_store;
pub use maintenance::check_store_maintenance;
pub use refresh_log::check_refresh_log;
pub use revision_store::check_revision_store;
pub use trash::check_trash;
pub use trial::{StoreTrial, check_store};
