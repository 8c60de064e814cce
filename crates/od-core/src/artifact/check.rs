//! The rules that a stored state keeps, whoever wrote it.

use super::document::{blocked_targets, design_issues};
use super::page::{PageRefused, PageSettings, render_page};
use super::provenance::ProvenanceInput;
use super::{Artifact, Document, HealthReason, Provenance};
use crate::error::Issue;
use crate::input::{Input as _, Issues, credential_issues};
use crate::json::{BoundedObject, Map, Pointer, Value};
use crate::schema::DataSchema;

/// Checks data against its document's schema, and for credentials; the same check everywhere data
/// enters: create, update, refresh, and an edit by hand.
#[must_use]
pub fn check_data(document: Option<&Document>, data: &BoundedObject) -> Vec<Issue> {
    let at = Pointer::root().key("document").key("dataJson");
    let mut issues = credential_issues(data.value(), &at);
    let schema = document.and_then(|document| document.data_schema_json.as_ref());
    let Some(schema) = schema else { return issues };
    let broken = match DataSchema::compile(schema.value()) {
        Ok(schema) => schema.check(data.value()),
        Err(broken) => broken,
    };
    issues.extend(broken.into_iter().map(|issue| issue.under(at.as_str())));
    issues
}

/// Checks that a refresh could write to every place that its document's sources and queries name.
#[must_use]
pub fn check_targets(document: Option<&Document>, data: &BoundedObject) -> Vec<Issue> {
    let at = Pointer::root().key("document");
    document.map(|document| blocked_targets(document, data, &at)).unwrap_or_default()
}

/// Checks the rules between the sources and the queries of a document.
#[must_use]
pub fn check_design(document: Option<&Document>) -> Vec<Issue> {
    let at = Pointer::root().key("document");
    document.map(|document| design_issues(document, &at)).unwrap_or_default()
}

/// Checks provenance by the rules of its input: lengths, words, credentials. Only who made the data
/// is not asked, for a refresh makes it too.
#[must_use]
pub fn check_provenance(provenance: &Provenance) -> Vec<Issue> {
    let mut issues = Issues::default();
    let at = Pointer::root();
    let known = Provenance {
        extra: Map::new(),
        paths: Vec::new(),
        stale: Vec::new(),
        ..provenance.clone()
    };
    // A provenance is always written as an object.
    if let Ok(Value::Object(mut fields)) = serde_json::to_value(known) {
        fields.remove("generatedBy");
        ProvenanceInput::read(&Value::Object(fields), at.clone(), &mut issues);
    }
    issues.extend(credential_issues(&Value::Object(provenance.extra.clone()), &at));
    // Places, labels and calls: writing them cannot fail.
    let paths = serde_json::to_value(&provenance.paths).unwrap_or_default();
    issues.extend(credential_issues(&paths, &at.key("paths")));
    match issues.finish(Some(())) {
        Ok(((), _)) => Vec::new(),
        Err(issues) => issues,
    }
}

/// Checks a whole state by the rules of create: template, data, provenance, and that the page can be
/// drawn. The source is not asked: what it can do is for a refresh to say.
///
/// # Errors
///
/// Returns what is wrong first, as an artifact that holds it is reported.
pub fn check_state(
    artifact: &Artifact,
    template_html: &str,
    data: &BoundedObject,
    provenance: &Provenance,
) -> Result<(), HealthReason> {
    let settings = PageSettings::new(artifact.document.as_ref(), provenance.generated_at);
    let page = render_page(template_html, data.value(), &settings);
    if let Err(PageRefused::Template(_) | PageRefused::NewerFormat { .. }) = page {
        return Err(HealthReason::TemplateInvalid);
    }
    if !check_data(artifact.document.as_ref(), data).is_empty() {
        return Err(HealthReason::DataInvalid);
    }
    if !check_provenance(provenance).is_empty() {
        return Err(HealthReason::ProvenanceInvalid);
    }
    page.map(|_| ()).map_err(|_| HealthReason::DataInvalid)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Author;
    use super::*;
    use crate::decide::created;

    /// Judges an edit of a state whose schema asks for a number.
    fn judge(template: &str, data: Value, provenance: &Value) -> Result<(), HealthReason> {
        let body = json!({ "input": { "title": "T", "document": {
            "dataJson": { "n": 1 },
            "dataSchemaJson": { "properties": { "n": { "type": "number" } } },
        }}});
        let state = created(&body, Author::Agent);
        let mut known = serde_json::to_value(&state.provenance).unwrap();
        for (key, value) in provenance.as_object().unwrap() {
            known[key] = value.clone();
        }
        let data = BoundedObject::check(data).unwrap();
        check_state(&state.artifact, template, &data, &serde_json::from_value(known).unwrap())
    }

    const PAGE: &str = "<!doctype html><title>T</title><p>{{data.n}}</p>";

    fn key() -> String {
        ["gh", "p_abcdefghij0123456789klmnopqrst"].concat()
    }

    #[test]
    fn a_sound_state_is_sound_whoever_made_it() {
        let by_refresh = json!({ "generatedBy": "refresh_runner", "newer": { "field": 1 } });
        assert_eq!(judge(PAGE, json!({ "n": 2 }), &by_refresh), Ok(()));
    }

    #[test]
    fn the_rules_of_create_hold_for_every_part() {
        let template = |html: &str| judge(html, json!({ "n": 2 }), &json!({}));
        assert_eq!(template("<script></script>"), Err(HealthReason::TemplateInvalid));
        let with_key = format!("<p>{}</p>", key());
        assert_eq!(template(&with_key), Err(HealthReason::TemplateInvalid));
        let data = |data: Value| judge(PAGE, data, &json!({}));
        assert_eq!(data(json!({ "n": "text" })), Err(HealthReason::DataInvalid));
        assert_eq!(data(json!({ "m": key() })), Err(HealthReason::DataInvalid));
        let unshowable = judge("<p>{{data.m}}</p>", json!({ "m": {} }), &json!({}));
        assert_eq!(unshowable, Err(HealthReason::DataInvalid));
        for provenance in [
            json!({ "notes": key() }),
            json!({ "notes": "x".repeat(16_385) }),
            json!({ "sources": [{ "label": " ", "type": "derived" }] }),
            json!({ "newer": [key()] }),
        ] {
            let judged = judge(PAGE, json!({ "n": 2 }), &provenance);
            assert_eq!(judged, Err(HealthReason::ProvenanceInvalid), "{provenance}");
        }
    }
}
