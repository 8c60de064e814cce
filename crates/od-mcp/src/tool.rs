//! The six tools: names, words, hints, and the wire types that are their schemas.

use od_wire::route::Operation;
use od_wire::schema::{AnswerShape, bodies};
use serde_json::Value;

use crate::schema;

/// One tool. The order here is the order of `tools/list`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ToolName {
    /// `od_live_artifacts_create`.
    CreateArtifact,
    /// `od_live_artifacts_list`.
    ListArtifacts,
    /// `od_live_artifacts_update`.
    UpdateArtifact,
    /// `od_live_artifacts_refresh`.
    RefreshArtifact,
    /// `od_connectors_list`.
    ListConnectors,
    /// `od_connectors_execute`.
    ExecuteConnector,
}

/// What a client may assume of a tool; the daemon decides, whatever is said here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: bool,
    /// It may overwrite something.
    pub destructive: bool,
    /// A second call with the same arguments changes nothing more.
    pub idempotent: bool,
    /// It may reach beyond this machine.
    pub open_world: bool,
}

/// What a model needs to know about a place of a schema, and its names do not say.
#[rustfmt::skip]
const WORDS: &[(ToolName, &str, &str)] = &[
    (ToolName::CreateArtifact, "/templateHtml", TEMPLATE),
    (ToolName::CreateArtifact, "/attemptId", "makes a retry safe"),
    (ToolName::CreateArtifact, "/input/document/dataJson", "the data, 256 KiB; no secrets, no raw responses"),
    (ToolName::CreateArtifact, "/input/document/dataSchemaJson", "JSON Schema of dataJson, enforced"),
    (ToolName::CreateArtifact, "/input/document/sourceJson", "where a refresh reads"),
    (ToolName::CreateArtifact, "/input/document/sourceJson/input", "the tool's input; local_file: {\"path\"}"),
    (ToolName::UpdateArtifact, "/ifRevision", "refuse if it changed since"),
    (ToolName::UpdateArtifact, "/input/document/dataJson", "replaces the data"),
    (ToolName::UpdateArtifact, "/input/document/dataSchemaJson", "null removes it"),
    (ToolName::UpdateArtifact, "/input/document/sourceJson", "null removes it"),
    (ToolName::UpdateArtifact, "/input/document/sourceJson/input", "the tool's input"),
    (ToolName::ExecuteConnector, "/input", "by the tool's inputSchema"),
];

/// What the endpoints take and a model has no use for: fixed names, other people's fields.
#[rustfmt::skip]
const LEFT_OUT: &[(ToolName, &[&str])] = &[
    (ToolName::CreateArtifact, &[
        "/input/sessionId", "/input/preview", "/input/document/templatePath",
        "/input/document/generatedPreviewPath", "/input/document/dataPath",
        "/input/document/sourceJson/connector/approvalPolicy",
        "/provenanceJson/generatedAt", "/provenanceJson/generatedBy",
    ]),
    (ToolName::UpdateArtifact, &[
        "/input/preview", "/input/document/templatePath",
        "/input/document/generatedPreviewPath", "/input/document/dataPath",
        "/input/document/sourceJson/connector/approvalPolicy",
        "/provenanceJson/generatedAt", "/provenanceJson/generatedBy",
    ]),
    (ToolName::ExecuteConnector, &["/purpose"]),
];

/// The rules of a template, as short as they go.
const TEMPLATE: &str = "HTML without scripts; {{data.a.b}} in text and attribute values, \
    data-od-repeat=\"row in data.rows\" repeats its element with {{row.x}}";

impl ToolName {
    /// Every tool, in the order of `tools/list`.
    pub const ALL: [Self; 6] = [
        Self::CreateArtifact,
        Self::ListArtifacts,
        Self::UpdateArtifact,
        Self::RefreshArtifact,
        Self::ListConnectors,
        Self::ExecuteConnector,
    ];

