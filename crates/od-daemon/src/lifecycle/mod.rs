//! Start, single instance, stop.

mod instance;
mod listeners;
mod serve;

pub use instance::{Announcement, ClaimError};
pub use listeners::{DEFAULT_PORT, ListenError, Port};
pub use serve::{RunningDaemon, ServeConfig, StartError, Stopped, serve};
