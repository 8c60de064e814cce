//! Changing an artifact.

use std::sync::Arc;

use od_core::artifact::{
    ArtifactState, Pins, ToolUpdateRequest, UpdateRequest, check_page, page_grammar,
};
use od_core::decide::{self, Decision, UpdateRefused};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::event::ArtifactAction;
use od_core::ids::{ArtifactId, ProjectId};
use od_core::json::{Map, Message, Value};
use od_core::ledger::CommitKind;
use od_core::ownership::first_values;
use od_core::repair::{Operation, foreign_marks, named_artifact};
use od_ports::store::{StoreError, Stored};

use super::dry_run::{DryRun, Outlook, Reading, Tried, dry_run, payer_of};
use super::read::{Address, FindError, ListArtifacts, find, list};
use super::request_faults::{check_sources, further_faults, mended, refused_code};
use super::transaction::{
    BeginError, Mode, StaleRevision, Transaction, check_revision, healthy_state,
};
use crate::{App, Caller, failure, schedule};

/// Changes an artifact: everything or nothing, by the rules of create.
pub async fn update(
    app: &App,
    caller: &Caller,
    request: UpdateArtifact,
    mode: Mode,
) -> Result<UpdatedArtifact, UpdateError> {
    let UpdateArtifact { target, body, reading } = request;
    let (address, request) = read(app, caller, target, &body, reading).await?;
    let project = find(app, caller, &address).await?;
    let seen = match read_state(app, &project, &address, mode).await {
        Err(UpdateError::Store(StoreError::NotFound { .. })) => {
            return Err(not_found(app, caller, &address).await);
        }
        read => read?,
    };
    check_revision(&seen, request.if_revision)?;
    // Decided before the lock is taken, because the check of a source may ask a connector, and
    // decided again under it if somebody committed in between.
    let Decided { pins, mut decision, mut outlook } =
        decide(app, caller, &project, &seen, (&body, &request), reading).await?;
    let transaction = Transaction::begin(app, &project, &address.artifact, mode).await?;
    let before = transaction.state();
    if !Arc::ptr_eq(before, &seen) {
        transaction.check_revision(request.if_revision)?;
        let next = decide::next_design(before, &request);
        let is_checked = |id: &String| pins.contains_key(id);
        if next.is_some_and(|next| !next.new_sources.iter().all(is_checked)) {
            // It was the artifact's own source when it was looked at, and is a new one now that
            // nobody has checked.
            let (expected, actual) = (seen.artifact.revision, before.artifact.revision);
            return Err(StaleRevision { artifact: address.artifact, expected, actual }.into());
        }
        let (author, now) = (caller.author(), app.ports.clock.now());
        let work = || decide::update(before, &request, &pins, author, now);
        decision = app.cpu.run(body.size() + before.work_size(), work).await?;
        outlook.first_values = shown(&decision);
    }
    let Outlook { first_values, refresh_would_fail } = outlook;
    let allowed = schedule::allowed_for_agents(app, caller, &project).await;
    let decision = decision.with_agents_schedule(allowed);
    let mut warnings = decision.warnings.clone();
    warnings.extend(transaction.edit_remark());
    let UpdateRequest { input, template_html, provenance, .. } = &request;
    let is_empty = input.is_none() && template_html.is_none() && provenance.is_none();
    if is_empty && transaction.has_adopted_edits() {
        // Asked only to keep what was edited by hand; a second revision would hold nothing new.
        let stored = Arc::clone(transaction.stored());
        app.publish(caller.run(), ArtifactAction::Updated, &stored);
        return Ok(UpdatedArtifact { stored, warnings, first_values, refresh_would_fail });
    }
    let stored = transaction.commit(decision, caller.note(CommitKind::Update)).await?;
    Ok(UpdatedArtifact { stored, warnings, first_values, refresh_would_fail })
}

/// A change of an artifact.
#[derive(Clone, Debug)]
pub struct UpdateArtifact {
    /// The artifact.
    pub target: Target,
    /// The request body: `{ input?, templateHtml?, provenanceJson?, ifRevision? }`, and
    /// `artifactId` if it names the artifact.
    pub body: Message,
    /// Whether its new sources are read.
    pub reading: Reading,
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
    /// What its page shows first; see [`od_core::ownership::first_values`].
    pub first_values: Map,
    /// Whether a refresh would fail today; its remarks say why.
    pub refresh_would_fail: bool,
}

