//! Making an earlier state the current one again.

use std::sync::Arc;

use od_core::decide::{self, Design, EarlierState};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::ids::{ProjectId, RefreshId, Revision};
use od_core::ledger::{CommitKind, CommitNote};
use od_core::refresh::ChangeReport;
use od_ports::store::{KeptRevision, Snapshot, StoreError, Stored};

use super::read::{Address, FindError, find};
use super::transaction::{BeginError, Mode, StaleRevision, Transaction};
use crate::{App, Caller, failure};

/// Commits an earlier state as a new revision, by the rules of an update: a whole revision, or the data
/// and the provenance that a refresh left. An artifact that is in that state already stays at its
/// revision.
pub async fn roll_back(
    app: &App,
    caller: &Caller,
    request: RollBack,
    mode: Mode,
) -> Result<RolledBack, RollBackError> {
    caller.require_person().map_err(|_| RollBackError::PersonOnly)?;
    let RollBack { address, to, if_revision } = request;
    let project = find(app, caller, &address).await?;
    let earlier = read_earlier(app, &project, &address, &to).await?;
    let restored_from = earlier.revision;
    let transaction = Transaction::begin(app, &project, &address.artifact, mode).await?;
    transaction.check_revision(if_revision)?;
    let (state, now) = (transaction.state(), app.ports.clock.now());
    let work = || decide::roll_back(state, earlier, now);
    match app.cpu.run(state.work_size(), work).await {
        Ok(Some(decision)) => {
            let (changes, mut warnings) = (decision.changes.clone(), decision.warnings.clone());
            warnings.extend(transaction.edit_remark());
            let note = CommitNote { restored_from, ..caller.note(CommitKind::Restore) };
            let stored = transaction.commit(decision, note).await?;
            Ok(RolledBack { stored, to, changed: true, changes, warnings })
        }
        Ok(None) => Ok(RolledBack {
            stored: Arc::clone(transaction.stored()),
            to,
            changed: false,
            changes: ChangeReport::default(),
            warnings: Vec::new(),
        }),
        Err(issues) => Err(RollBackError::DoesNotFit { to, issues }),
    }
}

/// Reads the state that is to come back.
async fn read_earlier(
    app: &App,
    project: &ProjectId,
    address: &Address,
    to: &RollBackTo,
) -> Result<EarlierState, StoreError> {
    let (store, artifact) = (&app.ports.revisions, &address.artifact);
    match to {
        RollBackTo::Refresh(refresh) => {
            let snapshot = store.snapshot(project, artifact, refresh).await?;
            let Snapshot { revision, data, provenance, .. } = snapshot;
            let state_of = provenance.generated_at;
            Ok(EarlierState { data, provenance, design: None, revision, state_of })
        }
        RollBackTo::Revision(revision) => {
            let kept = store.revision(project, artifact, *revision).await?;
            let KeptRevision { commit, template_html, data, provenance, source } = kept;
            Ok(EarlierState {
                data,
                provenance,
                design: Some(Design { template_html, source }),
                revision: Some(commit.revision),
                state_of: commit.at,
            })
        }
    }
}

/// A state to bring back.
#[derive(Clone, Debug)]
pub struct RollBack {
    /// The artifact.
    pub address: Address,
    /// The state.
    pub to: RollBackTo,
    /// The revision that the artifact has to be at, if that matters.
    pub if_revision: Option<Revision>,
}

/// An earlier state, as it is named.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RollBackTo {
    /// The data that a refresh left, under the template and source of today.
    Refresh(RefreshId),
    /// A whole revision, its template and source included.
    Revision(Revision),
}

impl std::fmt::Display for RollBackTo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refresh(refresh) => write!(f, "`{refresh}`"),
            Self::Revision(revision) => write!(f, "revision {revision}"),
        }
    }
}

/// A state that is the current one again.
#[derive(Clone, Debug)]
pub struct RolledBack {
    /// The artifact in that state.
    pub stored: Arc<Stored>,
    /// The state that was brought back.
    pub to: RollBackTo,
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
    #[error("the state of {to} does not fit the artifact of today")]
    DoesNotFit {
        /// The state.
        to: RollBackTo,
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
            RollBackError::DoesNotFit { to, issues } => {
                let failure = Self::validation(ErrorCode::LiveArtifactInvalid, &issues);
                let message = format!("{message}: {}", failure.message);
                let failure = Self { message, ..failure }
                    .suggest("change the template so that it fits, or choose another state");
                match to {
                    RollBackTo::Refresh(refresh) => failure.detail("refreshId", refresh.as_str()),
                    RollBackTo::Revision(revision) => failure.detail("revision", revision.get()),
                }
            }
            RollBackError::Begin(err) => err.into(),
            RollBackError::Stale(err) => err.into(),
            RollBackError::Store(err) => failure::store(err),
        }
    }
}
