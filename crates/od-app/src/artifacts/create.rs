//! Make an artifact, or only say what making it would say.

use std::sync::Arc;

use od_core::artifact::{
    ArtifactState, Attempt, CreateContext, CreateInput, CreateRequest, DataContext,
    ProvenanceInput, Source, default_template, new_artifact, provenance_of,
};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::event::{ArtifactAction, ArtifactEvent, Event};
use od_core::ids::{ArtifactId, ProjectId, Revision};
use od_core::json::{BoundedObject, Message};
use od_ports::entropy::EntropyError;
use od_ports::project_registry::ProjectError;
use od_ports::store::{Created, NewArtifact, StoreError};

use super::candidate::draw_page;
use super::get::Detail;
use super::planned::as_stored;
use super::source_check::{check_source, further_faults};
use crate::{App, Caller, failure};

/// An artifact to make.
#[derive(Clone, Debug)]
pub struct CreateArtifact {
    /// Where.
    pub project: ProjectId,
    /// The request body: `{ input, templateHtml?, provenanceJson?, attemptId? }`.
    pub body: Message,
}

/// An artifact that was made, now or by the same attempt before.
#[derive(Clone, Debug)]
pub struct CreatedArtifact {
    /// The artifact.
    pub detail: Detail,
    /// Whether an earlier attempt had made it.
    pub replayed: bool,
    /// What its author should know.
    pub warnings: Vec<Issue>,
}

/// What a create would say.
#[derive(Clone, Debug)]
pub struct Validated {
    /// The state it would store; its id is an example.
    pub state: ArtifactState,
    /// The page it would show.
    pub page: Arc<[u8]>,
    /// What its author should know.
    pub warnings: Vec<Issue>,
}

