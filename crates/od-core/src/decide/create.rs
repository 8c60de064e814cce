//! Deciding on a new artifact.

use super::Decision;
use crate::artifact::{
    ArtifactState, CreateContext, CreateRequest, DataContext, default_template, new_artifact,
    provenance_of,
};
use crate::error::Issue;
use crate::refresh::ChangeReport;

/// Decides on the artifact that a checked request makes; without a template it gets a plain page.
///
/// # Errors
///
/// Returns what is wrong with the template, alone or with the data.
pub fn create(request: CreateRequest, context: CreateContext) -> Result<Decision, Vec<Issue>> {
    let CreateRequest { input, template_html, provenance, attempt_id: _, warnings } = request;
    let (author, at, pin) = (context.author, context.at, context.source_pin.clone());
    let artifact = new_artifact(&input, context);
    let data_context = DataContext { source: artifact.source(), pin: pin.as_ref(), author, at };
    let provenance = provenance_of(provenance, &data_context);
    let data = input.document.map(|document| document.data).unwrap_or_default();
    let template_html = template_html
        .unwrap_or_else(|| default_template(&input.heading.title, data.object()))
        .into();
    let state = ArtifactState { artifact, template_html, data, provenance };
    Decision::of(state, ChangeReport::default(), warnings).map_err(|refused| refused.issues())
}
