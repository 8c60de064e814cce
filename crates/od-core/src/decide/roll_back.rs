//! Deciding on a return to an earlier state.

use std::sync::Arc;

use super::Decision;
use crate::artifact::{
    Artifact, ArtifactState, Document, Provenance, RefreshPermission, Restored, check_data,
    check_targets,
};
use crate::error::Issue;
use crate::ids::{Revision, Timestamp};
use crate::json::{BoundedObject, Value};
use crate::ledger::RevisionSource;
use crate::limits;
use crate::ownership::{
    Kept, Ownership, PathWrite, Place, forget, known_writes, last_write, name_places,
};
use crate::refresh::report_changes;

/// An earlier state, as far as it is kept.
#[derive(Clone, Debug)]
pub struct EarlierState {
    /// The data.
    pub data: BoundedObject,
    /// The provenance of the data.
    pub provenance: Provenance,
    /// The template and the source; none if only the data was kept.
    pub design: Option<Design>,
    /// The revision that it was, if that is known.
    pub revision: Option<Revision>,
    /// When it was made.
    pub state_of: Timestamp,
}

/// The parts of a revision that a refresh does not change.
#[derive(Clone, Debug)]
pub struct Design {
    /// The template.
    pub template_html: Arc<str>,
    /// The document and its pin.
    pub source: RevisionSource,
}

/// Decides on the return to an earlier state: with its own template, schema and source if they were
/// kept, otherwise with those of today. `None` if the artifact is in that state already.
///
/// The permission to refresh is never wider than it is now.
///
/// Where only data comes back, what belongs to a source today takes only what a source wrote then: a place that was the author's
/// at that time and was handed over since keeps what the source gave.
///
/// # Errors
///
/// Returns what does not fit together, at most 20 issues.
pub fn roll_back(
    before: &ArtifactState,
    to: EarlierState,
    at: Timestamp,
) -> Result<Option<Decision>, Vec<Issue>> {
    let EarlierState { data, provenance, design, revision, state_of } = to;
    let mut artifact = before.artifact.clone();
    let (template_html, fitted) = match design {
        // Data, template and source of one time fit each other, and so does who writes what.
        Some(Design { template_html, source }) => {
            artifact.document = restored_document(&before.artifact, source.document);
            artifact.source_pin = source.source_pin;
            artifact.source_pins = source.source_pins;
            (template_html, Fitted { data, provenance, warnings: Vec::new(), issues: Vec::new() })
        }
        None => (Arc::clone(&before.template_html), fit(before, data, provenance)),
    };
    let Fitted { data, provenance, warnings, mut issues } = fitted;
    if before.data == data
        && before.provenance == provenance
        && before.template_html == template_html
        && before.artifact == artifact
    {
        return Ok(None);
    }
    let changes = report_changes(before.data.value(), data.value());
    artifact.updated_at = at;
    artifact.restored = Some(Restored { revision, at, state_of });
    let document = artifact.document.as_ref();
    issues.extend(check_data(document, &data));
    issues.extend(check_targets(document, &data));
    let state = ArtifactState { artifact, template_html, data, provenance };
    match Decision::of(state, changes, warnings) {
        Ok(decision) if issues.is_empty() => Ok(Some(decision)),
        decided => {
            issues.extend(decided.err().map(|refused| refused.issues()).unwrap_or_default());
            issues.truncate(limits::JSON_FAULTS.max());
            Err(issues)
        }
    }
}

/// Data of an earlier time as far as it may come back under the source of today.
struct Fitted {
    data: BoundedObject,
    provenance: Provenance,
    warnings: Vec<Issue>,
    issues: Vec<Issue>,
}

fn fit(before: &ArtifactState, then: BoundedObject, provenance: Provenance) -> Fitted {
    let ownership = Ownership::of_state(before);
    // Before writes were remembered only refreshes left states: what they hold is the source's.
    let was_sources = |place: &Place| {
        let paths = &provenance.paths;
        paths.is_empty() || paths.iter().any(|write| write.path == *place && write.is_refreshed())
    };
    let places: Vec<Place> = ownership.places().map(|(place, _)| place.clone()).collect();
    let handed_over: Vec<Place> = places.into_iter().filter(|place| !was_sources(place)).collect();
    let Kept { data, places } = Kept::new(before.data.value(), then.object(), &handed_over);
    let mut paths = provenance.paths.clone();
    let known = known_writes(before);
    for place in &handed_over {
        paths.retain(|then| !then.path.is_within(place));
        let holds = last_write(&known, place);
        paths.extend(holds.map(|write| PathWrite { path: place.clone(), ..write.clone() }));
        let inside = known.iter().filter(|write| write.path.is_within(place));
        paths.extend(inside.filter(|write| write.path != *place).cloned());
    }
    let warnings = if places.is_empty() {
        Vec::new()
    } else {
        let message = format!(
            "{} did not belong to a source at that time and do now: their present values stay",
            name_places(&places)
        );
        vec![Issue::new("/document/dataJson", "source_values_kept", message)]
    };
    let (data, issues) = match BoundedObject::check(Value::Object(data)) {
        Ok(data) => (data, Vec::new()),
        Err(faults) => (then, faults.issues("/document/dataJson")),
    };
    forget(&mut paths, data.value());
    Fitted { data, provenance: Provenance { paths, ..provenance }, warnings, issues }
}

