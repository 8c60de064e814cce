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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::create::created;
    use super::*;
    use crate::artifact::Author;
    use crate::json::Value;

    fn state(html: &str) -> ArtifactState {
        let document = json!({ "dataJson": { "n": 1 },
            "dataSchemaJson": { "properties": { "n": { "maximum": 5 } } } });
        let input = json!({ "title": "T", "document": document });
        created(&json!({ "input": input, "templateHtml": html }), Author::Agent)
    }

    fn to(before: &ArtifactState, data: Value) -> Result<Option<Decision>, Vec<Issue>> {
        let data = BoundedObject::check(data).unwrap();
        roll_back(before, data, before.provenance.clone(), Timestamp::from_unix_ms(9))
    }

    #[test]
    fn the_template_of_today_shows_the_data_of_then() {
        let before = state("<p>{{data.n}}</p>");
        let decision = to(&before, json!({ "n": 2 })).unwrap().unwrap();
        assert_eq!(&*decision.page, b"<p>2</p>");
        assert_eq!(decision.changes.paths, ["/n"]);
        assert!(to(&before, json!({ "n": 1 })).unwrap().is_none(), "it is in that state");
    }

    #[test]
    fn what_does_not_fit_the_artifact_of_today_is_told_at_once() {
        let before = state("<p>{{data.n}}</p><p>{{data.o}}</p>");
        let issues = to(&before, json!({ "n": 6, "o": {} })).unwrap_err();
        let paths: Vec<&str> = issues.iter().map(|issue| issue.path.as_str()).collect();
        assert_eq!(paths, ["/document/dataJson/n", "template.html:1:21"]);
    }
}
