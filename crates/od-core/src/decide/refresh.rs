//! Deciding on the output of a source.

use std::sync::Arc;

use super::Decision;
use crate::artifact::{
    ArtifactState, GeneratedBy, PageRefused, Provenance, RefreshStatus, Source, SourcePin,
    check_data, origin_of, source_label,
};
use crate::error::{ErrorCode, Issue};
use crate::ids::Timestamp;
use crate::json::{BoundedJson, BoundedObject, JsonFaults, Value};
use crate::refresh::{MappingError, apply_mapping, report_changes};
use crate::template::RenderError;

/// The protected output of a source that ran.
#[derive(Clone, Copy, Debug)]
pub struct SourceOutput<'a> {
    /// The source, as the artifact has it.
    pub source: &'a Source,
    /// Its output.
    pub output: &'a BoundedJson,
    /// The account it ran with.
    pub account_label: Option<&'a str>,
    /// The pin that the artifact has from now on.
    pub pin: Option<&'a SourcePin>,
}

/// Why an output does not become the next state. What is there stays.
#[derive(Debug, thiserror::Error)]
pub enum RefreshRefused {
    /// The output could not be mapped.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// The data would break the limits.
    #[error("the data would break the limits: {faults}")]
    Limits {
        /// Which.
        faults: JsonFaults,
    },
    /// The data would hold what looks like a credential, or would not fit its schema.
    #[error("the data would not be accepted")]
    Data {
        /// Where, and which rule.
        issues: Vec<Issue>,
    },
    /// The stored template has no page for the data.
    #[error(transparent)]
    Page(#[from] PageRefused),
}

/// Decides on the state after a source ran, by the rules of create: mapping, limits, denied keys,
/// credentials, the artifact's own schema, the page. `None` if neither data nor pin would change.
///
/// # Errors
///
/// Fails at the first rule that refuses.
pub fn refresh(
    before: &ArtifactState,
    ran: SourceOutput<'_>,
    at: Timestamp,
) -> Result<Option<Decision>, RefreshRefused> {
    let SourceOutput { source, output, account_label, pin } = ran;
    let label = source_label(source);
    let mapping = source.output_mapping.as_ref();
    let mapped = apply_mapping(before.data.object(), output.value(), mapping, &label)?;
    let data = BoundedObject::check(Value::Object(mapped))
        .map_err(|faults| RefreshRefused::Limits { faults })?;
    let issues = check_data(before.artifact.document.as_ref(), &data);
    if !issues.is_empty() {
        return Err(RefreshRefused::Data { issues });
    }
    let changes = report_changes(before.data.value(), data.value());
    if !changes.is_changed() && pin == before.artifact.source_pin.as_ref() {
        return Ok(None);
    }
    let mut artifact = before.artifact.clone();
    artifact.updated_at = at;
    artifact.last_refreshed_at = Some(at);
    artifact.refresh_status = RefreshStatus::Succeeded;
    artifact.source_pin = pin.cloned();
    let provenance = Provenance {
        generated_at: at,
        generated_by: GeneratedBy::RefreshRunner,
        notes: before.provenance.notes.clone(),
        sources: vec![origin_of(source, account_label)],
        extra: before.provenance.extra.clone(),
    };
    let template_html = Arc::clone(&before.template_html);
    let state = ArtifactState { artifact, template_html, data, provenance };
    Ok(Some(Decision::of(state, changes, Vec::new())?))
}

impl RefreshRefused {
    /// Returns the code of the refusal.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        let is_redaction = |issue: &Issue| issue.code == ErrorCode::RedactionRequired.as_str();
        match self {
            Self::Mapping(error) => error.code(),
            Self::Limits { faults } if faults.faults().iter().any(|fault| fault.kind.is_size()) => {
                ErrorCode::OutputTooLarge
            }
            Self::Data { issues } if issues.iter().any(is_redaction) => {
                ErrorCode::RedactionRequired
            }
            Self::Limits { .. } | Self::Data { .. } => ErrorCode::LiveArtifactInvalid,
            Self::Page(PageRefused::Data(faults))
                if matches!(faults[..], [RenderError::TooLarge { .. }]) =>
            {
                ErrorCode::OutputTooLarge
            }
            Self::Page(_) => ErrorCode::TemplateBindingInvalid,
        }
    }

