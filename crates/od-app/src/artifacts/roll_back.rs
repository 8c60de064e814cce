//! Making an earlier state the current one again.

use std::sync::Arc;

use od_core::decide;
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::ids::{RefreshId, Revision};
use od_core::refresh::ChangeReport;
use od_ports::store::{Snapshot, StoreError, Stored};

use super::read::{Address, FindError, find};
use super::transaction::{BeginError, Mode, StaleRevision, Transaction, check_revision};
use crate::{App, Caller, failure};

/// Commits the data and the provenance that a refresh left, as a new revision, by the rules of an
/// update. An artifact that is in that state already stays at its revision.
pub async fn roll_back(
    app: &App,
    caller: &Caller,
    request: RollBack,
    mode: Mode,
) -> Result<RolledBack, RollBackError> {
    caller.require_person().map_err(|_| RollBackError::PersonOnly)?;
    let RollBack { address, refresh, if_revision } = request;
    let project = find(app, caller, &address).await?;
    let snapshot = app.ports.revisions.snapshot(&project, &address.artifact, &refresh).await?;
    let Snapshot { data, provenance, .. } = snapshot;
    let transaction = Transaction::begin(app, &project, &address.artifact, mode).await?;
    let before = transaction.state();
    check_revision(before, if_revision)?;
    match decide::roll_back(before, data, provenance, app.ports.clock.now()) {
        Ok(Some(decision)) => {
            let (changes, warnings) = (decision.changes.clone(), decision.warnings.clone());
            let stored = transaction.commit(decision).await?;
            Ok(RolledBack { stored, refresh, changed: true, changes, warnings })
        }
        Ok(None) => Ok(RolledBack {
            stored: Arc::clone(transaction.stored()),
            refresh,
            changed: false,
            changes: ChangeReport::default(),
            warnings: Vec::new(),
        }),
        Err(issues) => Err(RollBackError::DoesNotFit { refresh, issues }),
    }
}

/// A state to bring back.
#[derive(Clone, Debug)]
pub struct RollBack {
    /// The artifact.
    pub address: Address,
    /// The refresh that left the state.
    pub refresh: RefreshId,
    /// The revision that the artifact has to be at, if that matters.
    pub if_revision: Option<Revision>,
}

/// A state that is the current one again.
#[derive(Clone, Debug)]
pub struct RolledBack {
    /// The artifact in that state.
    pub stored: Arc<Stored>,
    /// The refresh that left the state.
    pub refresh: RefreshId,
    /// Whether that made a revision; not if the artifact was in that state already.
    pub changed: bool,
    /// The places of the data that are different.
    pub changes: ChangeReport,
    /// Remarks for a person.
    pub warnings: Vec<Issue>,
}

/// Why a state was not brought back.
#[derive(Debug, thiserror::Error)]
pub enum RollBackError {
    /// There is no such artifact.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Only a person rolls back.
    #[error("an agent may not roll artifacts back")]
    PersonOnly,
    /// The template or the schema has changed since, and does not fit the data of that time.
    #[error("the state of `{refresh}` does not fit the artifact of today")]
    DoesNotFit {
        /// The refresh that left the state.
        refresh: RefreshId,
        /// Every misfit with its place.
        issues: Vec<Issue>,
    },
    /// The artifact may not be written.
    #[error(transparent)]
    Begin(#[from] BeginError),
    /// The roll back was asked for at another revision.
    #[error(transparent)]
    Stale(#[from] StaleRevision),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<RollBackError> for Failure {
    fn from(err: RollBackError) -> Self {
        let message = err.to_string();
        match err {
            RollBackError::Find(err) => err.into(),
            RollBackError::PersonOnly => Self::new(ErrorCode::Forbidden, message)
                .suggest("ask the person to restore the state in the console"),
            RollBackError::DoesNotFit { refresh, issues } => {
                let failure = Self::validation(ErrorCode::LiveArtifactInvalid, &issues);
                let message = format!("{message}: {}", failure.message);
                Self { message, ..failure }
                    .suggest("change the template so that it fits, or choose another state")
                    .detail("refreshId", refresh.as_str())
            }
            RollBackError::Begin(err) => err.into(),
            RollBackError::Stale(err) => err.into(),
            RollBackError::Store(err) => failure::store(err),
        }
    }
}
