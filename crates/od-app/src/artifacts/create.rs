//! Make an artifact, or only say what making it would say.

use std::sync::Arc;

use od_core::artifact::{
    Artifact, ArtifactState, Attempt, Author, CreateRequest, Digests, Document, DocumentInput,
    FileDigests, GeneratedBy, Preview, Provenance, ProvenanceInput, ProvenanceSource,
    ProvenanceSourceType, RefreshStatus, SchemaVersion, Source, SourceType,
};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::ids::{ArtifactId, Digest, ProjectId, Revision, Timestamp};
use od_core::json::{BoundedObject, Map, Value};
use od_ports::change::{Created, NewArtifact};
use od_ports::entropy::EntropyError;
use od_ports::event_sink::{ArtifactAction, ArtifactEvent, Event};
use od_ports::project_registry::ProjectError;
use od_ports::store_error::StoreError;

use super::candidate::{bounded, compile, draw};
use super::default_page;
use super::get::Detail;
use super::source_check::check_source;
use crate::{App, Caller, projects, store_failure};

/// An artifact to make.
#[derive(Clone, Debug)]
pub struct CreateArtifact {
    /// Where.
    pub project: ProjectId,
    /// The request body: `{ input, templateHtml?, provenanceJson?, attemptId? }`.
    pub body: Value,
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

impl From<&CreateError> for Failure {
    fn from(err: &CreateError) -> Self {
        match err {
            CreateError::Invalid { issues } => {
                Self::validation(ErrorCode::LiveArtifactInvalid, issues)
            }
            CreateError::Projects(err) => projects::failure(err),
            CreateError::Entropy(_) => Self::new(ErrorCode::Internal, err.to_string()),
            CreateError::Store(err) => store_failure::of(err),
        }
    }
}

/// Makes an artifact.
pub async fn create(
    app: &App,
    caller: &Caller,
    request: CreateArtifact,
) -> Result<CreatedArtifact, CreateError> {
    let project = request.project.clone();
    let Validated { state, page, warnings } = validate(app, caller, request).await?;
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
            title: stored.summary.title.clone(),
            refresh_status: stored.summary.refresh_status,
        }));
    }
    Ok(CreatedArtifact { detail: Detail::of(stored), replayed, warnings })
}

/// Says everything a create would say, and writes nothing.
pub async fn validate(
    app: &App,
    caller: &Caller,
    request: CreateArtifact,
) -> Result<Validated, CreateError> {
    let CreateArtifact { project, body } = request;
    let known = app.ports.projects.get(&project).await?;
    if known.is_none() || !caller.may_see(&project) {
        return Err(StoreError::ProjectNotFound { project }.into());
    }
    let (parsed, template_html) = parse(&body)?;
    let CreateRequest { input, provenance, attempt_id, .. } = parsed;
    let mut warnings = input.warnings;
    let document = input.document;
    let source = document.as_ref().and_then(|document| document.source.clone());
    let source_pin = match &source {
        Some(source) => check_source(app, &project, source, &mut warnings).await?,
        None => None,
    };
    let (data, document) = split_document(document);
    let template_html = template_html.unwrap_or_else(|| default_page::template(data.object()));
    let (template, remarks) = compile(&template_html).map_err(invalid)?;
    let drawn = draw(&template, data.value()).map_err(invalid)?;
    warnings.extend(remarks);
    warnings.extend(drawn.warnings);
    let now = app.ports.clock.now();
    let mut entropy = [0; 6];
    app.ports.entropy.fill(&mut entropy)?;
    let author = caller.author();
    let artifact = Artifact {
        schema_version: SchemaVersion::CURRENT,
        id: ArtifactId::generate(&input.slug, entropy),
        project_id: project,
        session_id: input.session_id,
        created_by_run_id: caller.run().cloned(),
        title: input.title,
        slug: input.slug,
        status: input.status,
        pinned: input.pinned,
        preview: Preview::html(),
        refresh_status: RefreshStatus::Idle,
        created_at: now,
        updated_at: now,
        last_refreshed_at: None,
        permission_set_by: source.as_ref().map(|_| author),
        document,
        revision: Revision::first(),
        digests: unset_digests(),
        source_pin,
        created_by_attempt: attempt_id.map(|id| Attempt { id, digest: Digest::of_json(&body) }),
        extra: Map::new(),
    };
    let provenance = provenance_of(provenance, source.as_ref(), author, now);
    let state = ArtifactState { artifact, template_html: template_html.into(), data, provenance };
    Ok(Validated { state, page: drawn.page, warnings })
}

/// Reads the body; faults of the template are reported beside those of the rest.
fn parse(body: &Value) -> Result<(CreateRequest, Option<String>), CreateError> {
    let mut issues = Vec::new();
    let parsed = CreateRequest::parse(body);
    if let Err(found) = &parsed {
        issues.extend(found.iter().cloned());
        if let Some(Err(found)) = body.get("templateHtml").and_then(Value::as_str).map(compile) {
            issues.extend(found);
        }
    }
    match parsed {
        Ok(mut parsed) => {
            let template_html = parsed.template_html.take();
            Ok((parsed, template_html))
        }
        Err(_) => Err(invalid(issues)),
    }
}

pub(super) fn invalid(issues: Vec<Issue>) -> CreateError {
    CreateError::Invalid { issues: bounded(issues) }
}

fn split_document(document: Option<DocumentInput>) -> (BoundedObject, Option<Document>) {
    match document {
        Some(DocumentInput { data, data_schema, source }) => {
            (data, Some(Document::new(data_schema, source)))
        }
        None => (BoundedObject::default(), None),
    }
}

/// The store sets the real ones.
fn unset_digests() -> Digests {
    let digest = Digest::of_bytes(b"");
    let file = FileDigests { content: digest.clone(), raw: digest };
    Digests { template: file.clone(), data: file.clone(), provenance: file.clone(), index: file }
}

/// Returns what the author says of the data's origin, or what is known without being told.
pub(super) fn provenance_of(
    input: Option<ProvenanceInput>,
    source: Option<&Source>,
    author: Author,
    now: Timestamp,
) -> Provenance {
    let input = input.unwrap_or_else(|| ProvenanceInput {
        generated_at: None,
        notes: None,
        sources: vec![known_origin(source, author)],
    });
    Provenance {
        generated_at: input.generated_at.unwrap_or(now),
        generated_by: GeneratedBy::Agent,
        notes: input.notes,
        sources: input.sources,
        extra: Map::new(),
    }
}

fn known_origin(source: Option<&Source>, author: Author) -> ProvenanceSource {
    let (label, kind) = match source.map(|source| (source.kind, source.tool_name.as_ref())) {
        Some((SourceType::LocalFile, _)) => {
            ("a file of the project".to_owned(), ProvenanceSourceType::LocalFile)
        }
        Some((SourceType::DaemonTool | SourceType::ConnectorTool, tool)) => (
            tool.map_or_else(|| "a connector".to_owned(), ToString::to_string),
            ProvenanceSourceType::Connector,
        ),
        None => match author {
            Author::Agent => ("given by the agent".to_owned(), ProvenanceSourceType::Derived),
            Author::Person => ("given by a person".to_owned(), ProvenanceSourceType::UserInput),
        },
    };
    ProvenanceSource { label, kind, reference: None, account_label: None }
}