    /// Returns the places and rules of the refusal.
    #[must_use]
    pub fn issues(&self) -> Vec<Issue> {
        match self {
            Self::Mapping(error) => {
                vec![Issue::new("/document/sourceJson/outputMapping", "mapping", error.to_string())]
            }
            Self::Limits { faults } => faults.issues("/document/dataJson"),
            Self::Data { issues } => issues.clone(),
            Self::Page(refused) => refused.issues(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::create::created;
    use super::*;
    use crate::artifact::Author;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_unix_ms(ms)
    }

    /// An artifact whose source maps `items` to `rows`.
    fn state(data: &Value, schema: &Value, html: &str) -> ArtifactState {
        let source = json!({ "type": "local_file", "input": { "path": "a.json" },
            "outputMapping": { "dataPaths": [{ "from": "items", "to": "rows" }] } });
        let body = json!({ "input": { "title": "T", "document": {
            "dataJson": data, "dataSchemaJson": schema, "sourceJson": source } },
            "templateHtml": html, "provenanceJson": { "notes": "kept", "sources": [] } });
        created(&body, Author::Agent)
    }

    fn refreshed(
        before: &ArtifactState,
        output: Value,
    ) -> Result<Option<Decision>, RefreshRefused> {
        let ran = SourceOutput {
            source: before.artifact.source().unwrap(),
            output: &BoundedJson::check(output).unwrap(),
            account_label: Some("me"),
            pin: None,
        };
        refresh(before, ran, at(9))
    }

    #[test]
    fn a_decision_says_what_changed_and_where_it_came_from() {
        let before = state(&json!({ "rows": [1], "t": 1 }), &json!({}), "<p>{{data.t}}</p>");
        let decision = refreshed(&before, json!({ "items": [2] })).unwrap().unwrap();
        assert_eq!(decision.state.data.value(), &json!({ "rows": [2], "t": 1 }));
        assert_eq!(decision.changes.paths, ["/rows/0"]);
        let provenance = &decision.state.provenance;
        assert_eq!(provenance.generated_by, GeneratedBy::RefreshRunner);
        assert_eq!(provenance.notes.as_deref(), Some("kept"));
        assert_eq!(provenance.sources[0].label, "a.json");
        assert_eq!(provenance.sources[0].account_label.as_deref(), Some("me"));
        assert_eq!(decision.state.artifact.last_refreshed_at, Some(at(9)));
    }

    #[test]
    fn the_same_output_decides_nothing() {
        let before = state(&json!({ "rows": [1] }), &json!({}), "<p></p>");
        assert!(refreshed(&before, json!({ "items": [1] })).unwrap().is_none());
    }

    #[test]
    fn every_rule_of_create_holds_again() {
        let code = |schema: Value, output: Value| {
            let before = state(&json!({ "rows": [] }), &schema, "<p></p>");
            refreshed(&before, output).unwrap_err().code()
        };
        let schema = json!({ "properties": { "rows": { "maxItems": 1 } } });
        assert_eq!(code(schema, json!({ "items": [1, 2] })), ErrorCode::LiveArtifactInvalid);
        assert_eq!(code(json!({}), json!({ "x": 1 })), ErrorCode::OutputMappingUnresolved);
        let key = ["gh", "p_abcdefghij0123456789klmn"].concat();
        assert_eq!(code(json!({}), json!({ "items": key })), ErrorCode::RedactionRequired);
        // The output is within the limits, and so is the data; together they are not.
        let large = "x".repeat(16_000);
        let rows: Vec<&str> = (0..16).map(|_| large.as_str()).collect();
        let full = state(&json!({ "pad": rows }), &json!({}), "<p></p>");
        let error = refreshed(&full, json!({ "items": [large] })).unwrap_err();
        assert_eq!(error.code(), ErrorCode::OutputTooLarge);
        let before = state(&json!({ "rows": [] }), &json!({}), "<p>{{data.rows.0}}</p>");
        let error = refreshed(&before, json!({ "items": [{}] })).unwrap_err();
        assert_eq!(error.code(), ErrorCode::TemplateBindingInvalid);
    }
}
