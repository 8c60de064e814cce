//! The schemas of every body, by operation; and the whole API as an OpenAPI document.

use od_core::artifact::{CreateRequest, ToolUpdateRequest, UpdateRequest};
use od_core::connector::ExecuteRequest;
use od_core::event::{AgentEvent, ArtifactEvent, CheckEvent, RefreshEvent};
use od_core::schedule::ScheduleRequest;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::event::EventName;
use crate::route::{Access, Operation, QueryParameter, ROUTES, Route};
use crate::{
    agent, artifact, connector, error, event, export, health, project, refresh, revision, run,
    service, session, webhook,
};

/// The answer of a route that succeeds.
#[derive(Clone, Debug)]
pub enum AnswerShape {
    /// A JSON document of this schema.
    Json(Schema),
    /// A page or its source, under the sandbox policy.
    Page,
    /// An event stream.
    Events,
    /// A document that describes others.
    Description,
    /// A message of another protocol, which says itself what it holds.
    Message,
}

/// The bodies of a route.
#[derive(Clone, Debug)]
pub struct Bodies {
    /// What a request carries, if it carries anything.
    pub request: Option<Schema>,
    /// What a successful answer carries.
    pub answer: AnswerShape,
}

/// Returns the bodies of an operation, every part inlined.
#[must_use]
pub fn bodies(operation: Operation) -> Bodies {
    bodies_with(&mut Shapes::inlined(), operation)
}

/// Two generators: what is read and what is written differ in what may be left out.
struct Shapes {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Shapes {
    fn inlined() -> Self {
        let settings = || SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
        Self {
            requests: settings().for_deserialize().into_generator(),
            answers: settings().for_serialize().into_generator(),
        }
    }

    fn referring() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().with(|s| {
                s.definitions_path = "/components/schemas".into();
                s.meta_schema = None;
            })
        };
        Self {
            requests: settings().for_deserialize().into_generator(),
            answers: settings().for_serialize().into_generator(),
        }
    }

    fn answer<A: JsonSchema>(&mut self) -> Bodies {
        let answer = AnswerShape::Json(self.answers.subschema_for::<A>());
        Bodies { request: None, answer }
    }

    fn exchange<R: JsonSchema, A: JsonSchema>(&mut self) -> Bodies {
        let request = Some(self.requests.subschema_for::<R>());
        Bodies { request, ..self.answer::<A>() }
    }
}

