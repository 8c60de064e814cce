//! Deciding on a new artifact.

use std::collections::BTreeMap;

use super::Decision;
use super::decision::{permission_remark, remarks, schedule_remark};
use crate::artifact::{
    Artifact, ArtifactState, Attempt, Author, CreateRequest, Digests, DocumentFormat, Pins,
    Provenance, RefreshPermission, RefreshStatus, SchemaVersion, default_template, provenance_of,
};
use crate::error::Issue;
use crate::ids::{ArtifactId, ProjectId, Revision, RunId, Timestamp};
use crate::json::Map;
use crate::ownership::{PathWrite, Place};
use crate::refresh::ChangeReport;

/// Decides on the artifact that a checked request makes: active unless the request says archived,
/// idle, revision 1; without a template it gets a plain page.
///
/// # Errors
///
/// Returns what is wrong with the template, alone or with the data.
pub fn create(request: CreateRequest, context: CreateContext) -> Result<Decision, Vec<Issue>> {
    let CreateRequest { input, template_html, provenance, attempt_id: _, mut warnings } = request;
    let CreateContext { id, project_id, run_id, author, at, pins, attempt } = context;
    let (document, data) = match input.document {
        Some(document) => (Some(document.to_document()), document.data),
        None => (None, Default::default()),
    };
    let mut artifact = Artifact {
        schema_version: SchemaVersion::FIRST,
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
        source_pin: None,
        source_pins: BTreeMap::new(),
        stale: Vec::new(),
        permission_set_by: None,
        withheld: None,
        check_results: Vec::new(),
        schedule_grant: None,
        created_by_attempt: attempt,
        restored: None,
        extra: Map::new(),
    };
    artifact.set_pins(pins);
    // A permission that nobody granted is none that somebody has switched off.
    artifact.permission_set_by =
        (artifact.refresh_permission() == RefreshPermission::Manual).then_some(author);
    let write =
        PathWrite { path: Place::root(), by: author.into(), revision: artifact.revision, at };
    let provenance =
        Provenance { paths: vec![write], ..provenance_of(provenance, &artifact, author, at) };
    if template_html.is_none() {
        // The default page has formats and charts, whatever format was asked for.
        if let Some(document) = &mut artifact.document {
            document.format = DocumentFormat::HtmlTemplateV2;
        }
        let message = "no template was given: the page shows the data by its shape";
        let fix = "write template.html beside artifact.json, or send it as `templateHtml`";
        warnings.push(Issue::new("/templateHtml", "no_template", message).fix(fix));
    }
    let template_html = template_html
        .unwrap_or_else(|| default_template(&artifact.heading.title, data.object()))
        .into();
    let state = ArtifactState { artifact, template_html, data, provenance };
    warnings.extend(permission_remark(&state.artifact));
    warnings.extend(schedule_remark(&state.artifact));
    warnings.extend(remarks(&state));
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
    /// The tools and the accounts that its sources run with now.
    pub pins: Pins,
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
        pins: Pins::new(),
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
