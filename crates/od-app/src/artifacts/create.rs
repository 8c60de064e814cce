//! Making an artifact.

use std::sync::Arc;

use od_core::artifact::{Attempt, CreateRequest, DocumentInput, Pins};
use od_core::decide::{self, CreateContext, Decision};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::event::ArtifactAction;
use od_core::ids::{ArtifactId, ProjectId, Revision};
use od_core::json::{Map, Message};
use od_core::ledger::CommitKind;
use od_core::ownership::first_values;
use od_core::repair::{Operation, foreign_marks};
use od_ports::store::{Created, StoreError, Stored};
use od_ports::system::EntropyError;

use super::dry_run::{DryRun, Outlook, Reading, Tried, dry_run, payer_of};
use super::request_faults::{check_sources, further_faults, mended, refused_code};
use super::transaction::{Mode, preview};
use crate::projects::{self, ReadProjectError};
use crate::{App, Caller, failure, schedule};

/// Makes an artifact; the id that a dry run answers with is an example.
pub async fn create(
    app: &App,
    caller: &Caller,
    request: CreateArtifact,
    mode: Mode,
) -> Result<CreatedArtifact, CreateError> {
    let CreateArtifact { project, body, reading } = request;
    projects::get(app, caller, project.clone()).await?;
    let attempt = body.is_sound().then(|| CreateRequest::attempt(body.value())).flatten();
    // Looked up before anything that may be different today, such as a connector that is off by
    // now: the same attempt has the same result.
    if let Some(attempt) = &attempt
        && let Some(stored) = app.ports.artifacts.find_attempt(&project, attempt).await?
    {
        let warnings = replayed_warnings(app, caller, &project, &body);
        let shown = stored.state.as_deref().map(first_values).unwrap_or_default();
        return Ok(CreatedArtifact {
            stored,
            replayed: true,
            warnings,
            first_values: shown,
            refresh_would_fail: false,
        });
    }
    let (decision, outlook) = decide(app, caller, &project, &body, attempt, reading).await?;
    let Outlook { first_values, refresh_would_fail } = outlook;
    let allowed = schedule::allowed_for_agents(app, caller, &project).await;
    let decision = decision.with_agents_schedule(allowed);
    let warnings = match mode {
        Mode::DryRun => without_id(decision.warnings.clone(), &decision.state.artifact.id),
        Mode::Commit => decision.warnings.clone(),
    };
    let (stored, replayed) = match mode {
        Mode::DryRun => (preview(decision, Revision::first()), false),
        Mode::Commit => {
            let note = caller.note(CommitKind::Create);
            match app.ports.artifacts.create(decision, note).await? {
                Created::Fresh(stored) => {
                    app.publish(caller.run(), ArtifactAction::Created, &stored);
                    (stored, false)
                }
                Created::Replayed(stored) => (stored, true),
            }
        }
    };
    Ok(CreatedArtifact { stored, replayed, warnings, first_values, refresh_would_fail })
}

/// Says everything a create would say but for its attempt, which is not looked up, and writes
/// nothing.
pub async fn validate(
    app: &App,
    caller: &Caller,
    request: CreateArtifact,
) -> Result<ValidArtifact, CreateError> {
    let CreateArtifact { project, body, reading } = request;
    projects::get(app, caller, project.clone()).await?;
    let (mut decision, outlook) = decide(app, caller, &project, &body, None, reading).await?;
    let Outlook { first_values, refresh_would_fail } = outlook;
    let warnings = std::mem::take(&mut decision.warnings);
    decision.warnings = without_id(warnings, &decision.state.artifact.id);
    Ok(ValidArtifact { decision, first_values, refresh_would_fail })
}

/// Takes the id of what is only tried out of its remarks: create will make another one.
fn without_id(mut warnings: Vec<Issue>, id: &ArtifactId) -> Vec<Issue> {
    for fix in warnings.iter_mut().filter_map(|warning| warning.fix.as_mut()) {
        *fix = fix.replace(id.as_str(), "ID");
    }
    warnings
}

/// A request that create would accept.
#[derive(Clone, Debug)]
pub struct ValidArtifact {
    /// What create would store, with its remarks.
    pub decision: Decision,
    /// What its page would show first; see [`od_core::ownership::first_values`].
    pub first_values: Map,
    /// Whether a refresh would fail today; its remarks say why.
    pub refresh_would_fail: bool,
}

