//! Changing an artifact.

use std::sync::Arc;

use od_core::artifact::{ArtifactState, SourcePin, ToolUpdateRequest, UpdateRequest, check_page};
use od_core::decide::{self, Decision, UpdateRefused};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::ids::ProjectId;
use od_core::json::{Message, Value};
use od_ports::store::{StoreError, Stored};

use super::read::{Address, FindError, find};
use super::request_faults::{check_source, further_faults};
use super::transaction::{
    BeginError, Mode, StaleRevision, Transaction, check_revision, healthy_state,
};
use crate::{App, Caller, failure};

/// Changes an artifact: everything or nothing, by the rules of create.
pub async fn update(
    app: &App,
    caller: &Caller,
    request: UpdateArtifact,
    mode: Mode,
) -> Result<UpdatedArtifact, UpdateError> {
    let UpdateArtifact { target, body } = request;
    let (address, request) = read(app, caller, target, &body).await?;
    let project = find(app, caller, &address).await?;
    let seen = read_state(app, &project, &address, mode).await?;
    check_revision(&seen, request.if_revision)?;
    // Decided before the lock is taken, because the check of a source may ask a connector, and
    // decided again under it if somebody committed in between.
    let (pin, mut decision) = decide(app, caller, &project, &seen, &body, &request).await?;
    let transaction = Transaction::begin(app, &project, &address.artifact, mode).await?;
    let before = transaction.state();
    if !Arc::ptr_eq(before, &seen) {
        check_revision(before, request.if_revision)?;
        if pin.is_none() && decide::new_source(before, &request).is_some() {
            // It was the artifact's own source when it was looked at, and is a new one now that
            // nobody has checked.
            let (expected, actual) = (seen.artifact.revision, before.artifact.revision);
            return Err(StaleRevision { artifact: address.artifact, expected, actual }.into());
        }
        let (author, now) = (caller.author(), app.ports.clock.now());
        decision = decide::update(before, &request, pin, author, now)?;
    }
    let warnings = decision.warnings.clone();
    let stored = transaction.commit(decision).await?;
    Ok(UpdatedArtifact { stored, warnings })
}

/// A change of an artifact.
#[derive(Clone, Debug)]
pub struct UpdateArtifact {
    /// The artifact.
    pub target: Target,
    /// The request body: `{ input?, templateHtml?, provenanceJson?, ifRevision? }`, and
    /// `artifactId` if it names the artifact.
    pub body: Message,
}

/// The place that names the artifact to change.
#[derive(Clone, Debug)]
pub enum Target {
    /// The address of the request.
    Address(Address),
    /// The body of the request, in this project.
    InBody(ProjectId),
}

impl From<Address> for Target {
    fn from(address: Address) -> Self {
        Self::Address(address)
    }
}

/// A change that was made.
#[derive(Clone, Debug)]
pub struct UpdatedArtifact {
    /// The artifact after it.
    pub stored: Arc<Stored>,
    /// Remarks for its author.
    pub warnings: Vec<Issue>,
}

/// Why it was not changed.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// There is no such artifact.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The request breaks rules; each is an issue.
    #[error("the change breaks {} rules", issues.len())]
    Invalid {
        /// Every fault with its place and its fix.
        issues: Vec<Issue>,
    },
    /// A person has switched refreshing off; an agent may not switch it on.
    #[error("a person has switched refreshing off")]
    SwitchedOff,
    /// The artifact may not be written.
    #[error(transparent)]
    Begin(#[from] BeginError),
    /// The change was made for another revision.
    #[error(transparent)]
    Stale(#[from] StaleRevision),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<UpdateRefused> for UpdateError {
    fn from(refused: UpdateRefused) -> Self {
        match refused {
            UpdateRefused::SwitchedOff => Self::SwitchedOff,
            UpdateRefused::Invalid { issues } => Self::Invalid { issues },
        }
    }
}

impl From<UpdateError> for Failure {
    fn from(err: UpdateError) -> Self {
        match err {
            UpdateError::Find(err) => err.into(),
            UpdateError::Invalid { issues } => {
                Self::validation(ErrorCode::LiveArtifactInvalid, &issues)
            }
            UpdateError::SwitchedOff => Self::new(ErrorCode::Forbidden, err.to_string())
                .suggest("leave refreshPermission at none, and ask the person to switch it on"),
            UpdateError::Begin(err) => err.into(),
            UpdateError::Stale(err) => err.into(),
            UpdateError::Store(err) => failure::store(err),
        }
    }
}

/// Reads a request; one that is refused is refused with everything that can be said of it.
async fn read(
    app: &App,
    caller: &Caller,
    target: Target,
    body: &Message,
) -> Result<(Address, UpdateRequest), UpdateError> {
    let (parsed, address) = match target {
        Target::Address(address) => (UpdateRequest::parse(body.value()), Some(address)),
        Target::InBody(project) => {
            let named = body.value().get("artifactId").and_then(Value::as_str);
            let named = named.and_then(|id| id.parse().ok());
            let address = named.map(|artifact| Address { project: Some(project), artifact });
            (ToolUpdateRequest::parse(body.value()).map(|named| named.update), address)
        }
    };
    let mut issues = match (parsed, &address) {
        (Ok(request), Some(address)) => return Ok((address.clone(), request)),
        (Ok(_), None) => Vec::new(),
        (Err(issues), _) => issues,
    };
    // Where there is no such artifact, the faults of the body are still the first thing to say.
    if let Some(address) = address
        && let Ok(project) = find(app, caller, &address).await
        && let Ok(stored) = app.ports.artifacts.load(&project, &address.artifact).await
    {
        let before = stored.state.as_deref();
        issues.extend(further_faults(app, &project, before, body.value()).await);
    } else if let Some(html) = body.value().get("templateHtml").and_then(Value::as_str) {
        issues.extend(check_page(html, None));
    }
    Err(UpdateError::Invalid { issues: body.report(issues) })
}

/// Returns the state of the artifact. One that a crashed writer left unsound is finished first, as
/// every holder of its lock does.
async fn read_state(
    app: &App,
    project: &ProjectId,
    address: &Address,
    mode: Mode,
) -> Result<Arc<ArtifactState>, UpdateError> {
    let stored = app.ports.artifacts.load(project, &address.artifact).await?;
    match (healthy_state(&stored), mode) {
        (Err(_), Mode::Commit) => {
            let finished = Transaction::begin(app, project, &address.artifact, mode).await?;
            Ok(Arc::clone(finished.state()))
        }
        (state, Mode::Commit | Mode::DryRun) => Ok(state?),
    }
}

/// Checks and pins a new source and decides on the next state; refuses with every fault at once.
async fn decide(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
    before: &ArtifactState,
    body: &Message,
    request: &UpdateRequest,
) -> Result<(Option<SourcePin>, Decision), UpdateError> {
    let (pin, mut issues) = match decide::new_source(before, request) {
        Some(source) => match check_source(app, project, source).await {
            Ok(pin) => (Some(pin), Vec::new()),
            Err(issues) => (None, issues),
        },
        None => (None, Vec::new()),
    };
    let (author, now) = (caller.author(), app.ports.clock.now());
    match decide::update(before, request, pin.clone(), author, now) {
        Ok(decision) if issues.is_empty() && body.is_sound() => return Ok((pin, decision)),
        Ok(_) => {}
        Err(UpdateRefused::SwitchedOff) => return Err(UpdateError::SwitchedOff),
        Err(UpdateRefused::Invalid { issues: found }) => issues.extend(found),
    }
    Err(UpdateError::Invalid { issues: body.report(issues) })
}
