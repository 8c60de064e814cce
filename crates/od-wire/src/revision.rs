//! The timeline of an artifact: its revisions, one of them, two of them compared.

use od_core::artifact::Provenance;
use od_core::diff::RevisionDiff;
use od_core::json::{BoundedObject, Value};
use od_core::ledger::CommitRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `{ revisions, nextCursor? }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RevisionsAnswer {
    /// The commits, newest first.
    #[schemars(length(max = 1000))]
    pub revisions: Vec<RevisionLine>,
    /// Gives the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub next_cursor: Option<String>,
}

/// One commit of the timeline.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RevisionLine {
    /// What the log says of it.
    #[serde(flatten)]
    pub commit: CommitRecord,
    /// Whether it can be shown, compared and restored: its contents are kept.
    pub kept: bool,
}

/// `{ revision }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct RevisionAnswer {
    /// The revision as it was committed.
    pub revision: RevisionView,
}

/// One revision as it was committed.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RevisionView {
    /// What the log says of it.
    #[serde(flatten)]
    pub commit: CommitRecord,
    /// Its template.
    #[schemars(length(max = 1_048_576))]
    pub template_html: String,
    /// Its data.
    pub data_json: BoundedObject,
    /// Where the data came from.
    pub provenance: Provenance,
    /// Its source, schema and pin, as `artifact.json` had them.
    pub source: Value,
}

/// `{ comparison }`.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct CompareAnswer {
    /// The two revisions and their difference.
    pub comparison: ComparisonView,
}

/// Two revisions and their difference.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparisonView {
    /// The commit before.
    pub from: CommitRecord,
    /// The commit afterwards.
    pub to: CommitRecord,
    /// The difference.
    #[serde(flatten)]
    pub diff: RevisionDiff,
}
