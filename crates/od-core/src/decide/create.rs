//! Deciding on a new artifact.

use super::Decision;
use crate::artifact::{
    Artifact, ArtifactState, Attempt, Author, CreateRequest, Digests, Document, RefreshPermission,
    RefreshStatus, SchemaVersion, SourcePin, default_template, provenance_of,
};
use crate::error::Issue;
use crate::ids::{ArtifactId, ProjectId, Revision, RunId, Timestamp};
use crate::json::Map;
use crate::refresh::ChangeReport;

/// Decides on the artifact that a checked request makes: active unless the request says archived,
/// idle, revision 1; without a template it gets a plain page.
///
/// # Errors
///
/// Returns what is wrong with the template, alone or with the data.
pub fn create(request: CreateRequest, context: CreateContext) -> Result<Decision, Vec<Issue>> {
    let CreateRequest { input, template_html, provenance, attempt_id: _, warnings } = request;
    let CreateContext { id, project_id, run_id, author, at, source_pin, attempt } = context;
    let (document, data) = match input.document {
        Some(document) => {
            (Some(Document::new(document.data_schema, document.source)), document.data)
        }
        None => (None, Default::default()),
    };
    let mut artifact = Artifact {
        schema_version: SchemaVersion::CURRENT,
        id,
        project_id,
        session_id: input.session_id,
        created_by_run_id: run_id,
        heading: input.heading,
        pinned: input.pinned,
        preview: input.preview,
        refresh_status: RefreshStatus::Idle,
        created_at: at,
        updated_at: at,
        last_refreshed_at: None,
        document,
        revision: Revision::first(),
        digests: Digests::unset(),
        source_pin,
        permission_set_by: None,
        created_by_attempt: attempt,
        extra: Map::new(),
    };
    // A permission that nobody granted is none that somebody has switched off.
    artifact.permission_set_by =
        (artifact.refresh_permission() == RefreshPermission::Manual).then_some(author);
    let provenance = provenance_of(provenance, &artifact, author, at);
    let template_html = template_html
        .unwrap_or_else(|| default_template(&artifact.heading.title, data.object()))
        .into();
    let state = ArtifactState { artifact, template_html, data, provenance };
    Decision::of(state, ChangeReport::default(), warnings).map_err(|refused| refused.issues())
}

/// The facts of a new artifact that its request does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateContext {
    /// The artifact.
    pub id: ArtifactId,
    /// Its project.
    pub project_id: ProjectId,
    /// The run that creates it.
    pub run_id: Option<RunId>,
    /// The one who creates it.
    pub author: Author,
    /// The time of the creation.
    pub at: Timestamp,
    /// The tool and the account that its source runs with now.
    pub source_pin: Option<SourcePin>,
    /// The attempt, if the client named one.
    pub attempt: Option<Attempt>,
}

/// Makes the state of a body, for tests of what comes after it.
#[cfg(test)]
pub(crate) fn created(body: &crate::json::Value, author: Author) -> ArtifactState {
    let context = CreateContext {
        id: "la-x-000000000000".parse().unwrap(),
        project_id: "demo".parse().unwrap(),
        run_id: None,
        author,
        at: Timestamp::from_unix_ms(0),
        source_pin: None,
        attempt: None,
    };
    create(CreateRequest::parse(body).unwrap(), context).unwrap().state
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::artifact::Status;

    #[test]
    fn a_new_artifact_is_active_idle_and_first() {
        let artifact = created(&json!({ "input": { "title": "T" } }), Author::Agent).artifact;
        assert_eq!(artifact.heading.status, Status::Active);
        assert_eq!(artifact.refresh_status, RefreshStatus::Idle);
        assert_eq!(artifact.revision, Revision::first());
    }
}
