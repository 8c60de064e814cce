//! Change an artifact.

use std::sync::Arc;

use od_core::artifact::{
    AppliedUpdate, ApplyUpdateError, ArtifactState, Author, DataContext, Patch, Provenance, Source,
    SourceChange, SourcePin, ToolUpdateRequest, UpdateRequest, apply_update, provenance_of,
    source_change,
};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::event::{ArtifactAction, ArtifactEvent, Event};
use od_core::ids::{ArtifactId, ProjectId, Timestamp};
use od_core::json::{Message, Value};
use od_core::limits;
use od_ports::store::{Change, StoreError};

use super::candidate::{draw_page, template_faults};
use super::find::{Address, FindError, find};
use super::get::Detail;
use super::planned::as_stored;
use super::source_check::{check_source, further_faults};
use crate::{App, Caller, failure};

/// A change of an artifact.
#[derive(Clone, Debug)]
pub struct UpdateArtifact {
    /// Which artifact.
    pub target: Target,
    /// The request body: `{ input?, templateHtml?, provenanceJson?, ifRevision? }`, and
    /// `artifactId` if it names the artifact.
    pub body: Message,
}

/// What names the artifact that is changed.
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
    pub detail: Detail,
    /// What its author should know.
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
        /// What is wrong, where, and what would be right.
        issues: Vec<Issue>,
    },
    /// A person has switched refreshing off; an agent may not switch it on.
    #[error("a person has switched refreshing off")]
    SwitchedOff,
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
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
            UpdateError::Store(err) => failure::store(err),
        }
    }
}

/// Changes an artifact: everything or nothing, by the rules of create.
pub async fn update(
    app: &App,
    caller: &Caller,
    request: UpdateArtifact,
) -> Result<UpdatedArtifact, UpdateError> {
    let UpdateArtifact { target, body } = request;
    let (address, request) = read(app, caller, target, &body).await?;
    let project = find(app, caller, &address).await?;
    let artifact = address.artifact;
    let seen = newest(app, &project, &artifact).await?;
    let now = app.ports.clock.now();
    // Everything is judged before the lock is taken: a source may ask a connector.
    let Surveyed { pin, mut judged } =
        survey(app, caller, &project, &seen, &body, &request).await?;
    let store = &app.ports.artifacts;
    let gate = store.open_gate(&project, &artifact).await?;
    let before = state_of(gate.stored().state.as_ref(), &project, &artifact)?;
    let actual = before.artifact.revision;
    check_revision(&before, &request)?;
    if !Arc::ptr_eq(&before, &seen) {
        judged = judge(&before, &request, caller.author())?;
    }
    if judged.changed.source == SourceChange::Replaced && pin.is_none() {
        // The source was this one when it was looked at, and is another now.
        let expected = seen.artifact.revision;
        return Err(StoreError::RevisionConflict { artifact, expected, actual }.into());
    }
    let Judged { changed, page, warnings } = judged;
    let state = build(&before, request, changed, pin, caller.author(), now);
    let change = Change { expected: actual, state, page, refresh: None };
    let stored = store.commit(&gate.witness(), change).await?;
    drop(gate);
    app.ports.events.publish(Event::Artifact(ArtifactEvent {
        action: ArtifactAction::Updated,
        project_id: project,
        artifact_id: stored.id.clone(),
        title: stored.summary.heading.title.clone(),
        refresh_status: stored.summary.refresh_status,
    }));
    Ok(UpdatedArtifact { detail: Detail::of(stored), warnings })
}

/// Says everything an update would say, and writes nothing. Returns what its author should know.
pub async fn validate_update(
    app: &App,
    caller: &Caller,
    request: UpdateArtifact,
) -> Result<Vec<Issue>, UpdateError> {
    Ok(plan_update(app, caller, request).await?.warnings)
}

/// Returns what an update would return, and writes nothing.
pub async fn plan_update(
    app: &App,
    caller: &Caller,
    request: UpdateArtifact,
) -> Result<UpdatedArtifact, UpdateError> {
    let UpdateArtifact { target, body } = request;
    let (address, request) = read(app, caller, target, &body).await?;
    let project = find(app, caller, &address).await?;
    let artifact = address.artifact;
    let stored = app.ports.artifacts.load(&project, &artifact).await?;
    if !stored.health.is_healthy() {
        return Err(StoreError::NotHealthy { artifact, health: stored.health }.into());
    }
    let before = state_of(stored.state.as_ref(), &project, &artifact)?;
    let Surveyed { pin, judged } = survey(app, caller, &project, &before, &body, &request).await?;
    let Judged { changed, page, warnings } = judged;
    let state = build(&before, request, changed, pin, caller.author(), app.ports.clock.now());
    let detail = Detail::of(as_stored(state, &page, before.artifact.revision.next()));
    Ok(UpdatedArtifact { detail, warnings })
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
        issues.extend(template_faults(html, None));
    }
    Err(UpdateError::Invalid { issues: body.report(issues) })
}

/// Returns the artifact as it is. One that a crashed writer left unsound is finished first, as every
/// holder of its lock does.
async fn newest(
    app: &App,
    project: &ProjectId,
    artifact: &ArtifactId,
) -> Result<Arc<ArtifactState>, UpdateError> {
    let stored = app.ports.artifacts.load(project, artifact).await?;
    if stored.health.is_healthy() {
        return state_of(stored.state.as_ref(), project, artifact);
    }
    let gate = app.ports.artifacts.open_gate(project, artifact).await?;
    state_of(gate.stored().state.as_ref(), project, artifact)
}

