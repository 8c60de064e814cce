//! One page.

use std::sync::Arc;

use od_core::artifact::{ArtifactState, Health, PageRefused, render_stored};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, Digest, ProjectId, RefreshId, Revision};
use od_core::json::BoundedObject;
use od_core::ownership::{Reader, origins};
use od_core::template::Inspection;
use od_core::token::Variant;
use od_ports::store::{KeptRevision, PageKey, StoreError, Stored};

use crate::App;
use crate::failure;

/// A page to show.
#[derive(Clone, Debug)]
pub struct PageRequest {
    /// The project, if the caller named one; otherwise the artifact is looked for.
    pub project: Option<ProjectId>,
    /// The artifact.
    pub artifact: ArtifactId,
    /// The form.
    pub variant: Variant,
    /// With the data of an earlier refresh.
    pub snapshot: Option<RefreshId>,
    /// As it looked at an earlier revision; this comes before a snapshot.
    pub revision: Option<Revision>,
}

/// The kind of the bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Media {
    /// A page.
    Html,
    /// Source text.
    Text,
}

/// A page, shared.
#[derive(Clone, Debug)]
pub struct Page {
    /// The bytes.
    pub bytes: Arc<[u8]>,
    /// A strong ETag, quotes included.
    pub etag: Arc<str>,
    /// The kind of the bytes.
    pub media: Media,
    /// The artifact's health, if it is not healthy and this is its last good page.
    pub degraded: Option<Health>,
}

impl Page {
    fn new(bytes: Vec<u8>, media: Media) -> Self {
        let digest = Digest::of_bytes(&bytes);
        // Of the bytes, not of the revision: a page that a refresh left as it was is not sent again.
        let etag = format!("\"{}\"", &digest.hex_digits()[..32]);
        Self { bytes: bytes.into(), etag: etag.into(), media, degraded: None }
    }
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The store failed, or has no such artifact or snapshot.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no such artifact in any project.
    #[error("no artifact `{artifact}`")]
    NotFound {
        /// The id asked for.
        artifact: ArtifactId,
    },
    /// The artifact is damaged, and no good page of it is left.
    #[error("artifact `{artifact}` is damaged and has no good page left")]
    NothingGood {
        /// The artifact.
        artifact: ArtifactId,
        /// The damage.
        health: Health,
    },
    /// The template does not fit the data.
    #[error("the template of `{artifact}` does not fit its data: {source}")]
    Render {
        /// The artifact.
        artifact: ArtifactId,
        /// The first misfit.
        source: PageRefused,
    },
    /// The template of today does not fit the data of then.
    #[error(
        "the template of `{artifact}` has changed since `{refresh}` and does not fit its data: {source}"
    )]
    Outgrown {
        /// The artifact.
        artifact: ArtifactId,
        /// The refresh that left the data.
        refresh: RefreshId,
        /// The first misfit.
        source: PageRefused,
    },
    /// The stored template is none of this version's templates.
    #[error("the template of `{artifact}` does not compile")]
    Template {
        /// The artifact.
        artifact: ArtifactId,
    },
}

impl From<PageError> for Failure {
    fn from(err: PageError) -> Self {
        let message = err.to_string();
        match err {
            PageError::Store(err) => failure::store(err),
            PageError::NotFound { artifact } => failure::unknown_artifact(&artifact),
            PageError::NothingGood { artifact, health } => failure::not_healthy(&artifact, health),
            PageError::Outgrown { refresh, .. } => Self::new(
                ErrorCode::TemplateBindingInvalid,
                message,
            )
            .suggest(format!(
                "a snapshot keeps its data, not its template: read the data of `{refresh}` instead"
            )),
            PageError::Render { .. } | PageError::Template { .. } => {
                Self::new(ErrorCode::TemplateBindingInvalid, message)
                    .suggest("change the template or the data so that they fit each other")
            }
        }
    }
}

/// Returns the page of an artifact: the current one, or the last good one of a damaged artifact.
pub async fn page(app: &App, request: PageRequest) -> Result<Page, PageError> {
    let PageRequest { project, artifact, variant, snapshot, revision } = request;
    let project = match project {
        Some(project) => project,
        None => match app.ports.artifacts.locate(&artifact).await? {
            Some(project) => project,
            None => return Err(PageError::NotFound { artifact }),
        },
    };
    let stored = app.ports.artifacts.load(&project, &artifact).await?;
    let degraded = (!stored.health.is_healthy()).then_some(stored.health);
    let page = match (revision, snapshot) {
        (Some(revision), _) => {
            let kept = app.ports.revisions.revision(&project, &artifact, revision).await?;
            at_revision(app, &stored, kept, variant).await?
        }
        (None, None) => current(app, &stored, variant).await?,
        (None, Some(refresh)) => {
            let snapshot = app.ports.revisions.snapshot(&project, &artifact, &refresh).await?;
            let state = state(&stored)?;
            let state = ArtifactState {
                data: snapshot.data,
                provenance: snapshot.provenance,
                ..state.as_ref().clone()
            };
            let work = || draw(app, &state, (None, Some(&refresh)), variant);
            app.cpu.run(state.work_size(), work).await?
        }
    };
    Ok(Page { degraded, ..page })
}

