//! The data and provenance a refresh would commit.

use super::mapping::{MappingError, apply_mapping};
use super::{ChangeReport, report_changes};
use crate::artifact::{
    Artifact, GeneratedBy, Provenance, Source, check_data, origin_of, source_label,
};
use crate::error::{ErrorCode, Issue};
use crate::ids::Timestamp;
use crate::json::{BoundedJson, BoundedObject, JsonFaults, Value};

/// What a refresh is built from.
#[derive(Clone, Copy, Debug)]
pub struct CandidateParts<'a> {
    /// The artifact as it is now.
    pub artifact: &'a Artifact,
    /// Its data now.
    pub data: &'a BoundedObject,
    /// Its provenance now.
    pub provenance: &'a Provenance,
    /// The source that ran.
    pub source: &'a Source,
    /// What it gave, protected.
    pub output: &'a BoundedJson,
    /// The account it ran with.
    pub account_label: Option<&'a str>,
    /// When it ran.
    pub at: Timestamp,
}

/// What a refresh would commit.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The new data.
    pub data: BoundedObject,
    /// Where it came from; the agent's notes are kept.
    pub provenance: Provenance,
    /// What changed in the data.
    pub changes: ChangeReport,
}

/// Why an output does not become data.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CandidateError {
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
}

impl CandidateError {
    /// Returns the code of the refusal.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Mapping(error) => error.code(),
            Self::Limits { faults } if faults.faults().iter().any(|fault| fault.kind.is_size()) => {
                ErrorCode::OutputTooLarge
            }
            Self::Data { issues } if issues.iter().any(is_redaction) => {
                ErrorCode::RedactionRequired
            }
            Self::Limits { .. } | Self::Data { .. } => ErrorCode::LiveArtifactInvalid,
        }
    }

    /// Returns the places and rules of the refusal, as issues of the data.
    #[must_use]
    pub fn issues(&self) -> Vec<Issue> {
        match self {
            Self::Mapping(error) => {
                vec![Issue::new("/document/sourceJson/outputMapping", "mapping", error.to_string())]
            }
            Self::Limits { faults } => faults.issues("/document/dataJson"),
            Self::Data { issues } => issues.clone(),
        }
    }
}

fn is_redaction(issue: &Issue) -> bool {
    issue.code == ErrorCode::RedactionRequired.as_str()
}

/// Builds what a refresh would commit, with the rules of create: limits, denied keys, credentials,
/// the artifact's own schema. Whether the template fits is for its renderer to say.
///
/// # Errors
///
/// Fails at the first rule that refuses; the data as it is stays.
pub fn build_candidate(parts: &CandidateParts<'_>) -> Result<Candidate, CandidateError> {
    let label = source_label(parts.source);
    let mapping = parts.source.output_mapping.as_ref();
    let mapped = apply_mapping(parts.data.object(), parts.output.value(), mapping, &label)?;
    let data = BoundedObject::check(Value::Object(mapped))
        .map_err(|faults| CandidateError::Limits { faults })?;
    let issues = check_data(parts.artifact.document.as_ref(), &data);
    if !issues.is_empty() {
        return Err(CandidateError::Data { issues });
    }
    let changes = report_changes(parts.data.value(), data.value());
    Ok(Candidate { data, provenance: provenance(parts), changes })
}

fn provenance(parts: &CandidateParts<'_>) -> Provenance {
    Provenance {
        generated_at: parts.at,
        generated_by: GeneratedBy::RefreshRunner,
        notes: parts.provenance.notes.clone(),
        sources: vec![origin_of(parts.source, parts.account_label)],
        extra: parts.provenance.extra.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::artifact::{
        Digests, Document, FileDigests, Heading, Preview, RefreshStatus, SchemaVersion,
    };
    use crate::ids::Revision;
    use crate::json::Map;

    fn artifact(schema: Value, source: Value) -> Artifact {
        let file = || FileDigests::of_html(b"");
        let schema = BoundedObject::check(schema).unwrap();
        let source: Source = serde_json::from_value(source).unwrap();
        Artifact {
            schema_version: SchemaVersion::CURRENT,
            id: "la-x-000000000000".parse().unwrap(),
            project_id: "demo".parse().unwrap(),
            session_id: None,
            created_by_run_id: None,
            heading: Heading::of_title("T"),
            pinned: false,
            preview: Preview::html(),
            refresh_status: RefreshStatus::Idle,
            created_at: Timestamp::from_unix_ms(0),
            updated_at: Timestamp::from_unix_ms(0),
            last_refreshed_at: None,
            document: Some(Document::new(Some(schema), Some(source))),
            revision: Revision::first(),
            digests: Digests { template: file(), data: file(), provenance: file(), index: file() },
            source_pin: None,
            permission_set_by: None,
            created_by_attempt: None,
            extra: Map::new(),
        }
    }

    fn build(data: Value, schema: Value, output: Value) -> Result<Candidate, CandidateError> {
        let artifact = artifact(
            schema,
            json!({ "type": "local_file", "input": { "path": "a.json" },
                    "outputMapping": { "dataPaths": [{ "from": "items", "to": "rows" }] } }),
        );
        let provenance = Provenance {
            generated_at: Timestamp::from_unix_ms(0),
            generated_by: GeneratedBy::Agent,
            notes: Some("kept".to_owned()),
            sources: Vec::new(),
            extra: Map::new(),
        };
        build_candidate(&CandidateParts {
            artifact: &artifact,
            data: &BoundedObject::check(data).unwrap(),
            provenance: &provenance,
            source: artifact.source().unwrap(),
            output: &BoundedJson::check(output).unwrap(),
            account_label: Some("me"),
            at: Timestamp::from_unix_ms(9),
        })
    }

    #[test]
    fn a_candidate_says_what_changed_and_where_it_came_from() {
        let candidate =
            build(json!({ "rows": [1], "t": 1 }), json!({}), json!({ "items": [2] })).unwrap();
        assert_eq!(candidate.data.value(), &json!({ "rows": [2], "t": 1 }));
        assert_eq!(candidate.changes.paths, ["/rows/0"]);
        assert_eq!(candidate.provenance.generated_by, GeneratedBy::RefreshRunner);
        assert_eq!(candidate.provenance.notes.as_deref(), Some("kept"));
        assert_eq!(candidate.provenance.sources[0].label, "a.json");
        assert_eq!(candidate.provenance.sources[0].account_label.as_deref(), Some("me"));
    }

    #[test]
    fn every_rule_of_create_holds_again() {
        let code =
            |schema: Value, output: Value| build(json!({}), schema, output).unwrap_err().code();
        let schema = json!({ "properties": { "rows": { "maxItems": 1 } } });
        assert_eq!(code(schema, json!({ "items": [1, 2] })), ErrorCode::LiveArtifactInvalid);
        assert_eq!(code(json!({}), json!({ "x": 1 })), ErrorCode::OutputMappingUnresolved);
        let key = ["gh", "p_abcdefghij0123456789klmn"].concat();
        assert_eq!(code(json!({}), json!({ "items": key })), ErrorCode::RedactionRequired);
        // The output is within the limits; the data that would hold it is one level too deep.
        let deep = json!({ "items": [[[[[[[]]]]]]] });
        let error = build(json!({}), json!({}), deep.clone());
        assert!(error.is_ok());
        let large = "x".repeat(16_000);
        let rows: Vec<&str> = (0..16).map(|_| large.as_str()).collect();
        let full = json!({ "pad": rows });
        let error = build(full, json!({}), json!({ "items": [large] })).unwrap_err();
        assert_eq!(error.code(), ErrorCode::OutputTooLarge);
    }
}
