//! What is measured: a data directory with a thousand artifacts, two of them with pages of known size.

use std::path::PathBuf;

use od_app::artifacts::{CreateArtifact, create};
use od_app::projects::{self, CreateProject};
use od_app::{App, Caller};
use od_core::ids::{ArtifactId, ProjectId};
use od_core::token::{Claims, CliClaims, PreviewClaims, Variant};
use od_daemon::{ComposeOptions, compose};
use serde_json::json;
use tempfile::TempDir;

use super::child::Child;

/// How many artifacts the data directory holds.
pub(crate) const ARTIFACTS: usize = 1000;

/// One page to ask for.
pub(crate) struct Page {
    pub(crate) artifact: ArtifactId,
    pub(crate) bytes: Vec<u8>,
}

/// A data directory and its home.
pub(crate) struct Subject {
    root: TempDir,
    app: App,
    project: ProjectId,
    pages: Vec<Page>,
}

impl Subject {
    /// Makes the data directory through the use cases.
    pub(crate) fn make() -> Result<Self, String> {
        let root = tempfile::tempdir().map_err(|error| error.to_string())?;
        let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
        let app = compose(
            &root.path().join("home"),
            &root.path().join("data"),
            ComposeOptions::default(),
        )
        .map_err(|error| error.to_string())?;
        let (project, pages) = runtime.block_on(fill(&app))?;
        Ok(Self { root, app, project, pages })
    }

    pub(crate) fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// Starts a daemon over the data directory in a process of its own.
    pub(crate) fn spawn(&self) -> Result<Child, String> {
        Child::spawn(self.root.path())
    }

    /// A token as the command line makes it.
    pub(crate) fn person_token(&self) -> Result<String, String> {
        let now = self.app.ports.clock.now();
        let claims = CliClaims {
            token_id: "bench".parse().map_err(|_| "no token id".to_owned())?,
            issued_at: now,
            expires_at: now.plus_ms(60_000),
        };
        self.sign(&Claims::Cli(claims))
    }

    /// A ticket as the daemon makes it.
    pub(crate) fn ticket(&self, page: &Page) -> Result<String, String> {
        let now = self.app.ports.clock.now();
        self.sign(&Claims::Preview(PreviewClaims {
            project_id: self.project.clone(),
            artifact_id: page.artifact.clone(),
            variant: Variant::Rendered,
            snapshot: None,
            issued_at: now,
            expires_at: now.plus_ms(300_000),
        }))
    }

    fn sign(&self, claims: &Claims) -> Result<String, String> {
        self.app.ports.tokens.sign(claims).map_err(|error| error.to_string())
    }
}

async fn fill(app: &App) -> Result<(ProjectId, Vec<Page>), String> {
    let request = CreateProject { id: None, name: "Bench".to_owned(), root: None::<PathBuf> };
    let project = projects::create(app, &Caller::Person, request)
        .await
        .map_err(|error| error.to_string())?
        .id;
    let mut pages = Vec::new();
    for n in 0..ARTIFACTS {
        let kib = match n {
            0 => 3,
            1 => 48,
            _ => 1,
        };
        let filler =
            "<p>A paragraph of the page, of no interest to anybody.</p>\n".repeat(kib * 18);
        let template = format!(
            "<!doctype html><html><head><title>{{{{data.title}}}}</title></head><body>{filler}</body></html>"
        );
        let body = json!({
            "input": { "title": format!("Page {n}"), "document": { "format": "html_template_v1", "dataJson": { "title": n } } },
            "templateHtml": template,
        });
        let created =
            create(app, &Caller::Person, CreateArtifact { project: project.clone(), body })
                .await
                .map_err(|error| error.to_string())?;
        if n < 2 {
            let bytes = template.replace("{{data.title}}", &n.to_string()).into_bytes();
            pages.push(Page { artifact: created.detail.stored.id.clone(), bytes });
        }
    }
    Ok((project, pages))
}
