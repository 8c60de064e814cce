//! Deciding on a change that an author asks for.

use std::sync::Arc;

use super::Decision;
use super::page::check_page;
use crate::artifact::{
    AppliedUpdate, ApplyUpdateError, ArtifactState, Author, DataContext, Patch, Provenance, Source,
    SourceChange, SourcePin, UpdateRequest, apply_update, provenance_of, source_change,
};
use crate::error::Issue;
use crate::ids::Timestamp;
use crate::limits;
use crate::refresh::report_changes;

/// Why an update may not be made.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UpdateRefused {
    /// A person has switched refreshing off; an agent may not switch it on.
    #[error("a person has switched refreshing off")]
    SwitchedOff,
    /// The next state would break rules; the pointers are from the root of the request.
    #[error("the change breaks {} rules", issues.len())]
    Invalid {
        /// What is wrong, where, and what would be right.
        issues: Vec<Issue>,
    },
}

/// Decides on the next state of an artifact that an author changes. A new source gets the pin, which
/// is that of the check of [`new_source`]; everything that the daemon owns stays as it is.
///
/// # Errors
///
/// Refuses an agent what a person switched off; otherwise returns every fault of the next state, at
/// most 20: of its data, of its source's targets, of its page.
pub fn update(
    before: &ArtifactState,
    request: &UpdateRequest,
    pin: Option<SourcePin>,
    author: Author,
    at: Timestamp,
) -> Result<Decision, UpdateRefused> {
    let UpdateRequest { input, template_html, provenance, if_revision: _, warnings } = request;
    let input = input.clone().unwrap_or_default();
    let new_data = input.document.as_ref().and_then(|document| document.data.clone());
    let template_html =
        template_html.as_deref().map_or_else(|| Arc::clone(&before.template_html), Arc::from);
    let applied = match apply_update(before, input, author) {
        Ok(applied) => applied,
        Err(ApplyUpdateError::SwitchedOff) => return Err(UpdateRefused::SwitchedOff),
        Err(ApplyUpdateError::Invalid { issues }) => {
            let data = new_data.as_ref().unwrap_or(&before.data);
            let faults = check_page(&template_html, Some(data.value()));
            let issues = issues.into_iter().map(|issue| issue.under("/input")).chain(faults);
            return Err(invalid(issues));
        }
    };
    let AppliedUpdate { mut artifact, data, source } = applied;
    if source == SourceChange::Replaced {
        artifact.source_pin = pin;
    }
    artifact.updated_at = at;
    let provenance = if provenance.is_some() || new_data.is_some() {
        let pin = artifact.source_pin.as_ref();
        let context = DataContext { source: artifact.source(), pin, author, at };
        let known = provenance_of(provenance.clone(), &context);
        // New data without a word about it has another origin; what was noted still holds.
        let kept = before.provenance.notes.clone().filter(|_| provenance.is_none());
        Provenance { notes: known.notes.or(kept), ..known }
    } else {
        before.provenance.clone()
    };
    let changes = report_changes(before.data.value(), data.value());
    let state = ArtifactState { artifact, template_html, data, provenance };
    Decision::of(state, changes, warnings.clone()).map_err(|refused| invalid(refused.issues()))
}

/// Returns the source that an update brings and that has to be checked and pinned before it is
/// decided on; none if what runs stays the same.
#[must_use]
pub fn new_source<'r>(before: &ArtifactState, request: &'r UpdateRequest) -> Option<&'r Source> {
    let patch = &request.input.as_ref()?.document.as_ref()?.source;
    match (source_change(before.artifact.source(), patch), patch) {
        (SourceChange::Replaced, Patch::Set(source)) => Some(source),
        (
            SourceChange::Kept | SourceChange::Removed | SourceChange::Replaced,
            Patch::Keep | Patch::Remove | Patch::Set(_),
        ) => None,
    }
}

fn invalid(issues: impl IntoIterator<Item = Issue>) -> UpdateRefused {
    UpdateRefused::Invalid { issues: issues.into_iter().take(limits::JSON_FAULTS.max()).collect() }
}
