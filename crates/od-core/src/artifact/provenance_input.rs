//! Reading and checking what an agent says of its data's origin.

use super::{GeneratedBy, ProvenanceSource, ProvenanceSourceType};
use crate::error::Issue;
use crate::fields::{Fields, Issues, wrong_type};
use crate::ids::Timestamp;
use crate::json::{Pointer, Value};
use crate::limits;

/// What an agent says of its data's origin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProvenanceInput {
    /// When the data was made, if the agent says so.
    pub generated_at: Option<Timestamp>,
    /// What the agent wants a reader to know.
    pub notes: Option<String>,
    /// The origins.
    pub sources: Vec<ProvenanceSource>,
}

impl ProvenanceInput {
    /// Reads `provenanceJson`.
    ///
    /// # Errors
    ///
    /// Returns every fault at once, at most 20.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        let mut issues = Issues::default();
        let provenance = read_provenance(value, Pointer::root(), &mut issues);
        issues.finish(provenance)
    }
}

pub(super) fn read_provenance(
    value: &Value,
    at: Pointer,
    issues: &mut Issues,
) -> Option<ProvenanceInput> {
    const FIELDS: &[&str] = &["generatedAt", "generatedBy", "notes", "sources"];
    let mut fields = Fields::open(value, at, FIELDS, issues)?;
    let generated_at = fields.parsed("generatedAt");
    // Only the daemon speaks for the refresh runner.
    fields.word("generatedBy", &[GeneratedBy::Agent], GeneratedBy::as_str);
    let notes = fields.text("notes", &limits::NOTES);
    let list_at = fields.at("sources");
    let items = fields.array("sources", &limits::PROVENANCE_SOURCES).unwrap_or_default();
    let sources = items
        .iter()
        .enumerate()
        .filter_map(|(i, item)| read_origin(item, list_at.clone().index(i), issues))
        .collect();
    Some(ProvenanceInput { generated_at, notes, sources })
}

fn read_origin(value: &Value, at: Pointer, issues: &mut Issues) -> Option<ProvenanceSource> {
    const FIELDS: &[&str] = &["label", "type", "ref", "accountLabel"];
    let mut fields = Fields::open(value, at, FIELDS, issues)?;
    fields.required("label");
    fields.required("type");
    let label = fields.text("label", &limits::SHORT_TEXT);
    if label.as_deref().is_some_and(|label| label.trim().is_empty()) {
        let issue = wrong_type(&fields.at("label"), &Value::Null, "a name a reader knows");
        fields.issues.push(issue.got("an empty text").fix("name the origin"));
    }
    let kind = fields.word("type", ProvenanceSourceType::ALL, ProvenanceSourceType::as_str);
    let reference = fields.text("ref", &limits::SHORT_TEXT);
    let account_label = fields.text("accountLabel", &limits::SHORT_TEXT);
    Some(ProvenanceSource { label: label?, kind: kind?, reference, account_label })
}
