//! The tools: names, words, hints, and the wire types that are their schemas.

use od_core::ids::ArtifactId;
use od_core::limits;
use od_wire::route::Operation;
use od_wire::schema::{AnswerShape, bodies};
use serde_json::{Value, json};

use crate::resources::VIEW_URI;
use crate::schema;

/// One tool. The order here is the order of `tools/list`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ToolName {
    /// `od_live_artifacts_create`.
    CreateArtifact,
    /// `od_live_artifacts_list`.
    ListArtifacts,
    /// `od_live_artifacts_get`.
    GetArtifact,
    /// `od_live_artifacts_update`.
    UpdateArtifact,
    /// `od_live_artifacts_refresh`.
    RefreshArtifact,
    /// `od_live_artifacts_validate`.
    ValidateArtifact,
    /// `od_live_artifacts_delete`.
    DeleteArtifact,
    /// `od_connectors_list`.
    ListConnectors,
    /// `od_connectors_execute`.
    ExecuteConnector,
}

/// The hints that a client gets about a tool; the daemon decides, whatever is said here.
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

/// Words for places of a schema whose names do not say what a model needs to know.
#[rustfmt::skip]
const WORDS: &[(ToolName, &str, &str)] = &[
    (ToolName::CreateArtifact, "/templateHtml", TEMPLATE),
    (ToolName::CreateArtifact, "/attemptId", "makes a retry safe"),
    (ToolName::CreateArtifact, "/offline", "do not try the sources"),
    (ToolName::CreateArtifact, "/input/document/dataJson", "the data, 256 KiB; no secrets, no raw responses"),
    (ToolName::CreateArtifact, "/input/document/dataSchemaJson", "JSON Schema of dataJson, enforced"),
    (ToolName::CreateArtifact, "/input/document/sourceJson", "one source, as in sources without id, with refreshPermission"),
    (ToolName::CreateArtifact, "/input/document/sources", "where a refresh reads"),
    (ToolName::CreateArtifact, "/input/document/sources/[]/input", "the tool's input; local_file: {\"path\"}"),
    (ToolName::CreateArtifact, "/input/document/queries/[]/sql", "one SELECT (SQLite); each source is a table by its id"),
    (ToolName::CreateArtifact, "/input/document/refresh", "proposes a schedule: every 1h, or cron"),
    (ToolName::ListArtifacts, "/query", "words in title, description or id"),
    (ToolName::ListArtifacts, "/limit", "50 if absent"),
    (ToolName::ListArtifacts, "/cursor", "nextCursor before"),
    (ToolName::GetArtifact, "/path", "a part of the data, e.g. rows.0.name; $ is all"),
    (ToolName::UpdateArtifact, "/ifRevision", "refuse if changed since"),
    (ToolName::UpdateArtifact, "/input/document/dataJson", "replaces data"),
    (ToolName::UpdateArtifact, "/input/document/dataSchemaJson", "null removes it"),
    (ToolName::UpdateArtifact, "/input/document/sourceJson", AS_CREATE),
    (ToolName::UpdateArtifact, "/input/document/sources", AS_CREATE),
    (ToolName::UpdateArtifact, "/input/document/queries", AS_CREATE),
    (ToolName::UpdateArtifact, "/input/document/refresh", AS_CREATE),
    (ToolName::ExecuteConnector, "/input", "by the tool's inputSchema"),
];

/// Fields that the endpoints take and a model has no use for: fixed names, other people's fields.
#[rustfmt::skip]
const LEFT_OUT: &[(ToolName, &[&str])] = &[
    (ToolName::CreateArtifact, &[
        "/input/sessionId", "/input/slug", "/input/preview", "/input/document/templatePath",
        "/provenanceJson/sources/[]/accountLabel",
        "/input/document/generatedPreviewPath", "/input/document/dataPath",
        "/input/document/sources/[]/connector/approvalPolicy",
        "/input/document/sources/[]/connector/accountLabel",
        // A check compares with a number, a text or a boolean, and some hosts take no choice of types.
        "/input/document/checks", "/input/document/refresh/onChange", "/input/document/refresh/missed",
        "/provenanceJson/generatedAt", "/provenanceJson/generatedBy",
    ]),
    (ToolName::UpdateArtifact, &[
        "/input/preview", "/input/document/templatePath",
        "/input/document/generatedPreviewPath", "/input/document/dataPath",
        "/input/document/locale", "/input/document/timeZone",
        "/input/slug", "/input/document/checks",
        "/provenanceJson/generatedAt", "/provenanceJson/generatedBy",
        "/provenanceJson/sources/[]/accountLabel",
    ]),
    (ToolName::ExecuteConnector, &["/purpose"]),
];

