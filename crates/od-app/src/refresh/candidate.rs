//! The state a refresh would commit, built and checked before anything is written.

use std::sync::Arc;

use od_core::artifact::{ArtifactState, RefreshStatus, Source, SourcePin};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::Timestamp;
use od_core::limits::RENDERED_PREVIEW;
use od_core::refresh::{CandidateParts, ChangeReport, MappingError, build_candidate};
use od_core::template::{RenderError, Template};

use super::fault::RefreshFault;
use crate::connectors::execute::Executed;

/// What a refresh would commit.
#[derive(Debug)]
pub(super) struct Candidate {
    /// The next state and its page; `None` if nothing changed.
    pub(super) next: Option<(ArtifactState, Arc<[u8]>)>,
    /// What is different in the data.
    pub(super) changes: ChangeReport,
}

/// Why what a source gave does not become the artifact's page.
#[derive(Debug, thiserror::Error)]
pub enum CandidateFault {
    /// It does not become valid data.
    #[error(transparent)]
    Data(#[from] od_core::refresh::CandidateError),
    /// The template does not fit the data.
    #[error("the template does not fit the refreshed data: {0}")]
    Render(#[from] RenderError),
    /// The stored template is none of this version's templates.
    #[error("the stored template does not compile")]
    Template,
}

/// Maps the output into the data, validates the result as create and update do, and renders it.
pub(super) fn build(
    current: &ArtifactState,
    source: &Source,
    executed: &Executed,
    pin: Option<SourcePin>,
    now: Timestamp,
) -> Result<Candidate, RefreshFault> {
    let parts = CandidateParts {
        artifact: &current.artifact,
        data: &current.data,
        provenance: &current.provenance,
        source,
        output: &executed.output,
        account_label: executed.account_label.as_deref(),
        at: now,
    };
    let built = build_candidate(&parts).map_err(CandidateFault::Data)?;
    if !built.changes.is_changed() && pin == current.artifact.source_pin {
        return Ok(Candidate { next: None, changes: built.changes });
    }
    let (template, _) =
        Template::compile(&current.template_html).map_err(|_| CandidateFault::Template)?;
    let mut page = Vec::new();
    template.render(built.data.value(), &mut page).map_err(CandidateFault::Render)?;
    let mut artifact = current.artifact.clone();
    artifact.updated_at = now;
    artifact.last_refreshed_at = Some(now);
    artifact.refresh_status = RefreshStatus::Succeeded;
    artifact.source_pin = pin;
    let state = ArtifactState {
        artifact,
        template_html: Arc::clone(&current.template_html),
        data: built.data,
        provenance: built.provenance,
    };
    Ok(Candidate { next: Some((state, page.into())), changes: built.changes })
}

impl From<CandidateFault> for Failure {
    fn from(err: CandidateFault) -> Self {
        let message = err.to_string();
        match err {
            CandidateFault::Data(od_core::refresh::CandidateError::Mapping(fault)) => {
                mapping_failure(fault)
            }
            CandidateFault::Data(fault) => {
                let failure = Self::validation(fault.code(), &fault.issues());
                let message = format!("the refreshed data cannot be stored: {}", failure.message);
                Self { message, ..failure }
            }
            CandidateFault::Render(RenderError::TooLarge { measured }) => {
                Self::new(ErrorCode::OutputTooLarge, message)
                    .suggest("map fewer rows, or repeat less in the template")
                    .detail("limit", RENDERED_PREVIEW.want())
                    .detail("measured", measured)
                    .detail("allowed", RENDERED_PREVIEW.allowed)
                    .detail("howMeasured", RENDERED_PREVIEW.how_measured)
            }
            CandidateFault::Render(_) | CandidateFault::Template => {
                Self::new(ErrorCode::TemplateBindingInvalid, message)
                    .suggest("change the template, or the mapping, so that they fit each other")
            }
        }
    }
}

fn mapping_failure(fault: MappingError) -> Failure {
    let failure = Failure::new(fault.code(), fault.to_string());
    match fault {
        MappingError::Unresolved { from, nearest } => failure
            .suggest(format!("map from one of: {}", nearest.join(", ")))
            .detail("from", from.as_str())
            .detail("nearest", nearest),
        MappingError::Blocked { to, .. } => failure
            .suggest("map to a place below an object, or change what stands on the way")
            .detail("to", to.as_str()),
        MappingError::Transform { .. } => {
            failure.suggest("use the transform that fits the value, or `identity`")
        }
        MappingError::NotAnObject { .. } => failure.suggest(
            "give `outputMapping.dataPaths`, such as [{\"from\": \"$\", \"to\": \"rows\"}]",
        ),
    }
}