async fn current(app: &App, stored: &Stored, variant: Variant) -> Result<Page, PageError> {
    // A damaged artifact shows its last good page as it was written: its template and data cannot be trusted
    // to draw it again.
    if let (None, Some(page)) = (&stored.state, &stored.last_page) {
        return match variant {
            Variant::Rendered | Variant::Inspect => Ok(Page::new(page.to_vec(), Media::Html)),
            Variant::RenderedSource => Ok(Page::new(page.to_vec(), Media::Text)),
            Variant::Template => Err(nothing_good(stored)),
        };
    }
    let state = state(stored)?;
    let committed = stored.committed_data.as_deref();
    // An inspection also tells of the source and of the last refresh, which are in no page key.
    let cacheable = stored.page_key.clone().filter(|_| variant != Variant::Inspect);
    let work = || draw(app, state, (committed, None), variant);
    let Some(page_key) = cacheable else { return app.cpu.run(state.work_size(), work).await };
    let key = (page_key, variant);
    if let Some(page) = app.pages.get(&key) {
        return Ok(page);
    }
    let page = app.cpu.run(state.work_size(), work).await?;
    app.pages.put(key, &page);
    Ok(page)
}

/// Returns the page as it looked at a revision: its own template with its own data.
async fn at_revision(
    app: &App,
    stored: &Stored,
    kept: KeptRevision,
    variant: Variant,
) -> Result<Page, PageError> {
    let KeptRevision { commit, template_html, data, provenance, source } = kept;
    let digests = commit.digests;
    let page_key =
        PageKey { template: digests.template, data: digests.data, provenance: digests.provenance };
    let key = (page_key, variant);
    if variant != Variant::Inspect
        && let Some(page) = app.pages.get(&key)
    {
        return Ok(page);
    }
    let mut artifact = state(stored)?.artifact.clone();
    artifact.document = source.document;
    artifact.source_pin = source.source_pin;
    artifact.source_pins = source.source_pins;
    artifact.stale.clone_from(&provenance.stale);
    artifact.revision = commit.revision;
    let state = ArtifactState { artifact, template_html, data, provenance };
    let work = || draw(app, &state, (None, None), variant);
    let page = app.cpu.run(state.work_size(), work).await?;
    // An inspection also tells of the last refresh, which is in no page key.
    if variant != Variant::Inspect {
        app.pages.put(key, &page);
    }
    Ok(page)
}

fn state(stored: &Stored) -> Result<&Arc<ArtifactState>, PageError> {
    stored.state.as_ref().ok_or_else(|| nothing_good(stored))
}

fn nothing_good(stored: &Stored) -> PageError {
    PageError::NothingGood { artifact: stored.id.clone(), health: stored.health }
}

/// Draws a state: the current one, or with the data of an earlier refresh.
fn draw(
    app: &App,
    state: &ArtifactState,
    (committed, snapshot): (Option<&BoundedObject>, Option<&RefreshId>),
    variant: Variant,
) -> Result<Page, PageError> {
    let media = match variant {
        Variant::Rendered | Variant::Inspect => Media::Html,
        Variant::Template | Variant::RenderedSource => Media::Text,
    };
    let bytes = match variant {
        Variant::Template => state.template_html.as_bytes().to_vec(),
        Variant::Rendered | Variant::RenderedSource => render(state, snapshot, None)?,
        Variant::Inspect => {
            let reader = Reader::of(state.artifact.document.as_ref(), app.ports.clock.zone());
            let found = origins(state, committed);
            let paths: Vec<_> = found.iter().map(|origin| origin.inspected(&reader)).collect();
            render(state, snapshot, Some(Inspection { paths: &paths }))?
        }
    };
    Ok(Page::new(bytes, media))
}

fn render(
    state: &ArtifactState,
    snapshot: Option<&RefreshId>,
    inspection: Option<Inspection<'_>>,
) -> Result<Vec<u8>, PageError> {
    let artifact = || state.artifact.id.clone();
    let settings = state.page_settings();
    render_stored(&state.template_html, state.data.value(), &settings, inspection).map_err(
        |refused| match (refused, snapshot) {
            (PageRefused::Template(_) | PageRefused::NewerFormat { .. }, _) => {
                PageError::Template { artifact: artifact() }
            }
            (source @ PageRefused::Data(_), None) => {
                PageError::Render { artifact: artifact(), source }
            }
            (source @ PageRefused::Data(_), Some(refresh)) => {
                PageError::Outgrown { artifact: artifact(), refresh: refresh.clone(), source }
            }
        },
    )
}
