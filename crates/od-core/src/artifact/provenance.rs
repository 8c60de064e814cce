//! Where the data of an artifact came from.

use super::document::{Source, SourceRef, SourceType, StaleSource};
use super::{Artifact, Author};
use crate::ids::Timestamp;
use crate::input::{Issues, Reader, input, list, one_of, parsed, schema, text, wrong_type};
use crate::json::{Map, Pointer, Value};
use crate::limits;
use crate::ownership::PathWrite;
use crate::words::words;

words! {
    /// Who made the data.
    GeneratedBy {
        /// An agent, when it created or changed the artifact.
        Agent = "agent",
        /// The daemon, when it refreshed it.
        RefreshRunner = "refresh_runner",
    }
}

words! {
    /// What kind of origin it is.
    ProvenanceSourceType {
        /// A connector.
        Connector = "connector",
        /// A file of the project.
        LocalFile = "local_file",
        /// What the person said.
        UserInput = "user_input",
        /// Computed from other origins.
        Derived = "derived",
    }
}

/// Where the data came from: `provenance.json`.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Provenance {
    /// When the data was made.
    pub generated_at: Timestamp,
    /// Who made it.
    pub generated_by: GeneratedBy,
    /// What the agent wants a reader to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::NOTES.allowed))]
    pub notes: Option<String>,
    /// The origins.
    #[schemars(length(max = limits::PROVENANCE_SOURCES.allowed))]
    pub sources: Vec<ProvenanceSource>,
    /// Who wrote each place of the data last; none of an artifact of before that was remembered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = PATHS_MAX))]
    pub paths: Vec<PathWrite>,
    /// The sources that failed in the last refresh: what they wrote is from before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::SOURCES.allowed))]
    pub stale: Vec<StaleSource>,
    /// Fields of a newer daemon, kept as they were.
    #[serde(flatten)]
    pub extra: Map,
}

/// The most places that are remembered: an author's, and those of sources and queries.
const PATHS_MAX: u64 = limits::PATH_WRITES.allowed
    + limits::SOURCES.allowed * limits::MAPPING_PATHS.allowed
    + limits::QUERIES.allowed;

input! {
    /// One origin.
    #[derive(
        Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
    )]
    #[serde(rename_all = "camelCase")]
    pub struct ProvenanceSource "one origin of the data" {
        /// What a reader should call it.
        #[schemars(length(min = 1, max = limits::SHORT_TEXT.allowed))]
        required label: String = "label", OriginLabel, "what a reader should call it";
        /// What kind of origin it is.
        #[serde(rename = "type")]
        required kind: ProvenanceSourceType
            = "type", one_of(ProvenanceSourceType::ALL), "what kind of origin it is";
        /// Which one: a tool, a file, an address without credentials.
        #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(max = limits::SHORT_TEXT.allowed))]
        optional reference: String
            = "ref", text(&limits::SHORT_TEXT), "which one: a tool, a file, an address";
        /// The account it was read with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(max = limits::SHORT_TEXT.allowed))]
        optional account_label: String
            = "accountLabel", text(&limits::SHORT_TEXT), "the account it was read with";
    }
}

input! {
    /// The origin of data as its author tells it: `provenanceJson`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ProvenanceInput
    "where the data came from; the daemon writes what it knows if absent" {
        /// When the data was made, if the author says so.
        optional generated_at: Timestamp
            = "generatedAt", parsed(), "when the data was made; now if absent";
        /// Who made the data: only the daemon speaks for the refresh runner.
        default(GeneratedBy::Agent) generated_by: GeneratedBy
            = "generatedBy", one_of(&[GeneratedBy::Agent]).defaulting_to(GeneratedBy::Agent), "who made the data; agents say agent";
        /// What the author wants a reader to know.
        optional notes: String = "notes", text(&limits::NOTES), "what a reader should know";
        /// The origins.
        default(Vec::new()) sources: Vec<ProvenanceSource>
            = "sources", list(&limits::PROVENANCE_SOURCES), "the origins";
    }
}

/// Returns what the author says of the data's origin, or what the daemon knows without being told:
/// the artifact's source and the account it is pinned to, else who sent the data.
#[must_use]
pub fn provenance_of(
    input: Option<ProvenanceInput>,
    artifact: &Artifact,
    author: Author,
    at: Timestamp,
) -> Provenance {
    let input = input.unwrap_or_else(|| ProvenanceInput {
        generated_at: None,
        generated_by: GeneratedBy::Agent,
        notes: None,
        sources: known_origins(artifact, author),
    });
    Provenance {
        generated_at: input.generated_at.unwrap_or(at),
        generated_by: input.generated_by,
        notes: input.notes,
        sources: input.sources,
        paths: Vec::new(),
        stale: Vec::new(),
        extra: Map::new(),
    }
}