/// The parts of an update whose fields a model has read at create.
const SHORTENED: &[&str] = &[
    "/input/document/sourceJson",
    "/input/document/sources/[]",
    "/input/document/queries/[]",
    "/input/document/refresh",
];

/// The paths of create: what is wrong with one the daemon tells with the path that was meant, and a host
/// that checks a pattern itself only that it does not match.
const PATHS: &[&str] = &[
    "/input/document/sources/[]/outputMapping/dataPaths/[]/from",
    "/input/document/sources/[]/outputMapping/dataPaths/[]/to",
    "/input/document/sources/[]/rows",
    "/input/document/queries/[]/to",
];

const AS_CREATE: &str = "as for create";

/// The rules of a template, as short as they go.
const TEMPLATE: &str = "HTML without scripts; {{data.a.b}} in text and attribute values, \
    data-od-repeat=\"row in data.rows\" repeats its element with {{row.x}}";

impl ToolName {
    /// Every tool, in the order of `tools/list`.
    pub const ALL: [Self; 9] = [
        Self::CreateArtifact,
        Self::ListArtifacts,
        Self::GetArtifact,
        Self::UpdateArtifact,
        Self::RefreshArtifact,
        Self::ValidateArtifact,
        Self::DeleteArtifact,
        Self::ListConnectors,
        Self::ExecuteConnector,
    ];