#[expect(clippy::too_many_lines, reason = "a table: one arm for each operation")]
fn bodies_with(shapes: &mut Shapes, operation: Operation) -> Bodies {
    let without = |answer| Bodies { request: None, answer };
    match operation {
        Operation::Health => shapes.answer::<health::HealthReport>(),
        Operation::ChallengeSession => {
            shapes.exchange::<session::ChallengeRequest, session::Challenge>()
        }
        Operation::OpenSession => shapes.exchange::<session::OpenSession, session::Session>(),
        Operation::ProveSession => shapes.exchange::<session::ProveSession, session::Session>(),
        Operation::ListSessions => shapes.answer::<session::SessionsAnswer>(),
        Operation::RevokeSessions | Operation::RevokeSession => {
            shapes.answer::<session::RevokedAnswer>()
        }
        Operation::MakeSessionCode => shapes.answer::<session::SessionCode>(),
        Operation::ListProjects => shapes.answer::<project::ProjectsAnswer>(),
        Operation::CreateProject => {
            shapes.exchange::<project::CreateProject, project::ProjectAnswer>()
        }
        Operation::ShowProject => shapes.answer::<project::ProjectAnswer>(),
        Operation::UpdateProject => {
            shapes.exchange::<project::UpdateProject, project::ProjectAnswer>()
        }
        Operation::RemoveProject => shapes.answer::<project::RemovedProjectAnswer>(),
        Operation::ListProjectFiles => shapes.answer::<project::ProjectFilesAnswer>(),
        Operation::FollowProject | Operation::FollowAll => without(AnswerShape::Events),
        Operation::ListArtifacts => shapes.answer::<artifact::ListedAnswer>(),
        Operation::CreateArtifact => shapes.exchange::<CreateRequest, artifact::ArtifactAnswer>(),
        Operation::ShowArtifact | Operation::RestoreArtifact => {
            shapes.answer::<artifact::ArtifactAnswer>()
        }
        Operation::UpdateArtifact => shapes.exchange::<UpdateRequest, artifact::ArtifactAnswer>(),
        Operation::DeleteArtifact => {
            shapes.exchange::<artifact::DeleteArtifact, artifact::DeletedAnswer>()
        }
        Operation::RefreshArtifact => {
            shapes.exchange::<refresh::StartRefresh, artifact::RefreshedAnswer>()
        }
        Operation::CancelRefresh => shapes.answer::<refresh::CancelAnswer>(),
        Operation::ScheduleArtifact => {
            shapes.exchange::<ScheduleRequest, refresh::ScheduleAnswer>()
        }
        Operation::ListRefreshes => shapes.answer::<refresh::RefreshesAnswer>(),
        Operation::ListSnapshots => shapes.answer::<refresh::SnapshotsAnswer>(),
        Operation::ShowSnapshot => shapes.answer::<refresh::SnapshotAnswer>(),
        Operation::RestoreSnapshot | Operation::RestoreRevision => {
            shapes.exchange::<refresh::RollBack, artifact::RolledBackAnswer>()
        }
        Operation::ListRevisions => shapes.answer::<revision::RevisionsAnswer>(),
        Operation::ShowRevision => shapes.answer::<revision::RevisionAnswer>(),
        Operation::CompareRevisions => shapes.answer::<revision::CompareAnswer>(),
        Operation::ExportArtifact => shapes.answer::<export::ExportAnswer>(),
        Operation::PreviewArtifact => without(AnswerShape::Page),
        Operation::TicketPreview => {
            shapes.exchange::<session::TicketRequest, session::TicketAnswer>()
        }
        Operation::ListConnectors => shapes.answer::<connector::ConnectorsAnswer>(),
        Operation::ShowConnector | Operation::DisconnectConnector => {
            shapes.answer::<connector::ConnectorAnswer>()
        }
        Operation::ConnectConnector => {
            shapes.exchange::<connector::ConnectConnector, connector::ConnectorAnswer>()
        }
        Operation::ListServices => shapes.answer::<service::ServicesAnswer>(),
        Operation::AddService => shapes.exchange::<service::AddService, service::ServiceAnswer>(),
        Operation::RemoveService => shapes.answer::<service::ServiceAnswer>(),
        Operation::ListWebhooks => shapes.answer::<webhook::WebhooksAnswer>(),
        Operation::AddWebhook => shapes.exchange::<webhook::AddWebhook, webhook::WebhookAnswer>(),
        Operation::RemoveWebhook | Operation::TestWebhook => {
            shapes.answer::<webhook::WebhookAnswer>()
        }
        Operation::DismissRequest => shapes.answer::<service::ServicesAnswer>(),
        Operation::TestService => shapes.exchange::<service::TestService, service::ServiceAnswer>(),
        Operation::ListAgents => shapes.answer::<agent::AgentsAnswer>(),
        Operation::ListAgentSessions => shapes.answer::<agent::AgentSessionsAnswer>(),
        Operation::OpenAgentSession => {
            shapes.exchange::<agent::OpenAgentSession, agent::AgentSessionAnswer>()
        }
        Operation::ShowAgentSession => shapes.answer::<agent::AgentTranscriptAnswer>(),
        Operation::CloseAgentSession | Operation::CancelAgent => {
            shapes.answer::<agent::AgentSessionAnswer>()
        }
        Operation::PromptAgent => {
            shapes.exchange::<agent::PromptAgent, agent::AgentSessionAnswer>()
        }
        Operation::AnswerPermission => {
            shapes.exchange::<agent::AnswerPermission, agent::AgentSessionAnswer>()
        }
        Operation::StartRun => shapes.exchange::<run::StartRun, run::StartedRun>(),
        Operation::RenewRun | Operation::EndRun => shapes.answer::<run::RunAnswer>(),
        Operation::ToolCreateArtifact => {
            shapes.exchange::<CreateRequest, artifact::ToolArtifactAnswer>()
        }
        Operation::ToolListArtifacts => shapes.answer::<artifact::ToolArtifactsAnswer>(),
        Operation::ToolUpdateArtifact => {
            shapes.exchange::<ToolUpdateRequest, artifact::ToolArtifactAnswer>()
        }
        Operation::ToolRefreshArtifact => {
            shapes.exchange::<refresh::ToolRefresh, artifact::ToolRefreshedAnswer>()
        }
        Operation::ToolCancelRefresh => {
            shapes.exchange::<refresh::ToolRefresh, refresh::CancelAnswer>()
        }
        Operation::ToolGetArtifact => shapes.answer::<artifact::ToolReadAnswer>(),
        Operation::ToolDeleteArtifact => {
            shapes.exchange::<artifact::ToolDelete, artifact::ToolDeletedAnswer>()
        }
        Operation::ToolValidateArtifact => {
            shapes.exchange::<artifact::ValidateRequest, artifact::ToolValidAnswer>()
        }
        Operation::ToolListConnectors => shapes.answer::<connector::ConnectorsAnswer>(),
        Operation::ToolExecuteConnector => {
            shapes.exchange::<ExecuteRequest, connector::ExecuteAnswer>()
        }
        Operation::McpMessage => without(AnswerShape::Message),
        Operation::ToolSchema | Operation::OpenApi => without(AnswerShape::Description),
    }
}

/// Returns the schema of the error envelope, every part inlined.
#[must_use]
pub fn error_envelope() -> Schema {
    Shapes::inlined().answers.subschema_for::<error::Envelope>()
}

/// Returns the schema of an event's data, every part inlined.
#[must_use]
pub fn event_data(name: EventName) -> Schema {
    event_data_with(&mut Shapes::inlined().answers, name)
}

