//! The memory of a process about connectors: calls made, and the last refusal of each provider.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use od_core::connector::LocalTool;
use od_core::ids::{ArtifactId, ConnectorId, ProjectId, RunId, Timestamp, ToolName};
use od_core::limits::{
    ARTIFACT_CALLS_PER_MINUTE, CONNECTOR_CALLS_PER_MINUTE, CONNECTOR_CALLS_PER_RUN,
    FILE_READS_PER_MINUTE, LOCAL_READS_PER_MINUTE,
};

/// The window that calls are counted in.
const WINDOW_MS: u64 = 60_000;
/// Accounts kept; beyond it the idle ones are dropped, and then the one that was idle longest.
const ACCOUNTS_MAX: usize = 10_000;
/// A run cannot outlive its token, so its count need not be kept longer.
const RUN_IDLE_MS: u64 = 24 * 60 * 60 * 1000;

/// Call counts, and the last refusal of each provider. Lost with the process, and no worse for it.
#[derive(Debug, Default)]
pub(crate) struct ConnectorState {
    pub(crate) rate: RateLimiter,
    last_errors: Mutex<HashMap<ConnectorId, String>>,
}

impl ConnectorState {
    /// Returns what went wrong in the last call of a connector, if it did.
    pub(crate) fn last_error(&self, connector: &ConnectorId) -> Option<String> {
        let errors = self.last_errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.get(connector).cloned()
    }

    /// Remembers how a call went. There are as many entries as connectors.
    pub(crate) fn note(&self, connector: &ConnectorId, error: Option<String>) {
        let mut errors = self.last_errors.lock().unwrap_or_else(PoisonError::into_inner);
        match error {
            Some(error) => errors.insert(connector.clone(), error),
            None => errors.remove(connector),
        };
    }
}

/// The account that a call is counted on.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Payer {
    /// An agent's run.
    Run(RunId),
    /// An agent's run that reads this machine.
    LocalReads(RunId),
    /// The refreshes of an artifact that no run asked for.
    Artifact(ProjectId, ArtifactId),
    /// A person who looks at the files of a project.
    Project(ProjectId),
    /// Nobody: the call was counted before its refresh began.
    Counted,
}

/// Why a call may not be made now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OverLimit {
    /// Too many in the last minute.
    PerMinute {
        /// The time until the oldest of them is a minute old.
        after_ms: u64,
        /// The number that is allowed.
        allowed: u64,
    },
    /// The run has made all its calls.
    PerRun {
        /// The number that is allowed.
        allowed: u64,
    },
}

/// Counts calls.
#[derive(Debug, Default)]
pub(crate) struct RateLimiter {
    accounts: Mutex<HashMap<Payer, Account>>,
}

#[derive(Debug, Default)]
struct Account {
    recent: VecDeque<Timestamp>,
    total: u64,
}

impl Payer {
    /// Returns the account for a tool: what an agent reads from this machine costs no provider
    /// anything, and a server that stands for days reads often.
    pub(crate) fn of_tool(self, tool: &ToolName) -> Self {
        match self {
            Self::Run(run) if LocalTool::from_word(tool.as_str()).is_some() => {
                Self::LocalReads(run)
            }
            payer @ (Self::Run(_)
            | Self::LocalReads(_)
            | Self::Artifact(..)
            | Self::Project(_)
            | Self::Counted) => payer,
        }
    }
}

impl RateLimiter {
    /// Counts one call, or says why it may not be made.
    pub(crate) fn take(&self, payer: &Payer, now: Timestamp) -> Result<(), OverLimit> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if accounts.len() >= ACCOUNTS_MAX && !accounts.contains_key(payer) {
            accounts.retain(|payer, account| !account.is_idle(payer, now));
            if accounts.len() >= ACCOUNTS_MAX {
                let longest_idle = accounts.iter().min_by_key(|(payer, account)| {
                    (matches!(payer, Payer::Run(_)), account.recent.back().copied())
                });
                if let Some(payer) = longest_idle.map(|(payer, _)| payer.clone()) {
                    accounts.remove(&payer);
                }
            }
        }
        accounts.entry(payer.clone()).or_default().take(payer, now)
    }
}

impl Account {
    fn take(&mut self, payer: &Payer, now: Timestamp) -> Result<(), OverLimit> {
        let (per_minute, in_all) = match payer {
            Payer::Run(_) => {
                (CONNECTOR_CALLS_PER_MINUTE.allowed, Some(CONNECTOR_CALLS_PER_RUN.allowed))
            }
            Payer::LocalReads(_) => (LOCAL_READS_PER_MINUTE.allowed, None),
            Payer::Artifact(..) => (ARTIFACT_CALLS_PER_MINUTE.allowed, None),
            Payer::Project(_) => (FILE_READS_PER_MINUTE.allowed, None),
            Payer::Counted => return Ok(()),
        };
        // A clock that was set back must not lock anyone out: times ahead of it no longer count.
        self.recent.retain(|at| *at <= now && now.ms_since(*at) < WINDOW_MS);
        if let Some(allowed) = in_all.filter(|allowed| self.total >= *allowed) {
            return Err(OverLimit::PerRun { allowed });
        }
        if self.recent.len() as u64 >= per_minute {
            let oldest = self.recent.front().map_or(0, |at| now.ms_since(*at));
            return Err(OverLimit::PerMinute { after_ms: WINDOW_MS - oldest, allowed: per_minute });
        }
        self.recent.push_back(now);
        self.total += 1;
        Ok(())
    }