    /// Returns the tool's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreateArtifact => "od_live_artifacts_create",
            Self::ListArtifacts => "od_live_artifacts_list",
            Self::UpdateArtifact => "od_live_artifacts_update",
            Self::RefreshArtifact => "od_live_artifacts_refresh",
            Self::ListConnectors => "od_connectors_list",
            Self::ExecuteConnector => "od_connectors_execute",
        }
    }

    /// Returns the tool of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.as_str() == name)
    }

    /// Returns what a model reads about the tool.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::CreateArtifact => {
                "Create a live artifact: an HTML page bound to bounded JSON that a person opens \
                 and refreshes. Read first what a connector returns if the data should refresh."
            }
            Self::ListArtifacts => "List the project's live artifacts, newest first.",
            Self::UpdateArtifact => {
                "Change a live artifact; what is left out stays. Refresh changes data, update \
                 changes design."
            }
            Self::RefreshArtifact => {
                "Fetch an artifact's data again from its source; the page stays. On failure the \
                 data before is kept."
            }
            Self::ListConnectors => {
                "List connected connectors with the read-only tools that may run, and their inputs."
            }
            Self::ExecuteConnector => {
                "Run one read-only connector tool and get its redacted output, as a refresh would."
            }
        }
    }

    /// Returns what a client may assume of the tool.
    #[must_use]
    pub const fn hints(self) -> Hints {
        let reads =
            Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
        match self {
            Self::CreateArtifact => Hints { read_only: false, idempotent: false, ..reads },
            Self::ListArtifacts | Self::ListConnectors => reads,
            // An update replaces what a person may have liked better.
            Self::UpdateArtifact => {
                Hints { read_only: false, destructive: true, idempotent: false, ..reads }
            }
            Self::RefreshArtifact => {
                Hints { read_only: false, idempotent: false, open_world: true, ..reads }
            }
            Self::ExecuteConnector => Hints { open_world: true, ..reads },
        }
    }

    /// Returns true if a call can last long enough for a client to wonder.
    pub(crate) const fn may_be_slow(self) -> bool {
        self.hints().open_world
    }

    pub(crate) const fn operation(self) -> Operation {
        match self {
            Self::CreateArtifact => Operation::ToolCreateArtifact,
            Self::ListArtifacts => Operation::ToolListArtifacts,
            Self::UpdateArtifact => Operation::ToolUpdateArtifact,
            Self::RefreshArtifact => Operation::ToolRefreshArtifact,
            Self::ListConnectors => Operation::ToolListConnectors,
            Self::ExecuteConnector => Operation::ToolExecuteConnector,
        }
    }

    pub(crate) const fn sends_body(self) -> bool {
        match self {
            Self::ListArtifacts | Self::ListConnectors => false,
            Self::CreateArtifact
            | Self::UpdateArtifact
            | Self::RefreshArtifact
            | Self::ExecuteConnector => true,
        }
    }

    /// Returns the schema of the arguments.
    #[must_use]
    pub fn input_schema(self) -> Value {
        let request = bodies(self.operation()).request;
        let mut input = request.map_or_else(schema::of_nothing, schema::compacted);
        self.adapt(&mut input);
        input
    }

    /// Makes a wire schema one for models; returns the places of the tables it does not have.
    fn adapt(self, input: &mut Value) -> Vec<&'static str> {
        let mut lost = Vec::new();
        let mut found = |place, found: bool| {
            if !found {
                lost.push(place);
            }
        };
        let left_out = LEFT_OUT.iter().filter(|(tool, _)| *tool == self);
        for place in left_out.flat_map(|(_, places)| *places) {
            found(*place, schema::leave_out(input, place));
        }
        for (_, place, words) in WORDS.iter().filter(|(tool, _, _)| *tool == self) {
            found(*place, schema::describe(input, place, words));
        }
        lost
    }

    /// Returns the schema of the payload.
    #[must_use]
    pub fn output_schema(self) -> Value {
        match bodies(self.operation()).answer {
            AnswerShape::Json(answer) => schema::of_answer(answer),
            AnswerShape::Page | AnswerShape::Events | AnswerShape::Description => {
                schema::of_nothing()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_the_tables_exists() {
        for tool in ToolName::ALL {
            let request = bodies(tool.operation()).request;
            let mut input = request.map_or_else(schema::of_nothing, schema::compacted);
            assert_eq!(tool.adapt(&mut input), [""; 0], "{}", tool.as_str());
        }
    }
}
