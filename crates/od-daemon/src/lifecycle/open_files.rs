//! How many connections the system's limit on open files allows.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Files kept for everything that is no connection: store, logs, sources.
const RESERVED: u64 = 256;
/// More connections than this are never held.
const CONNECTIONS_MAX: u64 = 2048;
const CONNECTIONS_MIN: u64 = 64;

/// Raises the soft limit as far as it is needed and allowed; returns how many connections fit.
pub(super) fn connections_allowed() -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    let needed = CONNECTIONS_MAX + RESERVED;
    if limit.current.is_some_and(|current| current < needed) {
        let raised = limit.maximum.map_or(needed, |hard| hard.min(needed));
        limit.current = Some(raised);
        // Refused means: fewer connections, not no daemon.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    let current = getrlimit(Resource::Nofile).current.unwrap_or(needed);
    let fits = current.saturating_sub(RESERVED).clamp(CONNECTIONS_MIN, CONNECTIONS_MAX);
    usize::try_from(fits).unwrap_or(usize::MAX)
}
