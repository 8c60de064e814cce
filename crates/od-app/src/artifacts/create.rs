//! Making an artifact.

use std::sync::Arc;

use od_core::artifact::{Attempt, CreateRequest};
use od_core::decide::{self, CreateContext, Decision};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::event::ArtifactAction;
use od_core::ids::{ArtifactId, ProjectId, Revision};
use od_core::json::Message;
use od_ports::entropy::EntropyError;
use od_ports::project_registry::ProjectError;
use od_ports::store::{Created, NewArtifact, StoreError, Stored};

use super::request_faults::{check_source, further_faults};
use super::transaction::{Mode, preview};
use crate::{App, Caller, failure};

/// Makes an artifact; the id that a dry run answers with is an example.
pub async fn create(
    app: &App,
    caller: &Caller,
    request: CreateArtifact,
    mode: Mode,
) -> Result<CreatedArtifact, CreateError> {
    let CreateArtifact { project, body } = request;
    find_project(app, caller, &project).await?;
    let attempt = body.is_sound().then(|| CreateRequest::attempt(body.value())).flatten();
    // Looked up before anything that may be different today, such as a connector that is off by
    // now: the same attempt has the same result.
    if let Some(attempt) = &attempt
        && let Some(stored) = app.ports.artifacts.find_attempt(&project, attempt).await?
    {
        let warnings = replayed_warnings(app, caller, &project, &body);
        return Ok(CreatedArtifact { stored, replayed: true, warnings });
    }
    let decision = decide(app, caller, &project, &body, attempt).await?;
    let warnings = decision.warnings.clone();
    let (stored, replayed) = match mode {
        Mode::DryRun => (preview(decision, Revision::first()), false),
        Mode::Commit => {
            let Decision { state, page, .. } = decision;
            match app.ports.artifacts.create(NewArtifact { project, state, page }).await? {
                Created::Fresh(stored) => {
                    app.publish(ArtifactAction::Created, &stored);
                    (stored, false)
                }
                Created::Replayed(stored) => (stored, true),
            }
        }
    };
    Ok(CreatedArtifact { stored, replayed, warnings })
}

/// Says everything a create would say but for its attempt, which is not looked up, and writes
/// nothing.
pub async fn validate(
    app: &App,
    caller: &Caller,
    request: CreateArtifact,
) -> Result<Decision, CreateError> {
    let CreateArtifact { project, body } = request;
    find_project(app, caller, &project).await?;
    decide(app, caller, &project, &body, None).await
}

/// An artifact to make.
#[derive(Clone, Debug)]
pub struct CreateArtifact {
    /// The project it goes to.
    pub project: ProjectId,
    /// The request body: `{ input, templateHtml?, provenanceJson?, attemptId? }`.
    pub body: Message,
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
    /// There is no such project, or the caller may not see it.
    #[error("no project `{project}`")]
    UnknownProject {
        /// The id asked for.
        project: ProjectId,
    },
    /// The projects could not be read.
    #[error(transparent)]
    Projects(#[from] ProjectError),
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
            CreateError::Invalid { issues } => {
                Self::validation(ErrorCode::LiveArtifactInvalid, &issues)
            }
            CreateError::UnknownProject { project } => failure::unknown_project(&project),
            CreateError::Projects(err) => failure::registry(err),
            CreateError::Entropy(err) => Self::new(ErrorCode::Internal, err.to_string()),
            CreateError::Store(err) => failure::store(err),
        }
    }
}

async fn find_project(app: &App, caller: &Caller, project: &ProjectId) -> Result<(), CreateError> {
    let known = app.ports.projects.get(project).await?;
    if known.is_none() || !caller.may_see(project) {
        return Err(CreateError::UnknownProject { project: project.clone() });
    }
    Ok(())
}

/// Decides on the artifact of a body, or refuses the body with everything that is wrong with it.
async fn decide(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
    body: &Message,
    attempt: Option<Attempt>,
) -> Result<Decision, CreateError> {
    let invalid = |issues| CreateError::Invalid { issues: body.report(issues) };
    let request = match CreateRequest::parse(body.value()) {
        Ok(request) => request,
        Err(mut issues) => {
            issues.extend(further_faults(app, project, None, body.value()).await);
            return Err(invalid(issues));
        }
    };
    let source = request.input.document.as_ref().and_then(|document| document.source.as_ref());
    let (source_pin, mut issues) = match source {
        Some(source) => match check_source(app, project, source).await {
            Ok(pin) => (Some(pin), Vec::new()),
            Err(issues) => (None, issues),
        },
        None => (None, Vec::new()),
    };
    let mut entropy = [0; 6];
    app.ports.entropy.fill(&mut entropy)?;
    let context =
        CreateContext { source_pin, attempt, ..context(app, caller, project, &request, entropy) };
    match decide::create(request, context) {
        Ok(decision) if issues.is_empty() && body.is_sound() => Ok(decision),
        decided => {
            issues.extend(decided.err().unwrap_or_default());
            Err(invalid(issues))
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
        source_pin: None,
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
