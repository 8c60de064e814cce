//! Change an artifact.

use std::sync::Arc;

use od_core::artifact::{
    Artifact, ArtifactState, Author, Document, DocumentPatch, Patch, RefreshPermission, Source,
    UpdateInput, UpdateRequest,
};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::json::Value;
use od_core::schema::DataSchema;
use od_ports::change::Change;
use od_ports::event_sink::{ArtifactAction, ArtifactEvent, Event};
use od_ports::store_error::StoreError;

use super::candidate::{bounded, compile, draw};
use super::create::{CreateError, provenance_of};
use super::find::{Address, FindError, find};
use super::get::Detail;
use super::source_check::check_source;
use crate::{App, Caller, store_failure};

/// A change of an artifact.
#[derive(Clone, Debug)]
pub struct UpdateArtifact {
    /// Which artifact.
    pub address: Address,
    /// The request body: `{ input?, templateHtml?, provenanceJson?, ifRevision? }`.
    pub body: Value,
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

impl From<&UpdateError> for Failure {
    fn from(err: &UpdateError) -> Self {
        match err {
            UpdateError::Find(err) => err.into(),
            UpdateError::Invalid { issues } => {
                Self::validation(ErrorCode::LiveArtifactInvalid, issues)
            }
            UpdateError::SwitchedOff => Self::new(ErrorCode::Forbidden, err.to_string())
                .suggest("leave refreshPermission at none, and ask the person to switch it on"),
            UpdateError::Store(err) => store_failure::of(err),
        }
    }
}

/// Changes an artifact: everything or nothing, by the rules of create.
pub async fn update(
    app: &App,
    caller: &Caller,
    request: UpdateArtifact,
) -> Result<UpdatedArtifact, UpdateError> {
    let UpdateArtifact { address, body } = request;
    let parsed = parse(&body)?;
    let project = find(app, caller, &address).await?;
    let store = &app.ports.artifacts;
    // A source is checked before the lock is taken: it may ask a connector.
    let mut warnings = Vec::new();
    let pin = match new_source(&parsed) {
        Some(source) => check_source(app, &project, source, &mut warnings).await?,
        None => None,
    };
    let gate = store.open_gate(&project, &address.artifact).await?;
    let before = gate.stored().state.clone().ok_or_else(|| StoreError::NotFound {
        project: project.clone(),
        artifact: address.artifact.clone(),
    })?;
    let actual = before.artifact.revision;
    if let Some(expected) = parsed.if_revision.filter(|expected| *expected != actual) {
        let artifact = address.artifact;
        return Err(StoreError::RevisionConflict { artifact, expected, actual }.into());
    }
    let mut state = apply(&before, parsed, caller.author(), app.ports.clock.now(), &mut warnings)?;
    if pin.is_some() {
        state.artifact.source_pin = pin;
    }
    let page = redraw(&state, &mut warnings)?;
    let change = Change { expected: actual, state, page, refresh: None };
    let stored = store.commit(&gate.witness(), change).await?;
    drop(gate);
    app.ports.events.publish(Event::Artifact(ArtifactEvent {
        action: ArtifactAction::Updated,
        project_id: project,
        artifact_id: stored.id.clone(),
        title: stored.summary.title.clone(),
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
    let UpdateArtifact { address, body } = request;
    let parsed = parse(&body)?;
    let project = find(app, caller, &address).await?;
    let mut warnings = Vec::new();
    if let Some(source) = new_source(&parsed) {
        check_source(app, &project, source, &mut warnings).await?;
    }
    let artifact = address.artifact;
    let stored = app.ports.artifacts.load(&project, &artifact).await?;
    if !stored.health.is_healthy() {
        return Err(StoreError::NotHealthy { artifact, health: stored.health }.into());
    }
    let Some(before) = stored.state.clone() else {
        return Err(StoreError::NotFound { project, artifact }.into());
    };
    let actual = before.artifact.revision;
    if let Some(expected) = parsed.if_revision.filter(|expected| *expected != actual) {
        return Err(StoreError::RevisionConflict { artifact, expected, actual }.into());
    }
    let state = apply(&before, parsed, caller.author(), app.ports.clock.now(), &mut warnings)?;
    redraw(&state, &mut warnings)?;
    Ok(warnings)
}

fn parse(body: &Value) -> Result<UpdateRequest, UpdateError> {
    UpdateRequest::parse(body).map_err(|mut issues| {
        if let Some(Err(found)) = body.get("templateHtml").and_then(Value::as_str).map(compile) {
            issues.extend(found);
        }
        UpdateError::Invalid { issues: bounded(issues) }
    })
}

fn new_source(request: &UpdateRequest) -> Option<&Source> {
    match &request.input.as_ref()?.document.as_ref()?.source {
        Patch::Set(source) => Some(source),
        Patch::Keep | Patch::Remove => None,
    }
}

/// Applies a change to a state; what the daemon owns stays as it is.
fn apply(
    before: &Arc<ArtifactState>,
    request: UpdateRequest,
    author: Author,
    now: od_core::ids::Timestamp,
    warnings: &mut Vec<Issue>,
) -> Result<ArtifactState, UpdateError> {
    let mut state = before.as_ref().clone();
    let mut data_is_new = false;
    if let Some(input) = request.input {
        let UpdateInput { title, slug, status, pinned, document, warnings: found } = input;
        warnings.extend(found);
        let artifact = &mut state.artifact;
        artifact.title = title.unwrap_or_else(|| artifact.title.clone());
        artifact.slug = slug.unwrap_or_else(|| artifact.slug.clone());
        artifact.status = status.unwrap_or(artifact.status);
        artifact.pinned = pinned.unwrap_or(artifact.pinned);
        if let Some(patch) = document {
            data_is_new = patch.data.is_some();
            apply_document(&mut state, patch, author)?;
        }
    }
    if let Some(template_html) = request.template_html {
        state.template_html = template_html.into();
    }
    if request.provenance.is_some() || data_is_new {
        let notes = state.provenance.notes.take();
        let said = request.provenance.is_some();
        let source = state.artifact.source().cloned();
        state.provenance = provenance_of(request.provenance, source.as_ref(), author, now);
        if !said {
            state.provenance.notes = notes;
        }
    }
    state.artifact.updated_at = now;
    check_schema(&state.artifact, state.data.value())?;
    Ok(state)
}

fn apply_document(
    state: &mut ArtifactState,
    patch: DocumentPatch,
    author: Author,
) -> Result<(), UpdateError> {
    let DocumentPatch { data, data_schema, source } = patch;
    if let Some(data) = data {
        state.data = data;
    }
    let artifact = &mut state.artifact;
    let mut document = artifact.document.take().unwrap_or_else(|| Document::new(None, None));
    document.data_schema_json = data_schema.apply(document.data_schema_json);
    let switched_off = artifact.permission_set_by == Some(Author::Person)
        && document
            .source_json
            .as_ref()
            .is_none_or(|source| source.refresh_permission == RefreshPermission::None);
    match source {
        Patch::Keep => {}
        Patch::Remove => {
            document.source_json = None;
            artifact.source_pin = None;
        }
        Patch::Set(source) => {
            let grants = source.refresh_permission == RefreshPermission::Manual;
            match author {
                Author::Agent if grants && switched_off => return Err(UpdateError::SwitchedOff),
                // What a person switched off stays theirs.
                Author::Agent if switched_off => {}
                Author::Agent | Author::Person => artifact.permission_set_by = Some(author),
            }
            document.source_json = Some(source);
        }
    }
    artifact.document = Some(document);
    Ok(())
}

fn check_schema(artifact: &Artifact, data: &Value) -> Result<(), UpdateError> {
    let schema = artifact.document.as_ref().and_then(|document| document.data_schema_json.as_ref());
    let Some(schema) = schema else { return Ok(()) };
    let issues = match DataSchema::compile(schema.value()) {
        Ok(schema) => schema.check(data),
        Err(issues) => issues,
    };
    if issues.is_empty() {
        return Ok(());
    }
    let issues = issues.into_iter().map(|issue| issue.under("/input/document/dataJson")).collect();
    Err(UpdateError::Invalid { issues: bounded(issues) })
}

fn redraw(state: &ArtifactState, warnings: &mut Vec<Issue>) -> Result<Arc<[u8]>, UpdateError> {
    let invalid = |issues| UpdateError::Invalid { issues: bounded(issues) };
    let (template, remarks) = compile(&state.template_html).map_err(invalid)?;
    let drawn = draw(&template, state.data.value()).map_err(invalid)?;
    warnings.extend(remarks);
    warnings.extend(drawn.warnings);
    Ok(drawn.page)
}

impl From<CreateError> for UpdateError {
    fn from(err: CreateError) -> Self {
        match err {
            CreateError::Invalid { issues } => Self::Invalid { issues },
            CreateError::Store(err) => Self::Store(err),
            CreateError::Projects(err) => Self::Store(StoreError::Io {
                action: "read the project",
                source: std::io::Error::other(err),
            }),
            CreateError::Entropy(err) => Self::Store(StoreError::Io {
                action: "make an id",
                source: std::io::Error::other(err),
            }),
        }
    }
}