    fn is_idle(&self, payer: &Payer, now: Timestamp) -> bool {
        let keep_ms = match payer {
            Payer::Run(_) => RUN_IDLE_MS,
            Payer::LocalReads(_) | Payer::Artifact(..) | Payer::Project(_) | Payer::Counted => {
                WINDOW_MS
            }
        };
        self.recent.back().is_none_or(|at| now.ms_since(*at) >= keep_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_unix_ms(1_700_000_000_000 + ms)
    }

    fn run() -> Payer {
        Payer::Run(RunId::generate([7; 16]))
    }

    #[test]
    fn ten_calls_a_minute_and_then_the_advice_when_to_come_back() {
        let limiter = RateLimiter::default();
        for call in 0..10 {
            assert_eq!(limiter.take(&run(), at(call * 1000)), Ok(()));
        }
        let refused = limiter.take(&run(), at(10_000));
        assert_eq!(refused, Err(OverLimit::PerMinute { after_ms: 50_000, allowed: 10 }));
        assert_eq!(limiter.take(&run(), at(60_000)), Ok(()));
        let artifact =
            Payer::Artifact("web".parse().unwrap(), "la-x-000000000000".parse().unwrap());
        assert_eq!(limiter.take(&artifact, at(10_000)), Ok(()));
    }

    #[test]
    fn a_run_has_sixty_calls_in_all_and_an_artifact_any_number() {
        let limiter = RateLimiter::default();
        let artifact =
            Payer::Artifact("web".parse().unwrap(), "la-x-000000000000".parse().unwrap());
        for call in 0..60 {
            assert_eq!(limiter.take(&run(), at(call * 6000)), Ok(()));
        }
        assert_eq!(limiter.take(&run(), at(400_000)), Err(OverLimit::PerRun { allowed: 60 }));
        for call in 0..1000 {
            assert_eq!(limiter.take(&artifact, at(call * 6000)), Ok(()));
        }
    }

    #[test]
    fn what_a_run_reads_from_this_machine_is_counted_apart_and_has_no_end() {
        let limiter = RateLimiter::default();
        let local = run().of_tool(&"project_files.read_json".parse().unwrap());
        for call in 0..1_500 {
            assert_eq!(limiter.take(&local, at(call * 101)), Ok(()));
        }
        let provider = run().of_tool(&"github.repository".parse().unwrap());
        assert_eq!((provider.clone(), limiter.take(&provider, at(0))), (run(), Ok(())));
    }

    #[test]
    fn a_clock_set_back_locks_nobody_out() {
        let limiter = RateLimiter::default();
        for _ in 0..10 {
            assert_eq!(limiter.take(&run(), at(0)), Ok(()));
        }
        assert_eq!(limiter.take(&run(), at(-3_600_000)), Ok(()));
    }

    #[test]
    fn idle_accounts_make_room() {
        let limiter = RateLimiter::default();
        for number in 0..ACCOUNTS_MAX {
            let id = format!("la-x-{number:012x}").parse().unwrap();
            let _ = limiter.take(&Payer::Artifact("web".parse().unwrap(), id), at(0));
        }
        let _ = limiter.take(&run(), at(WINDOW_MS.cast_signed()));
        assert_eq!(limiter.accounts.lock().unwrap().len(), 1);
    }

    #[test]
    fn more_accounts_than_allowed_are_never_kept() {
        let limiter = RateLimiter::default();
        for number in 0..=ACCOUNTS_MAX {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&(number as u64).to_le_bytes());
            let payer = Payer::Run(RunId::generate(bytes));
            assert_eq!(limiter.take(&payer, at(number.cast_signed() as i64)), Ok(()));
        }
        let accounts = limiter.accounts.lock().unwrap();
        assert_eq!(accounts.len(), ACCOUNTS_MAX);
        assert!(!accounts.contains_key(&Payer::Run(RunId::generate([0; 16]))), "idle longest");
    }

    #[test]
    fn a_person_who_looks_at_files_is_not_counted_as_a_refresh() {
        let limiter = RateLimiter::default();
        let reader = Payer::Project("web".parse().unwrap());
        for _ in 0..600 {
            assert_eq!(limiter.take(&reader, at(0)), Ok(()));
        }
        let refused = limiter.take(&reader, at(0));
        assert_eq!(refused, Err(OverLimit::PerMinute { after_ms: 60_000, allowed: 600 }));
    }
}