/// Why it was not made.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// The request breaks rules; each is an issue.
    #[error("the artifact breaks {} rules", issues.len())]
    Invalid {
        /// What is wrong, where, and what would be right.
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

/// Makes an artifact.
pub async fn create(
    app: &App,
    caller: &Caller,
    request: CreateArtifact,
) -> Result<CreatedArtifact, CreateError> {
    let CreateArtifact { project, body } = request;
    let new = match prepare(app, caller, &project, &body).await? {
        Prepared::New(new) => new,
        Prepared::Made(created) => return Ok(created),
    };
    let Validated { state, page, warnings } = *new;
    let new = NewArtifact { project: project.clone(), state, page };
    let created = app.ports.artifacts.create(new).await?;
    let (stored, replayed) = match created {
        Created::Fresh(stored) => (stored, false),
        Created::Replayed(stored) => (stored, true),
    };
    if !replayed {
        app.ports.events.publish(Event::Artifact(ArtifactEvent {
            action: ArtifactAction::Created,
            project_id: project,
            artifact_id: stored.id.clone(),
            title: stored.summary.heading.title.clone(),
            refresh_status: stored.summary.refresh_status,
        }));
    }
    Ok(CreatedArtifact { detail: Detail::of(stored), replayed, warnings })
}

/// Returns what a create would return, and writes nothing. The id of a new artifact is an example.
pub async fn plan_create(
    app: &App,
    caller: &Caller,
    request: CreateArtifact,
) -> Result<CreatedArtifact, CreateError> {
    let CreateArtifact { project, body } = request;
    Ok(match prepare(app, caller, &project, &body).await? {
        Prepared::Made(created) => created,
        Prepared::New(new) => {
            let Validated { state, page, warnings } = *new;
            let detail = Detail::of(as_stored(state, &page, Revision::first()));
            CreatedArtifact { detail, replayed: false, warnings }
        }
    })
}

/// What a create comes to before anything is written.
enum Prepared {
    /// The same attempt has made it.
    Made(CreatedArtifact),
    /// It is to be made.
    New(Box<Validated>),
}

async fn prepare(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
    body: &Message,
) -> Result<Prepared, CreateError> {
    find_project(app, caller, project).await?;
    let judged = judge(body);
    let attempt = body.is_sound().then(|| CreateRequest::attempt(body.value())).flatten();
    // Before anything that may be another today: the same attempt has the same result.
    if let Some(attempt) = &attempt
        && let Some(stored) = app.ports.artifacts.find_attempt(project, attempt).await?
    {
        let warnings = judged.map(|judged| judged.warnings).unwrap_or_default();
        let detail = Detail::of(stored);
        return Ok(Prepared::Made(CreatedArtifact { detail, replayed: true, warnings }));
    }
    let new = settle(app, caller, project, body, judged, attempt).await?;
    Ok(Prepared::New(Box::new(new)))
}

/// Says everything a create would say, and writes nothing.
pub async fn validate(
    app: &App,
    caller: &Caller,
    request: CreateArtifact,
) -> Result<Validated, CreateError> {
    let CreateArtifact { project, body } = request;
    find_project(app, caller, &project).await?;
    settle(app, caller, &project, &body, judge(&body), None).await
}

async fn find_project(app: &App, caller: &Caller, project: &ProjectId) -> Result<(), CreateError> {
    let known = app.ports.projects.get(project).await?;
    if known.is_none() || !caller.may_see(project) {
        return Err(CreateError::UnknownProject { project: project.clone() });
    }
    Ok(())
}

/// What a body says, as far as that can be told without asking anyone.
struct Judged {
    input: CreateInput,
    provenance: Option<ProvenanceInput>,
    template_html: String,
    page: Arc<[u8]>,
    warnings: Vec<Issue>,
}

/// Why a body is refused without asking anyone.
enum Refused {
    /// It cannot be read; what its source and template would say is not known yet.
    Unread(Vec<Issue>),
    /// Its template is wrong, or does not fit the data.
    Template { source: Option<Box<Source>>, issues: Vec<Issue> },
}

fn judge(body: &Message) -> Result<Judged, Refused> {
    let request = CreateRequest::parse(body.value()).map_err(Refused::Unread)?;
    let CreateRequest { input, template_html, provenance, attempt_id: _, mut warnings } = request;
    let nothing = BoundedObject::default();
    let data = input.document.as_ref().map_or(&nothing, |document| &document.data);
    let template_html =
        template_html.unwrap_or_else(|| default_template(&input.heading.title, data.object()));
    let drawn = match draw_page(&template_html, data.value()) {
        Ok(drawn) => drawn,
        Err(issues) => {
            let source = input.document.and_then(|document| document.source).map(Box::new);
            return Err(Refused::Template { source, issues });
        }
    };
    warnings.extend(drawn.warnings);
    Ok(Judged { input, provenance, template_html, page: drawn.page, warnings })
}

/// Asks for what a judgement leaves open, refuses with every fault at once, or builds the state.
async fn settle(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
    body: &Message,
    judged: Result<Judged, Refused>,
    attempt: Option<Attempt>,
) -> Result<Validated, CreateError> {
    let invalid = |issues| CreateError::Invalid { issues: body.report(issues) };
    let judged = match judged {
        Ok(judged) => judged,
        Err(Refused::Unread(mut issues)) => {
            issues.extend(further_faults(app, project, None, body.value()).await);
            return Err(invalid(issues));
        }
        Err(Refused::Template { source, issues: found }) => {
            let mut issues = match source {
                Some(source) => check_source(app, project, &source).await.err().unwrap_or_default(),
                None => Vec::new(),
            };
            issues.extend(found);
            return Err(invalid(issues));
        }
    };
    let Judged { mut input, provenance, template_html, page, warnings } = judged;
    let source = input.document.as_ref().and_then(|document| document.source.as_ref());
    let source_pin = match source {
        Some(source) => Some(check_source(app, project, source).await.map_err(invalid)?),
        None => None,
    };
    if !body.is_sound() {
        return Err(invalid(Vec::new()));
    }
    let (at, author) = (app.ports.clock.now(), caller.author());
    let context = DataContext { source, pin: source_pin.as_ref(), author, at };
    let provenance = provenance_of(provenance, &context);
    let mut entropy = [0; 6];
    app.ports.entropy.fill(&mut entropy)?;
    let context = CreateContext {
        id: ArtifactId::generate(&input.heading.slug, entropy),
        project_id: project.clone(),
        run_id: caller.run().cloned(),
        author,
        at,
        source_pin,
        attempt,
    };
    let artifact = new_artifact(&input, context);
    let data = input.document.take().map(|document| document.data).unwrap_or_default();
    let state = ArtifactState { artifact, template_html: template_html.into(), data, provenance };
    Ok(Validated { state, page, warnings })
}