fn known_origins(artifact: &Artifact, author: Author) -> Vec<ProvenanceSource> {
    let sources = artifact.sources();
    let origin = |source: &SourceRef<'_>| {
        let pin = artifact.pin(source.id);
        origin_of(source.source, pin.and_then(|pin| pin.account_label.as_deref()))
    };
    if !sources.is_empty() {
        return sources.iter().map(origin).collect();
    }
    let (label, kind) = match author {
        Author::Agent => ("given by the agent", ProvenanceSourceType::Derived),
        Author::Person => ("given by a person", ProvenanceSourceType::UserInput),
    };
    vec![ProvenanceSource { label: label.to_owned(), kind, reference: None, account_label: None }]
}

/// Names a source as an origin: its tool or file, and the account it is read with.
#[must_use]
pub fn origin_of(source: &Source, account_label: Option<&str>) -> ProvenanceSource {
    ProvenanceSource {
        label: source_label(source),
        kind: match source.kind {
            SourceType::LocalFile => ProvenanceSourceType::LocalFile,
            SourceType::DaemonTool | SourceType::ConnectorTool => ProvenanceSourceType::Connector,
        },
        reference: Some(source_reference(source)),
        account_label: account_label.map(str::to_owned),
    }
}

/// Names a source for a reader: its tool, or its file.
#[must_use]
pub fn source_label(source: &Source) -> String {
    match &source.tool_name {
        Some(tool) => tool.to_string(),
        None => source.file().unwrap_or("a file of the project").to_owned(),
    }
}

/// Writes the call of a source in a few words: its tool and its input, or the file it reads.
#[must_use]
pub fn source_call(source: &Source) -> String {
    let call = match &source.tool_name {
        Some(tool) if source.input.object().is_empty() => tool.to_string(),
        Some(tool) => format!("{tool} {}", source.input.value()),
        None => format!("{} {}", source.kind, source.file().unwrap_or_default()),
    };
    limits::cut(call, limits::CALL_TEXT)
}

fn source_reference(source: &Source) -> String {
    let connector = source.connector.as_ref().map(|connector| connector.connector_id.as_str());
    match (connector, source.file()) {
        (Some(connector), _) => connector.to_owned(),
        (None, Some(path)) => path.chars().take(limits::SHORT_TEXT.max() / 2).collect(),
        (None, None) => source.kind.as_str().to_owned(),
    }
}

/// Reads the label of an origin: a short text that is not blank.
struct OriginLabel;

impl Reader for OriginLabel {
    type Value = String;

    fn read(&self, value: &Value, at: &Pointer, issues: &mut Issues) -> Option<String> {
        let label = text(&limits::SHORT_TEXT).read(value, at, issues)?;
        if label.trim().is_empty() {
            let issue = wrong_type(at, &Value::Null, "a name a reader knows");
            issues.push(issue.got("an empty text").fix("name the origin"));
        }
        Some(label)
    }

    fn schema(&self, description: &str) -> Value {
        schema::text(description, 1, &limits::SHORT_TEXT)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::decide::created;
    use crate::json::Value;

    fn origin(document: &Value, author: Author) -> ProvenanceSource {
        let body = json!({ "input": { "title": "T", "document": document } });
        created(&body, author).provenance.sources.remove(0)
    }

    #[test]
    fn an_origin_that_nobody_named_is_named_by_what_is_known() {
        let file = json!({ "type": "local_file", "input": { "file": "data/a.json" } });
        let with = |source: Value| json!({ "dataJson": {}, "sourceJson": source });
        let from_file = origin(&with(file), Author::Agent);
        assert_eq!(from_file.label, "data/a.json");
        assert_eq!(from_file.reference.as_deref(), Some("data/a.json"));
        assert_eq!(from_file.kind, ProvenanceSourceType::LocalFile);
        let tool = json!({ "type": "daemon_tool", "toolName": "git.summary" });
        let from_tool = origin(&with(tool), Author::Agent);
        assert_eq!(from_tool.label, "git.summary");
        assert_eq!(from_tool.kind, ProvenanceSourceType::Connector);
        assert_eq!(
            origin(&json!({ "dataJson": {} }), Author::Person).kind,
            ProvenanceSourceType::UserInput
        );
        assert_eq!(
            origin(&json!({ "dataJson": {} }), Author::Agent).kind,
            ProvenanceSourceType::Derived
        );
    }

    #[test]
    fn what_the_author_says_stands() {
        let body = json!({ "input": { "title": "T" }, "provenanceJson": { "sources": [] } });
        let provenance = created(&body, Author::Agent).provenance;
        let at = Timestamp::from_unix_ms(0);
        assert_eq!((provenance.sources.len(), provenance.generated_at), (0, at));
    }
}