fn event_data_with(generator: &mut SchemaGenerator, name: EventName) -> Schema {
    match name {
        EventName::Ready => generator.subschema_for::<event::Ready>(),
        EventName::Resync => generator.subschema_for::<event::Resync>(),
        EventName::Artifact => generator.subschema_for::<ArtifactEvent>(),
        EventName::Refresh => generator.subschema_for::<RefreshEvent>(),
        EventName::Check => generator.subschema_for::<CheckEvent>(),
        EventName::Agent(_) => generator.subschema_for::<AgentEvent>(),
    }
}

/// Where the OpenAPI document describes the frames of a stream.
const STREAM_REF: &str = "#/components/schemas/StreamEvent";

/// Describes the frames of a stream: each name with the schema of the JSON in its data.
fn stream(generator: &mut SchemaGenerator) -> Value {
    let frames = EventName::ALL.map(|name| {
        json!({
            "type": "object",
            "properties": {
                "id": { "type": "string", "description": "Send the last one back as Last-Event-ID to resume." },
                "event": { "const": name.as_str() },
                "data": {
                    "type": "string",
                    "contentMediaType": "application/json",
                    "contentSchema": event_data_with(generator, name),
                },
            },
            "required": ["id", "event", "data"],
        })
    });
    json!({ "oneOf": frames })
}

/// Describes the agent's door: each endpoint with the schemas of its bodies, every part inlined.
#[must_use]
pub fn tool_schema() -> Value {
    let tools: Vec<Value> = ROUTES
        .iter()
        .filter_map(|route| {
            let Access::Tool(endpoint) = route.access else { return None };
            let bodies = bodies(route.operation);
            let answer = match bodies.answer {
                AnswerShape::Json(schema) => schema.to_value(),
                AnswerShape::Page
                | AnswerShape::Events
                | AnswerShape::Description
                | AnswerShape::Message => Value::Null,
            };
            Some(json!({
                "method": route.method.as_str(),
                "path": route.path,
                "operation": endpoint.operation().as_str(),
                "description": route.doc,
                "request": bodies.request.map(Schema::to_value),
                "answer": answer,
            }))
        })
        .collect();
    json!({ "version": env!("CARGO_PKG_VERSION"), "tools": tools })
}

/// Describes the whole API as an OpenAPI 3.1 document.
#[must_use]
pub fn openapi() -> Value {
    let mut shapes = Shapes::referring();
    let failure = shapes.answers.subschema_for::<error::Envelope>().to_value();
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let described = operation_object(&mut shapes, route, &failure);
        let path = paths.entry(route.path).or_insert_with(|| Value::Object(Map::new()));
        path[route.method.as_str().to_ascii_lowercase()] = described;
    }
    let stream = stream(&mut shapes.answers);
    let mut schemas = shapes.requests.take_definitions(true);
    schemas.insert("StreamEvent".to_owned(), stream);
    schemas.extend(shapes.answers.take_definitions(true));
    schemas.sort_keys();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "od",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Live artifacts for coding agents. Served on 127.0.0.1 only; see docs/http-api.md for the guard in front of every route.",
        },
        "servers": [{ "url": "http://127.0.0.1:7456" }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "person": { "type": "http", "scheme": "bearer", "description": "A console bearer or a CLI token." },
                "tool": { "type": "http", "scheme": "bearer", "description": "OD_TOOL_TOKEN of a live run." },
            },
        },
    })
}

fn operation_object(shapes: &mut Shapes, route: &Route, failure: &Value) -> Value {
    let Bodies { request, answer } = bodies_with(shapes, route.operation);
    let content = match answer {
        AnswerShape::Json(schema) => json!({ "application/json": { "schema": schema } }),
        AnswerShape::Page => json!({ "text/html": {}, "text/plain": {} }),
        AnswerShape::Events => json!({ "text/event-stream": { "schema": { "$ref": STREAM_REF } } }),
        AnswerShape::Description | AnswerShape::Message => json!({ "application/json": {} }),
    };
    let parameters: Vec<Value> = route
        .parameters()
        .map(|name| {
            let schema =
                json!({ "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$" });
            json!({ "name": name, "in": "path", "required": true, "schema": schema })
        })
        .chain(route.query.iter().map(|QueryParameter { name, required, doc }| {
            let schema = name.schema(&mut shapes.requests);
            json!({ "name": name.as_str(), "in": "query", "required": required, "description": doc, "schema": schema })
        }))
        .collect();
    let mut described = json!({
        "operationId": operation_id(route.operation),
        "summary": route.doc,
        "parameters": parameters,
        "responses": {
            "200": { "description": "Done.", "content": content },
            "default": { "description": "Refused or failed.", "content": { "application/json": { "schema": failure } } },
        },
    });
    match route.access {
        Access::Open => {}
        Access::Person | Access::Terminal => described["security"] = json!([{ "person": [] }]),
        Access::Tool(_) | Access::AnyTool => described["security"] = json!([{ "tool": [] }]),
    }
    if let Some(request) = request {
        described["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": request } } });
    }
    described
}

fn operation_id(operation: Operation) -> String {
    let name = format!("{operation:?}");
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
}