fn state_of(
    state: Option<&Arc<ArtifactState>>,
    project: &ProjectId,
    artifact: &ArtifactId,
) -> Result<Arc<ArtifactState>, UpdateError> {
    let missing = || StoreError::NotFound { project: project.clone(), artifact: artifact.clone() };
    state.map(Arc::clone).ok_or_else(|| missing().into())
}

fn check_revision(before: &ArtifactState, request: &UpdateRequest) -> Result<(), UpdateError> {
    let actual = before.artifact.revision;
    match request.if_revision.filter(|expected| *expected != actual) {
        Some(expected) => {
            let artifact = before.artifact.id.clone();
            Err(StoreError::RevisionConflict { artifact, expected, actual }.into())
        }
        None => Ok(()),
    }
}

/// What an update would do, as far as that can be told without asking anyone.
struct Judged {
    changed: AppliedUpdate,
    page: Arc<[u8]>,
    warnings: Vec<Issue>,
}

/// What an update would do, and the pin of a source that is new.
struct Surveyed {
    pin: Option<SourcePin>,
    judged: Judged,
}

/// Judges an update and asks about a new source; refuses with every fault at once.
async fn survey(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
    before: &ArtifactState,
    body: &Message,
    request: &UpdateRequest,
) -> Result<Surveyed, UpdateError> {
    check_revision(before, request)?;
    let judged = judge(before, request, caller.author());
    let pin = match new_source(before, request) {
        Some(source) => check_source(app, project, source).await.map(Some),
        None => Ok(None),
    };
    let mut issues = pin.as_ref().err().cloned().unwrap_or_default();
    match (judged, pin) {
        (Ok(judged), Ok(pin)) if body.is_sound() => return Ok(Surveyed { pin, judged }),
        (Err(UpdateError::Invalid { issues: found }), _) => issues.extend(found),
        (Err(err), _) => return Err(err),
        (Ok(_), _) => {}
    }
    Err(UpdateError::Invalid { issues: body.report(issues) })
}

fn invalid(mut issues: Vec<Issue>) -> UpdateError {
    issues.truncate(limits::JSON_FAULTS.max());
    UpdateError::Invalid { issues }
}

/// Returns the source that has to be checked and pinned, if there is one.
fn new_source<'r>(before: &ArtifactState, request: &'r UpdateRequest) -> Option<&'r Source> {
    let patch = &request.input.as_ref()?.document.as_ref()?.source;
    match (source_change(before.artifact.source(), patch), patch) {
        (SourceChange::Replaced, Patch::Set(source)) => Some(source),
        (_, _) => None,
    }
}

/// Applies the rules of an update to a state and draws its page.
fn judge(
    before: &ArtifactState,
    request: &UpdateRequest,
    author: Author,
) -> Result<Judged, UpdateError> {
    let input = request.input.clone().unwrap_or_default();
    let mut warnings = request.warnings.clone();
    let new_data = request.input.as_ref().and_then(|input| input.document.as_ref());
    let data = new_data.and_then(|document| document.data.as_ref()).unwrap_or(&before.data);
    let html = request.template_html.as_deref().unwrap_or(&before.template_html);
    let drawn = draw_page(html, data.value());
    let changed = match apply_update(before, input, author) {
        Ok(changed) => Ok(changed),
        Err(ApplyUpdateError::SwitchedOff) => return Err(UpdateError::SwitchedOff),
        Err(ApplyUpdateError::Invalid { issues }) => {
            Err(issues.into_iter().map(|issue| issue.under("/input")).collect::<Vec<_>>())
        }
    };
    match (changed, drawn) {
        (Ok(changed), Ok(drawn)) => {
            warnings.extend(drawn.warnings);
            Ok(Judged { changed, page: drawn.page, warnings })
        }
        (changed, drawn) => {
            let mut issues = changed.err().unwrap_or_default();
            issues.extend(drawn.err().unwrap_or_default());
            Err(invalid(issues))
        }
    }
}

/// Builds the next state of what was judged; what the daemon owns stays as it is.
fn build(
    before: &ArtifactState,
    request: UpdateRequest,
    changed: AppliedUpdate,
    pin: Option<SourcePin>,
    author: Author,
    now: Timestamp,
) -> ArtifactState {
    let UpdateRequest { input, template_html, provenance, if_revision: _, warnings: _ } = request;
    let AppliedUpdate { mut artifact, data, source } = changed;
    if source == SourceChange::Replaced {
        artifact.source_pin = pin;
    }
    artifact.updated_at = now;
    let has_new_data = input.and_then(|input| input.document?.data).is_some();
    let provenance = if provenance.is_some() || has_new_data {
        let kept = before.provenance.notes.clone().filter(|_| provenance.is_none());
        let pin = artifact.source_pin.as_ref();
        let context = DataContext { source: artifact.source(), pin, author, at: now };
        let told = provenance_of(provenance, &context);
        Provenance { notes: told.notes.or(kept), ..told }
    } else {
        before.provenance.clone()
    };
    let template_html = template_html.map_or_else(|| Arc::clone(&before.template_html), Arc::from);
    ArtifactState { artifact, template_html, data, provenance }
}