    /// Returns the tool's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreateArtifact => "od_live_artifacts_create",
            Self::ListArtifacts => "od_live_artifacts_list",
            Self::GetArtifact => "od_live_artifacts_get",
            Self::UpdateArtifact => "od_live_artifacts_update",
            Self::RefreshArtifact => "od_live_artifacts_refresh",
            Self::ValidateArtifact => "od_live_artifacts_validate",
            Self::DeleteArtifact => "od_live_artifacts_delete",
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
            Self::ListArtifacts => {
                "List the project's live artifacts, newest first. A page's address: \
                 consoleBaseUrl and id."
            }
            Self::GetArtifact => {
                "Read an artifact: outline of its data, the value at a path, its template. Do so \
                 before you change one you did not make."
            }
            Self::UpdateArtifact => {
                "Change a live artifact; what is left out stays. Refresh changes data, update \
                 changes design."
            }
            Self::RefreshArtifact => {
                "Fetch an artifact's data again from its source; the page stays. On failure the \
                 data before is kept."
            }
            Self::ValidateArtifact => {
                "Check what create would be sent, or with artifactId what update would be."
            }
            Self::DeleteArtifact => "Move an artifact that this session made to the trash.",
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
            Self::ListArtifacts
            | Self::GetArtifact
            | Self::ValidateArtifact
            | Self::ListConnectors => reads,
            // An update replaces what a person may have liked better.
            Self::UpdateArtifact | Self::DeleteArtifact => {
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

    /// Returns whether the answer is about one artifact, whose page a host may show.
    const fn answers_one_artifact(self) -> bool {
        match self {
            Self::CreateArtifact
            | Self::GetArtifact
            | Self::UpdateArtifact
            | Self::RefreshArtifact => true,
            Self::ListArtifacts
            | Self::ValidateArtifact
            | Self::DeleteArtifact
            | Self::ListConnectors
            | Self::ExecuteConnector => false,
        }
    }

    /// Returns whether a call reads the sources that it is about, unless `offline` says otherwise.
    pub(crate) const fn reads_sources(self) -> bool {
        match self {
            Self::CreateArtifact | Self::UpdateArtifact | Self::ValidateArtifact => true,
            Self::ListArtifacts
            | Self::GetArtifact
            | Self::RefreshArtifact
            | Self::DeleteArtifact
            | Self::ListConnectors
            | Self::ExecuteConnector => false,
        }
    }

    pub(crate) const fn operation(self) -> Operation {
        match self {
            Self::CreateArtifact => Operation::ToolCreateArtifact,
            Self::ListArtifacts => Operation::ToolListArtifacts,
            Self::GetArtifact => Operation::ToolGetArtifact,
            Self::UpdateArtifact => Operation::ToolUpdateArtifact,
            Self::RefreshArtifact => Operation::ToolRefreshArtifact,
            Self::ValidateArtifact => Operation::ToolValidateArtifact,
            Self::DeleteArtifact => Operation::ToolDeleteArtifact,
            Self::ListConnectors => Operation::ToolListConnectors,
            Self::ExecuteConnector => Operation::ToolExecuteConnector,
        }
    }

    /// Returns whether the arguments are the body of the request; else they are its path and query.
    pub(crate) fn sends_body(self) -> bool {
        self.operation().route().method.changes_state()
    }

    /// Returns the schema of the arguments.
    #[must_use]
    pub fn input_schema(self) -> Value {
        let mut input = self.wire_schema();
        self.adapt(&mut input);
        input
    }

    fn wire_schema(self) -> Value {
        match (self, bodies(self.operation()).request) {
            // Either of two whole requests: a choice, which many hosts do not understand, of what the
            // model has read already.
            (Self::ValidateArtifact, _) => json!({
                "type": "object",
                "properties": {
                    "artifactId": schema::compacted(schemars::schema_for!(ArtifactId)),
                    "input": {
                        "type": "object",
                        "description": "as for create or update",
                        "maxProperties": limits::JSON_KEYS.allowed,
                    },
                    "templateHtml": { "type": "string", "maxLength": limits::TEMPLATE.allowed },
                },
                "additionalProperties": false,
            }),
            (_, Some(request)) => schema::compacted(request),
            (_, None) => schema::of_parameters(self.operation().route()),
        }
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
        if self == Self::CreateArtifact {
            schema::outline(input, SHORTENED[0]);
            for place in PATHS {
                schema::without_pattern(input, place);
            }
        }
        if self == Self::UpdateArtifact {
            for place in SHORTENED {
                schema::outline(input, place);
            }
        }
        if self.reads_sources()
            && let Some(Value::Object(properties)) = input.get_mut("properties")
        {
            properties.insert("offline".to_owned(), json!({ "type": "boolean" }));
        }
        for (_, place, words) in WORDS.iter().filter(|(tool, _, _)| *tool == self) {
            found(*place, schema::describe(input, place, words));
        }
        lost
    }

    /// Returns everything that `tools/list` says of the tool.
    #[must_use]
    pub fn definition(self) -> Value {
        let hints = self.hints();
        let mut described = json!({
            "name": self.as_str(),
            "description": self.description(),
            "inputSchema": self.input_schema(),
            "outputSchema": self.output_schema(),
            "annotations": {
                "readOnlyHint": hints.read_only,
                "destructiveHint": hints.destructive,
                "idempotentHint": hints.idempotent,
                "openWorldHint": hints.open_world,
            },
        });
        if self.answers_one_artifact() {
            // Both forms: hosts of the extension's first drafts know the flat key only.
            described["_meta"] = json!({
                "ui": { "resourceUri": VIEW_URI },
                "ui/resourceUri": VIEW_URI,
            });
        }
        described
    }

    /// Returns the schema of the payload.
    #[must_use]
    pub fn output_schema(self) -> Value {
        match bodies(self.operation()).answer {
            AnswerShape::Json(answer) => {
                let mut answer = schema::of_answer(answer);
                // The answer of create says what an artifact is.
                if self != Self::CreateArtifact {
                    schema::outline(&mut answer, "/artifact");
                }
                answer
            }
            AnswerShape::Page
            | AnswerShape::Events
            | AnswerShape::Description
            | AnswerShape::Message => schema::of_nothing(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_the_tables_exists() {
        for tool in ToolName::ALL {
            assert_eq!(tool.adapt(&mut tool.wire_schema()), [""; 0], "{}", tool.as_str());
        }
    }
}
