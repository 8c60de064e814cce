//! Where data came from, as far as the daemon knows.

use super::{
    Author, GeneratedBy, Provenance, ProvenanceInput, ProvenanceSource, ProvenanceSourceType,
    Source, SourcePin, SourceType,
};
use crate::ids::Timestamp;
use crate::json::Map;
use crate::limits;

/// What the daemon knows of data that came with a request.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// The source the artifact has with it.
    pub source: Option<&'a Source>,
    /// What that source is pinned to.
    pub pin: Option<&'a SourcePin>,
    /// Who sent it.
    pub author: Author,
    /// When.
    pub at: Timestamp,
}

/// Returns what the author says of the data's origin, or what is known without being told.
#[must_use]
pub fn provenance_of(input: Option<ProvenanceInput>, told: &Told<'_>) -> Provenance {
    let input = input.unwrap_or_else(|| ProvenanceInput {
        generated_at: None,
        notes: None,
        sources: vec![known_origin(told)],
    });
    Provenance {
        generated_at: input.generated_at.unwrap_or(told.at),
        generated_by: GeneratedBy::Agent,
        notes: input.notes,
        sources: input.sources,
        extra: Map::new(),
    }
}

fn known_origin(told: &Told<'_>) -> ProvenanceSource {
    let account = told.pin.and_then(|pin| pin.account_label.as_deref());
    if let Some(source) = told.source {
        return origin_of(source, account);
    }
    let (label, kind) = match told.author {
        Author::Agent => ("given by the agent", ProvenanceSourceType::Derived),
        Author::Person => ("given by a person", ProvenanceSourceType::UserInput),
    };
    ProvenanceSource { label: label.to_owned(), kind, reference: None, account_label: None }
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

fn source_reference(source: &Source) -> String {
    let connector = source.connector.as_ref().map(|connector| connector.connector_id.as_str());
    match (connector, source.file()) {
        (Some(connector), _) => connector.to_owned(),
        (None, Some(path)) => path.chars().take(limits::SHORT_TEXT.max() / 2).collect(),
        (None, None) => source.kind.as_str().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::Value;

    fn origin(source: Option<Value>, author: Author) -> ProvenanceSource {
        let source: Option<Source> = source.map(|source| serde_json::from_value(source).unwrap());
        let told =
            Told { source: source.as_ref(), pin: None, author, at: Timestamp::from_unix_ms(0) };
        provenance_of(None, &told).sources.remove(0)
    }

    #[test]
    fn an_origin_that_nobody_named_is_named_by_what_is_known() {
        let file = json!({ "type": "local_file", "input": { "file": "data/a.json" } });
        let from_file = origin(Some(file), Author::Agent);
        assert_eq!(from_file.label, "data/a.json");
        assert_eq!(from_file.reference.as_deref(), Some("data/a.json"));
        assert_eq!(from_file.kind, ProvenanceSourceType::LocalFile);
        let tool = json!({ "type": "daemon_tool", "toolName": "git.summary" });
        let from_tool = origin(Some(tool), Author::Agent);
        assert_eq!(from_tool.label, "git.summary");
        assert_eq!(from_tool.kind, ProvenanceSourceType::Connector);
        assert_eq!(origin(None, Author::Person).kind, ProvenanceSourceType::UserInput);
        assert_eq!(origin(None, Author::Agent).kind, ProvenanceSourceType::Derived);
    }

    #[test]
    fn what_the_author_says_stands() {
        let said = ProvenanceInput { generated_at: None, notes: None, sources: Vec::new() };
        let at = Timestamp::from_unix_ms(7);
        let told = Told { source: None, pin: None, author: Author::Agent, at };
        let provenance = provenance_of(Some(said), &told);
        assert_eq!((provenance.sources.len(), provenance.generated_at), (0, at));
    }
}
