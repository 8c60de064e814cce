//! Deciding on a return to an earlier state.

use std::sync::Arc;

use super::Decision;
use crate::artifact::{ArtifactState, Provenance, check_data, check_targets};
use crate::error::Issue;
use crate::ids::Timestamp;
use crate::json::BoundedObject;
use crate::limits;
use crate::refresh::report_changes;

/// Decides on the state that has the data and the provenance of an earlier one, with the template,
/// the schema and the source of today. `None` if the artifact is in that state already.
///
/// # Errors
///
/// Returns what does not fit the artifact of today, at most 20 issues.
pub fn roll_back(
    before: &ArtifactState,
    data: BoundedObject,
    provenance: Provenance,
    at: Timestamp,
) -> Result<Option<Decision>, Vec<Issue>> {
    if before.data == data && before.provenance == provenance {
        return Ok(None);
    }
    let changes = report_changes(before.data.value(), data.value());
    let mut artifact = before.artifact.clone();
    artifact.updated_at = at;
    let document = artifact.document.as_ref();
    let mut issues = check_data(document, &data);
    issues.extend(check_targets(document, &data));
    let template_html = Arc::clone(&before.template_html);
    let state = ArtifactState { artifact, template_html, data, provenance };
    match Decision::of(state, changes, Vec::new()) {
        Ok(decision) if issues.is_empty() => Ok(Some(decision)),
        decided => {
            issues.extend(decided.err().map(|refused| refused.issues()).unwrap_or_default());
            issues.truncate(limits::JSON_FAULTS.max());
            Err(issues)
        }
    }
}
