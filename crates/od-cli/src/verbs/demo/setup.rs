//! Sets up the demo's projects and artifacts.

use std::path::Path;

use od_app::projects::CreateProject;
use od_app::{App, Caller};
use od_client::Client;
use od_core::error::ErrorCode;
use od_core::ids::{ArtifactId, ProjectId};
use od_wire::refresh::RefreshView;
use od_wire::route::Operation;
use serde_json::{Value, json};

use super::content::{DemoArtifact, Home};
use crate::local;
use crate::output::CommandError;

/// The store and the daemon that the demo is set up in.
pub(super) struct DemoTarget<'s> {
    pub(super) app: &'s App,
    pub(super) client: &'s Client,
}

/// An artifact of the demo, in the store.
#[derive(Clone, Debug)]
pub(super) struct InstalledArtifact {
    pub(super) id: ArtifactId,
    pub(super) title: String,
    pub(super) slug: &'static str,
    pub(super) home: Home,
    pub(super) source: &'static str,
    /// Whether it was there before.
    pub(super) existed: bool,
}

impl DemoTarget<'_> {
    /// Returns the project over a directory, making one if there is none.
    pub(super) async fn project(&self, root: &Path, name: &str) -> Result<ProjectId, CommandError> {
        let projects = local::projects(self.app).await?;
        if let Some(found) = projects.into_iter().find(|known| known.root.as_deref() == Some(root))
        {
            return Ok(found.id);
        }
        let request =
            CreateProject { id: None, name: name.to_owned(), root: Some(root.to_owned()) };
        let project = od_app::projects::create(self.app, &Caller::Person, request).await;
        Ok(project.map_err(local::failed)?.id)
    }

    /// Registers an artifact, unless the project has one of its slug.
    pub(super) async fn artifact(
        &self,
        project: &ProjectId,
        artifact: &DemoArtifact,
    ) -> Result<InstalledArtifact, CommandError> {
        let known = self.client.artifacts(project).await?;
        let mut known = known.into_iter().map(|line| line.summary);
        if let Some(found) = known.find(|line| line.heading.slug.as_str() == artifact.slug) {
            return Ok(installed(artifact, found.id, found.heading.title, true));
        }
        let mut input = embedded(artifact.artifact)?;
        input["document"]["dataJson"] = embedded(artifact.data)?;
        let body = json!({ "input": input, "templateHtml": artifact.template });
        let made = self.client.create(project, &body).await?.artifact.artifact;
        Ok(installed(artifact, made.id, made.heading.title, false))
    }

    /// Refreshes an artifact and returns what changed.
    pub(super) async fn refresh(
        &self,
        artifact: &InstalledArtifact,
    ) -> Result<RefreshView, CommandError> {
        Ok(self.client.refresh(&artifact.id).await?.refresh)
    }

    /// Returns the bytes of an artifact's page.
    pub(super) async fn page(&self, artifact: &InstalledArtifact) -> Result<Vec<u8>, CommandError> {
        let call = self.client.call(Operation::PreviewArtifact).parameter(&artifact.id);
        Ok(call.send_raw().await?.body)
    }
}

fn installed(
    artifact: &DemoArtifact,
    id: ArtifactId,
    title: String,
    existed: bool,
) -> InstalledArtifact {
    let DemoArtifact { slug, home, source, .. } = *artifact;
    InstalledArtifact { id, title, slug, home, source, existed }
}

fn embedded(text: &str) -> Result<Value, CommandError> {
    serde_json::from_str(text).map_err(|error| {
        CommandError::new(ErrorCode::Internal, format!("the demo's own files are damaged: {error}"))
            .suggest("this is a fault of od; please report it")
    })
}