/// An artifact to make.
#[derive(Clone, Debug)]
pub struct CreateArtifact {
    /// The project it goes to.
    pub project: ProjectId,
    /// The request body: `{ input, templateHtml?, provenanceJson?, attemptId? }`.
    pub body: Message,
    /// Whether its sources are read.
    pub reading: Reading,
}

/// An artifact that was made, now or by the same attempt before.
#[derive(Clone, Debug)]
pub struct CreatedArtifact {
    /// The artifact.
    pub stored: Arc<Stored>,
    /// Whether an earlier attempt had made it.
    pub replayed: bool,
    /// Remarks for its author.
    pub warnings: Vec<Issue>,
    /// What its page shows first, after a refresh where its source could be read; see
    /// [`od_core::ownership::first_values`].
    pub first_values: Map,
    /// Whether a refresh would fail today; its remarks say why.
    pub refresh_would_fail: bool,
}

/// Why it was not made.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// The request breaks rules; each is an issue.
    #[error("the artifact breaks {} rules", issues.len())]
    Invalid {
        /// Every fault with its place and its fix.
        issues: Vec<Issue>,
    },
    /// There is no such project for the caller, or it could not be read.
    #[error(transparent)]
    Project(#[from] ReadProjectError),
    /// There were no random bytes for an id.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<CreateError> for Failure {
    fn from(err: CreateError) -> Self {
        match err {
            CreateError::Invalid { issues } => Self::validation(refused_code(&issues), &issues),
            CreateError::Project(err) => err.into(),
            CreateError::Entropy(err) => Self::new(ErrorCode::Internal, err.to_string()),
            CreateError::Store(err) => failure::store(err),
        }
    }
}

/// Decides on the artifact of a body, or refuses the body with everything that is wrong with it.
async fn decide(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
    body: &Message,
    attempt: Option<Attempt>,
    reading: Reading,
) -> Result<(Decision, Outlook), CreateError> {
    let request = match CreateRequest::parse(body.value()) {
        Ok(request) => request,
        Err(mut issues) => {
            issues.extend(further_faults(app, project, None, body.value(), reading).await);
            let issues = mended(app, project, Operation::Create, None, body, issues, reading).await;
            return Err(CreateError::Invalid { issues });
        }
    };
    let document = request.input.document.as_ref().map(DocumentInput::to_document);
    let mut issues = Vec::new();
    let mut pins = Pins::new();
    let mut dry = DryRun::default();
    if let Some(document) = &document {
        let sources = document.all_sources();
        (pins, issues) = check_sources(app, project, &sources).await;
        if issues.is_empty() && reading == Reading::Now {
            let tried = Tried { document, new: &sources, artifact: None };
            dry = dry_run(app, &payer_of(caller, project), project, tried).await;
            issues.append(&mut dry.issues);
        }
    }
    issues.extend(request.template_html.as_deref().map(foreign_marks).unwrap_or_default());
    // Also for a request that will be refused: its page is judged by the same function as a good one, so that
    // every fault is told at once.
    let mut entropy = [0; 6];
    app.ports.entropy.fill(&mut entropy)?;
    let context =
        CreateContext { pins, attempt, ..context(app, caller, project, &request, entropy) };
    match app.cpu.run(body.size(), || decide::create(request, context)).await {
        Ok(mut decision) if issues.is_empty() && body.is_sound() => {
            let outlook = dry.outlook(app, &mut decision);
            Ok((decision, outlook))
        }
        decided => {
            issues.extend(decided.err().unwrap_or_default());
            let issues = mended(app, project, Operation::Create, None, body, issues, reading).await;
            Err(CreateError::Invalid { issues })
        }
    }
}

fn context(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
    request: &CreateRequest,
    entropy: [u8; 6],
) -> CreateContext {
    CreateContext {
        id: ArtifactId::generate(&request.input.heading.slug, entropy),
        project_id: project.clone(),
        run_id: caller.run().cloned(),
        author: caller.author(),
        at: app.ports.clock.now(),
        pins: Pins::new(),
        attempt: None,
    }
}

/// Returns the remarks of a body that made its artifact before; its source is not asked again.
fn replayed_warnings(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
    body: &Message,
) -> Vec<Issue> {
    let Ok(request) = CreateRequest::parse(body.value()) else { return Vec::new() };
    let context = context(app, caller, project, &request, [0; 6]);
    decide::create(request, context).map(|decision| decision.warnings).unwrap_or_default()
}