/// Returns the document of then with the permission of now where it runs the same source, and
/// otherwise with a permission that both have: nobody allowed today what was allowed to another one.
fn restored_document(now: &Artifact, then: Option<Document>) -> Option<Document> {
    let mut document = then?;
    // A schedule and checks are no part of what a page showed: they stay as they are.
    document.refresh = now.document.as_ref().and_then(|document| document.refresh.clone());
    document.checks =
        now.document.as_ref().map(|document| document.checks.clone()).unwrap_or_default();
    let is_same = now.document.as_ref().is_some_and(|present| present.runs_as(&document));
    let permission = match (now.refresh_permission(), document.permission()) {
        (RefreshPermission::None, _) => RefreshPermission::None,
        (RefreshPermission::Manual, RefreshPermission::None) if !is_same => RefreshPermission::None,
        (RefreshPermission::Manual, _) => RefreshPermission::Manual,
    };
    document.set_permission(permission);
    Some(document)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::create::created;
    use super::*;
    use crate::artifact::Author;

    fn state(html: &str) -> ArtifactState {
        let document = json!({ "dataJson": { "n": 1 },
            "dataSchemaJson": { "properties": { "n": { "maximum": 5 } } } });
        let input = json!({ "title": "T", "document": document });
        created(&json!({ "input": input, "templateHtml": html }), Author::Agent)
    }

    fn earlier(before: &ArtifactState, data: Value, design: Option<Design>) -> EarlierState {
        EarlierState {
            data: BoundedObject::check(data).unwrap(),
            provenance: before.provenance.clone(),
            design,
            revision: None,
            state_of: Timestamp::from_unix_ms(1),
        }
    }

    fn to(before: &ArtifactState, data: Value) -> Result<Option<Decision>, Vec<Issue>> {
        roll_back(before, earlier(before, data, None), Timestamp::from_unix_ms(9))
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
    fn a_path_that_a_source_has_got_since_keeps_what_the_source_gave() {
        let source = json!({ "type": "local_file", "input": { "path": "a.json" },
            "outputMapping": { "dataPaths": [{ "from": "a", "to": "a" }, { "from": "b", "to": "b" }] } });
        let body = json!({ "input": { "title": "T", "document": {
            "dataJson": { "a": 1, "b": 1, "c": 1 }, "sourceJson": source } } });
        let mut before = created(&body, Author::Agent);
        let wrote = |path: &str| -> PathWrite {
            let read = json!({ "id": "source", "label": "l", "call": "c", "from": "x" });
            let write = json!({ "path": path, "by": { "source": read }, "revision": 2,
                "at": "2026-04-30T00:00:00.000Z" });
            serde_json::from_value(write).unwrap()
        };
        before.provenance.paths.extend([wrote("/a"), wrote("/b")]);
        let mut then = before.provenance.clone();
        then.paths.pop();
        let data = json!({ "a": 0, "b": 0, "c": 0 });
        let to = EarlierState { provenance: then, ..earlier(&before, data, None) };
        let decision = roll_back(&before, to, Timestamp::from_unix_ms(9)).unwrap().unwrap();
        assert_eq!(decision.state.data.value(), &json!({ "a": 0, "b": 1, "c": 0 }));
        assert_eq!(decision.state.provenance.paths, before.provenance.paths);
        assert!(decision.warnings[0].message.starts_with("b did not belong to a source"));
    }

    #[test]
    fn what_does_not_fit_the_artifact_of_today_is_told_at_once() {
        let before = state("<p>{{data.n}}</p><p>{{data.o}}</p>");
        let issues = to(&before, json!({ "n": 6, "o": {} })).unwrap_err();
        let paths: Vec<&str> = issues.iter().map(|issue| issue.path.as_str()).collect();
        assert_eq!(paths, ["/document/dataJson/n", "template.html:1:21"]);
    }

    fn sourced(path: &str, permission: &str) -> ArtifactState {
        let source = json!({ "type": "local_file", "input": { "path": path },
            "refreshPermission": permission });
        let input = json!({ "title": "T", "document": { "dataJson": {}, "sourceJson": source } });
        created(
            &json!({ "input": input, "templateHtml": format!("<p>{path}</p>") }),
            Author::Person,
        )
    }

    #[test]
    fn a_revision_comes_back_with_its_design_and_says_whose_state_it_is() {
        let (then, now) = (sourced("a.json", "none"), sourced("b.json", "none"));
        let source = RevisionSource::of(&then.artifact);
        let design = Design { template_html: Arc::clone(&then.template_html), source };
        let at = Timestamp::from_unix_ms(9);
        let decision =
            roll_back(&now, earlier(&then, json!({}), Some(design)), at).unwrap().unwrap();
        assert_eq!(&*decision.page, b"<p>a.json</p>");
        assert_eq!(decision.state.artifact.document, then.artifact.document);
        let restored = decision.state.artifact.restored.unwrap();
        assert_eq!((restored.at, restored.state_of), (at, Timestamp::from_unix_ms(1)));
    }

    #[test]
    fn a_restore_never_widens_the_permission() {
        const GRANTED: &str = "manual_refresh_granted_for_read_only";
        for (was, is, same, after) in [
            ("none", "none", true, "none"),
            (GRANTED, "none", true, "none"),
            (GRANTED, "none", false, "none"),
            ("none", GRANTED, true, GRANTED),
            ("none", GRANTED, false, "none"),
            (GRANTED, GRANTED, false, GRANTED),
        ] {
            let then = sourced(if same { "b.json" } else { "a.json" }, was);
            let now = sourced("b.json", is);
            let document = restored_document(&now.artifact, then.artifact.document).unwrap();
            let permission = document.source_json.unwrap().refresh_permission;
            assert_eq!(permission.as_str(), after, "{was} then, {is} now, same source: {same}");
        }
    }
}