/// Why it was not changed.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// There is no such artifact.
    #[error(transparent)]
    Find(#[from] FindError),
    /// There is no such artifact, and one that was probably meant.
    #[error("{err}")]
    Meant {
        /// Why there is none.
        #[source]
        err: FindError,
        /// The artifact that was meant, with its title.
        meant: (ArtifactId, String),
    },
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
            UpdateError::Meant { err, meant: (id, title) } => {
                let message = err.to_string();
                let fix = format!("write `{}`", Value::from(id.as_str()));
                let issue = Issue::new("/artifactId", "not_found", message).fix(fix);
                let issues = serde_json::to_value([issue]).unwrap_or_default();
                Self::from(err)
                    .suggest(format!("did you mean `{id}` ({title})?"))
                    .detail("issues", issues)
            }
            UpdateError::Invalid { issues } => Self::validation(refused_code(&issues), &issues),
            UpdateError::SwitchedOff => Self::new(ErrorCode::Forbidden, err.to_string())
                .suggest("leave refreshPermission at none, and ask the person to switch it on"),
            UpdateError::Begin(err) => err.into(),
            UpdateError::Stale(err) => err.into(),
            UpdateError::Store(err) => failure::store(err),
        }
    }
}

/// Finds the artifact that a title, a slug or a part of an id was meant for.
async fn not_found(app: &App, caller: &Caller, address: &Address) -> UpdateError {
    let err = FindError::NotFound { artifact: address.artifact.clone() };
    let request = ListArtifacts { project: address.project.clone() };
    let Ok(listed) = list(app, caller, request).await else { return err.into() };
    let asked = address.artifact.as_str();
    let same: Vec<_> = listed
        .iter()
        .filter(|it| {
            let slug = it.heading.slug.as_str();
            it.heading.title.as_str().eq_ignore_ascii_case(asked)
                || slug.eq_ignore_ascii_case(asked)
                || it.id.as_str().strip_prefix("la-").is_some_and(|rest| rest == asked)
        })
        .collect();
    match same[..] {
        [only] => {
            let meant = (only.id.clone(), only.heading.title.to_string());
            UpdateError::Meant { err, meant }
        }
        _ => err.into(),
    }
}

/// Reads a request; one that is refused is refused with everything that can be said of it.
async fn read(
    app: &App,
    caller: &Caller,
    target: Target,
    body: &Message,
    reading: Reading,
) -> Result<(Address, UpdateRequest), UpdateError> {
    let (parsed, address) = match target {
        Target::Address(address) => (UpdateRequest::parse(body.value()), Some(address)),
        Target::InBody(project) => {
            let field = body.value().get("artifactId").and_then(Value::as_str);
            let named = field.and_then(|id| id.parse().ok());
            // Refused all the same, but with fixes that know the artifact.
            let meant = || named_artifact(body.value()).and_then(|id| id.parse().ok());
            let named = named.or_else(meant);
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
        issues.extend(further_faults(app, &project, before, body.value(), reading).await);
        let issues = mended(app, &project, Operation::Update, before, body, issues, reading).await;
        return Err(UpdateError::Invalid { issues });
    } else if let Some(html) = body.value().get("templateHtml").and_then(Value::as_str) {
        issues.extend(check_page(html, None, page_grammar(body.value(), None)));
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

/// A change that was decided on before its artifact is locked.
struct Decided {
    pins: Pins,
    decision: Decision,
    outlook: Outlook,
}

fn shown(decision: &Decision) -> Map {
    first_values(&decision.state)
}

/// Checks and pins a new source and decides on the next state; refuses with every fault at once.
async fn decide(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
    before: &ArtifactState,
    (body, request): (&Message, &UpdateRequest),
    reading: Reading,
) -> Result<Decided, UpdateError> {
    let mut issues = Vec::new();
    let mut pins = Pins::new();
    let mut dry = DryRun::default();
    if let Some(next) = decide::next_design(before, request) {
        let mut sources = next.document.all_sources();
        sources.retain(|source| next.new_sources.iter().any(|id| id == source.id));
        (pins, issues) = check_sources(app, project, &sources).await;
        if issues.is_empty() && reading == Reading::Now {
            let artifact = Some(&before.artifact.id);
            let tried = Tried { document: &next.document, new: &sources, artifact };
            dry = dry_run(app, &payer_of(caller, project), project, tried).await;
            issues.append(&mut dry.issues);
        }
    }
    issues.extend(request.template_html.as_deref().map(foreign_marks).unwrap_or_default());
    let (author, now) = (caller.author(), app.ports.clock.now());
    let work = || decide::update(before, request, &pins, author, now);
    match app.cpu.run(body.size() + before.work_size(), work).await {
        Ok(mut decision) if issues.is_empty() && body.is_sound() => {
            let outlook = dry.outlook(app, &mut decision);
            return Ok(Decided { pins, decision, outlook });
        }
        Ok(_) => {}
        Err(UpdateRefused::SwitchedOff) => return Err(UpdateError::SwitchedOff),
        Err(UpdateRefused::Invalid { issues: found }) => issues.extend(found),
    }
    let issues = mended(app, project, Operation::Update, Some(before), body, issues, reading).await;
    Err(UpdateError::Invalid { issues })
}
