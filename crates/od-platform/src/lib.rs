//! The system calls that only Linux has, each with a twin that macOS has too.
//!
//! Everything else in the workspace is written for any Unix; a test of the project's own commands
//! keeps `target_os` and the Linux calls inside this crate. The twins are compiled on Linux as well,
//! and a debug build takes them when `OD_PORTABLE` is set: so the suites of the store, of project
//! files and of faults run against them on the machines where the project is tested.
//!
//! Must not know: the store, projects, anything of the product.

mod beneath;
mod change_queue;
mod machine;
mod processes;
mod rename;
mod sync;

use std::sync::OnceLock;

pub use beneath::open_beneath;
pub use change_queue::{ChangeQueue, QueuedChange, WatchInterest};
pub use machine::{
    DESKTOP, Desktop, Node, SERVICE_MANAGER, ServiceManager, boot_id, kernel_release, node,
    search_path,
};
pub use processes::{adopt_orphans, children, finds_orphans};
pub use rename::{Exchange, exchange, rename_new};
pub use sync::{start_writing_back, sync_directory};

/// Returns whether the calls that only Linux has are used.
///
/// A release build has no switch: nobody should run the slower twin by an environment variable that
/// was left behind.
#[must_use]
pub fn uses_linux_calls() -> bool {
    static FORCED: OnceLock<bool> = OnceLock::new();
    let is_forced = || cfg!(debug_assertions) && std::env::var_os("OD_PORTABLE").is_some();
    cfg!(target_os = "linux") && !*FORCED.get_or_init(is_forced)
}
