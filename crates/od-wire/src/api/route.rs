//! The route table: what the daemon answers, to whom, and in one line why.
//!
//! Lookup, authorization, the generated reference and the tests read this table and nothing else.

use std::fmt;

use od_core::artifact::Shown;
use od_core::export::ExportFormat;
use od_core::ids::{MappingPath, ProjectId, RefreshId, RelPath, Revision, RunId};
use od_core::ledger::RevisionName;
use od_core::limits;
use od_core::token::{Endpoint, Variant};
use schemars::{JsonSchema, Schema, SchemaGenerator};

/// The header in which a client of ours says which door it is: `command_line`, `tool_shell` or `mcp`.
pub const DOOR_HEADER: &str = "x-od-door";

/// A request method that some route takes.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Method {
    /// Reads; never has an effect.
    Get,
    /// Creates or starts something.
    Post,
    /// Changes something that exists.
    Patch,
    /// Removes something.
    Delete,
}

impl Method {
    /// Every method of the table.
    pub const ALL: [Self; 4] = [Self::Get, Self::Post, Self::Patch, Self::Delete];

    /// Returns the method as it stands in a request line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Returns true for every method that may change something.
    #[must_use]
    pub const fn changes_state(self) -> bool {
        match self {
            Self::Get => false,
            Self::Post | Self::Patch | Self::Delete => true,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The callers that a route takes, once the guard has let the request in.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Access {
    /// Anyone who passed the guard.
    Open,
    /// The person: a console bearer or a CLI token.
    Person,
    /// The person at a terminal: a CLI token only, so that a console bearer cannot renew itself.
    Terminal,
    /// The agent of a live run: a tool token that names this endpoint and this operation.
    Tool(Endpoint),
    /// The agent of a live run, whatever its grants.
    AnyTool,
}

/// The operations of the daemon, one for each route. Dispatch is one exhaustive match over this.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Operation {
    /// Report versions and the state of the store.
    Health,
    /// Prove the daemon to a page.
    ChallengeSession,
    /// Exchange a one-time code for a session and its first bearer.
    OpenSession,
    /// Get a bearer of a session.
    ProveSession,
    /// List the sessions of browsers.
    ListSessions,
    /// End every session.
    RevokeSessions,
    /// End one session.
    RevokeSession,
    /// Make a one-time code.
    MakeSessionCode,
    /// List projects.
    ListProjects,
    /// Create a project.
    CreateProject,
    /// Show one project.
    ShowProject,
    /// Rename a project.
    UpdateProject,
    /// Take a project out of use.
    RemoveProject,
    /// List the files of a project.
    ListProjectFiles,
    /// Follow the events of one project.
    FollowProject,
    /// Follow the events of every project.
    FollowAll,
    /// List artifact summaries.
    ListArtifacts,
    /// Create an artifact for the person.
    CreateArtifact,
    /// Show one artifact.
    ShowArtifact,
    /// Change one artifact.
    UpdateArtifact,
    /// Move one artifact to the trash.
    DeleteArtifact,
    /// Bring one artifact back from the trash.
    RestoreArtifact,
    /// Refresh one artifact.
    RefreshArtifact,
    /// Cancel the running refresh of one artifact.
    CancelRefresh,
    /// Set the schedule of one artifact, switch it on, or switch it off.
    ScheduleArtifact,
    /// List past refreshes.
    ListRefreshes,
    /// List stored states.
    ListSnapshots,
    /// Show one stored state.
    ShowSnapshot,
    /// Make one stored state the current one again.
    RestoreSnapshot,
    /// List the commits of an artifact.
    ListRevisions,
    /// Show one revision as it was committed.
    ShowRevision,
    /// Make one revision the current one again.
    RestoreRevision,
    /// Compare two revisions.
    CompareRevisions,
    /// Make a file of an artifact.
    ExportArtifact,
    /// Serve a preview to an API client.
    PreviewArtifact,
    /// Make a ticketed preview URL for a browser.
    TicketPreview,
    /// List connectors.
    ListConnectors,
    /// Show one connector.
    ShowConnector,
    /// Connect a connector.
    ConnectConnector,
    /// Disconnect a connector.
    DisconnectConnector,
    /// List registered services.
    ListServices,
    /// Register a service.
    AddService,
    /// Remove a registered service.
    RemoveService,
    /// Ask a registered service whether it answers.
    TestService,
    /// Drop an agent's request for a service.
    DismissRequest,
    /// List webhooks.
    ListWebhooks,
    /// Register one.
    AddWebhook,
    /// Remove one.
    RemoveWebhook,
    /// Send one a test.
    TestWebhook,
    /// List the agents that a person can chat with.
    ListAgents,
    /// List the sessions with agents.
    ListAgentSessions,
    /// Open a session with an agent.
    OpenAgentSession,
    /// Show one session and its stream.
    ShowAgentSession,
    /// Close one session.
    CloseAgentSession,
    /// Hand a prompt to the agent of a session.
    PromptAgent,
    /// Stop the agent of a session.
    CancelAgent,
    /// Answer what an agent asks.
    AnswerPermission,
    /// Start a run and mint its tool token.
    StartRun,
    /// Renew the lease of a run.
    RenewRun,
    /// End a run.
    EndRun,
    /// Create an artifact for an agent.
    ToolCreateArtifact,
    /// List the project's artifacts for an agent.
    ToolListArtifacts,
    /// Change an artifact for an agent.
    ToolUpdateArtifact,
    /// Refresh an artifact for an agent.
    ToolRefreshArtifact,
    /// Cancel a refresh that the agent itself started.
    ToolCancelRefresh,
    /// Read an artifact for an agent.
    ToolGetArtifact,
    /// Move an artifact of the agent's own run to the trash.
    ToolDeleteArtifact,
    /// Check what create would say, for an agent.
    ToolValidateArtifact,
    /// List connected connectors for an agent.
    ToolListConnectors,
    /// Execute a connector tool for an agent.
    ToolExecuteConnector,
    /// Take one message of the Model Context Protocol.
    McpMessage,
    /// Describe the tool endpoints.
    ToolSchema,
    /// Describe the whole API.
    OpenApi,
}

impl Operation {
    /// Returns the operation's row of the table.
    #[must_use]
    pub fn route(self) -> &'static Route {
        ROUTES
            .iter()
            .find(|route| route.operation == self)
            .expect("a test of the table finds every operation in it")
    }
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path, parameters in braces.
    pub path: &'static str,
    /// Who may call.
    pub access: Access,
    /// What it does.
    pub operation: Operation,
    /// The query parameters it takes; any other is refused.
    pub query: &'static [QueryParameter],
    /// One sentence for the reference.
    pub doc: &'static str,
}

/// A query parameter of one route.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QueryParameter {
    /// Its name, and with it the type of its value.
    pub name: QueryName,
    /// Whether a request without it is refused.
    pub required: bool,
    /// One line for the reference.
    pub doc: &'static str,
}

/// The names of query parameters. Each has one type of value, whatever the route.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum QueryName {
    /// A [`ProjectId`].
    ProjectId,
    /// A [`RunId`].
    RunId,
    /// `true` or `false`.
    DryRun,
    /// `true` or `false`.
    Offline,
    /// A [`RelPath`].
    Path,
    /// A [`Variant`].
    Variant,
    /// A [`RefreshId`].
    Snapshot,
    /// A [`MappingPath`] into an artifact's data; `path`, as that of a file.
    DataPath,
    /// A word of [`Include`].
    Include,
    /// The number of rows of a page; see [`limits::LIST_ROWS`].
    Limit,
    /// The `nextCursor` of the page before.
    Cursor,
    /// Words to look for.
    Query,
    /// A word of [`Shown`].
    Show,
    /// `true` or `false`.
    Trash,
    /// A [`Revision`].
    Revision,
    /// A [`RevisionName`].
    From,
    /// A [`RevisionName`].
    To,
    /// An [`ExportFormat`].
    Format,
    /// A path in the data, or `chart:1`.
    Table,
}

impl QueryName {
    /// Returns the name as it stands in a query.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ProjectId => "projectId",
            Self::RunId => "runId",
            Self::DryRun => "dryRun",
            Self::Offline => "offline",
            Self::Path => "path",
            Self::Variant => "variant",
            Self::Snapshot => "snapshot",
            Self::DataPath => "path",
            Self::Include => "include",
            Self::Limit => "limit",
            Self::Cursor => "cursor",
            Self::Query => "query",
            Self::Show => "show",
            Self::Trash => "trash",
            Self::Revision => "revision",
            Self::From => "from",
            Self::To => "to",
            Self::Format => "format",
            Self::Table => "table",
        }
    }

    /// Returns the schema of its value, which is that of its type.
    pub fn schema(self, generator: &mut SchemaGenerator) -> Schema {
        match self {
            Self::ProjectId => generator.subschema_for::<ProjectId>(),
            Self::RunId => generator.subschema_for::<RunId>(),
            Self::DryRun | Self::Offline | Self::Trash => generator.subschema_for::<bool>(),
            Self::Path => generator.subschema_for::<RelPath>(),
            Self::Variant => generator.subschema_for::<Variant>(),
            Self::Snapshot => generator.subschema_for::<RefreshId>(),
            Self::Revision => generator.subschema_for::<Revision>(),
            Self::From | Self::To => generator.subschema_for::<RevisionName>(),
            Self::Format => generator.subschema_for::<ExportFormat>(),
            Self::DataPath => generator.subschema_for::<MappingPath>(),
            Self::Include => generator.subschema_for::<Include>(),
            Self::Show => generator.subschema_for::<Shown>(),
            Self::Limit => schemars::json_schema!({
                "type": "integer", "minimum": 1, "maximum": limits::LIST_ROWS.allowed,
            }),
            Self::Cursor | Self::Table => schemars::json_schema!({
                "type": "string", "maxLength": limits::SHORT_TEXT.allowed,
            }),
            Self::Query => schemars::json_schema!({
                "type": "string", "maxLength": limits::TITLE.allowed,
            }),
        }
    }
}

/// The place in a history after which a page begins: the number of lines from the oldest one on. What comes
/// to the front of the history meanwhile moves no page behind it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HistoryCursor(pub usize);

impl fmt::Display for HistoryCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::str::FromStr for HistoryCursor {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let lines = text.parse().map(Self);
        lines.map_err(|_| "a cursor is the nextCursor of the page before, unchanged")
    }
}

/// What an answer about an artifact may hold besides its outline.
#[derive(Clone, Copy, Debug, Eq, PartialEq, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Include {
    /// The template as it is stored.
    Template,
    /// The page as a person sees it.
    Page,
}

impl std::str::FromStr for Include {
    type Err = UnknownInclude;
    fn from_str(text: &str) -> Result<Self, UnknownInclude> {
        match text {
            "template" => Ok(Self::Template),
            "page" => Ok(Self::Page),
            _ => Err(UnknownInclude),
        }
    }
}

/// A word that names nothing that an answer may hold.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UnknownInclude;

impl fmt::Display for UnknownInclude {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what can be included is `template` or `page`")
    }
}

const fn optional(name: QueryName, doc: &'static str) -> QueryParameter {
    QueryParameter { name, required: false, doc }
}

/// An agent's project and run are its token's. Some clients send them anyway: that is let pass where
/// it agrees, so that a wrong belief is refused and a right one is no fault.
const OWN: [QueryParameter; 2] = [
    optional(QueryName::ProjectId, "Must be the token's project, if given."),
    optional(QueryName::RunId, "Must be the token's run, if given."),
];

const IN_PROJECT: &[QueryParameter] =
    &[optional(QueryName::ProjectId, "Must be the artifact's project, if given.")];
const OF_AGENT: &[QueryParameter] = &OWN;
const OF_AGENT_DRY: &[QueryParameter] = &[
    OWN[0],
    OWN[1],
    optional(
        QueryName::DryRun,
        "With `true` everything is checked and answered, and nothing is changed.",
    ),
];
const OFFLINE: QueryParameter =
    optional(QueryName::Offline, "With `true` no source is read: its mapping is not tried.");
const OF_AGENT_WRITTEN: &[QueryParameter] = &[OWN[0], OWN[1], OF_AGENT_DRY[2], OFFLINE];
const OF_AGENT_CHECKED: &[QueryParameter] = &[OWN[0], OWN[1], OFFLINE];
const OF_AGENT_LISTED: &[QueryParameter] = &[
    OWN[0],
    OWN[1],
    optional(
        QueryName::Query,
        "Only artifacts with these words in title, description, slug, id or source.",
    ),
    optional(QueryName::Limit, "The most rows, 50 if absent."),
    optional(QueryName::Cursor, "The nextCursor of the page before."),
];
const OF_AGENT_READ: &[QueryParameter] = &[
    OWN[0],
    OWN[1],
    optional(
        QueryName::DataPath,
        "Only this part of the data, such as rows.0.name, with its value.",
    ),
    optional(QueryName::Include, "`template`, as it is stored, or `page`, as a person sees it."),
];
const LISTED: &[QueryParameter] = &[
    optional(QueryName::ProjectId, "Only this project's artifacts."),
    optional(
        QueryName::Query,
        "Only artifacts with these words in title, description, slug, id, project or source.",
    ),
    optional(QueryName::Show, "all (the default), active, archived, pinned or attention."),
    optional(QueryName::Limit, "The most lines of the answer, 1 to 100; 100 if absent."),
    optional(QueryName::Cursor, "The `nextCursor` of the page before."),
    optional(QueryName::Trash, "With `true` what was deleted and can be brought back instead."),
];
const SESSIONS: &[QueryParameter] =
    &[optional(QueryName::ProjectId, "Only this project's sessions.")];
const CREATED: &[QueryParameter] = &[QueryParameter {
    name: QueryName::ProjectId,
    required: true,
    doc: "The project to create it in; required.",
}];
const FILE: &[QueryParameter] =
    &[optional(QueryName::Path, "Only this file, with its JSON as a refresh would read it.")];
const PAGE: &[QueryParameter] = &[
    IN_PROJECT[0],
    optional(QueryName::Variant, "rendered (the default), inspect, template or rendered-source."),
    optional(QueryName::Snapshot, "The stored state of this refresh instead of the current one."),
    optional(QueryName::Revision, "This revision, as it looked, instead of the current one."),
];
const PAGED: &[QueryParameter] = &[
    IN_PROJECT[0],
    optional(QueryName::Limit, "The most lines of the answer, 1 to 100; 100 if absent."),
    optional(QueryName::Cursor, "The `nextCursor` of the page before."),
];
const COMPARED: &[QueryParameter] = &[
    IN_PROJECT[0],
    optional(
        QueryName::From,
        "A revision by number, word (current, previous, first, yesterday, week-ago) or date; previous if absent.",
    ),
    optional(QueryName::To, "As `from`; current if absent."),
];
const EXPORTED: &[QueryParameter] = &[
    IN_PROJECT[0],
    optional(QueryName::Format, "html (the default), csv, json or md."),
    optional(
        QueryName::Table,
        "The table of a CSV file: a path in the data, or chart:1 for the first chart of the page; not needed where there is one.",
    ),
];
const IN_PROJECT_DRY: &[QueryParameter] = &[IN_PROJECT[0], OF_AGENT_DRY[2]];
const DRY: &[QueryParameter] = &[OF_AGENT_DRY[2]];
const NONE: &[QueryParameter] = &[];

const fn route(
    method: Method,
    path: &'static str,
    access: Access,
    operation: Operation,
    query: &'static [QueryParameter],
    doc: &'static str,
) -> Route {
    Route { method, path, access, operation, query, doc }
}

use Access::{AnyTool, Open, Person, Terminal, Tool};
use Method::{Delete, Get, Patch, Post};

/// Every route of the API port, in the order of the reference.
#[rustfmt::skip]
pub const ROUTES: &[Route] = &[
    route(Get,    "/api/health",                                   Open,     Operation::Health,              NONE,         "Report service, versions, store state and uptime."),
    route(Post,   "/api/session/challenge",                        Open,     Operation::ChallengeSession,    NONE,         "Prove the daemon to a page, and challenge the page."),
    route(Post,   "/api/session",                                  Open,     Operation::OpenSession,         NONE,         "Exchange a one-time code: register a browser's key for 30 days, and get a bearer."),
    route(Post,   "/api/session/bearer",                           Open,     Operation::ProveSession,        NONE,         "Get a bearer of 15 minutes for the signature of a registered browser."),
    route(Post,   "/api/session/codes",                            Terminal, Operation::MakeSessionCode,     NONE,         "Make a one-time code for the console."),
    route(Get,    "/api/sessions",                                 Person,   Operation::ListSessions,        NONE,         "List the browsers that may open the console."),
    route(Delete, "/api/sessions",                                 Person,   Operation::RevokeSessions,      DRY,          "End every session; their bearers are refused at once."),
    route(Delete, "/api/sessions/{session}",                       Person,   Operation::RevokeSession,       DRY,          "End one session; its bearers are refused at once."),
    route(Get,    "/api/projects",                                 Person,   Operation::ListProjects,        NONE,         "List projects."),
    route(Post,   "/api/projects",                                 Person,   Operation::CreateProject,       NONE,         "Create a project."),
    route(Get,    "/api/projects/{project}",                       Person,   Operation::ShowProject,         NONE,         "Show one project."),
    route(Patch,  "/api/projects/{project}",                       Person,   Operation::UpdateProject,       NONE,         "Rename a project."),
    route(Delete, "/api/projects/{project}",                       Person,   Operation::RemoveProject,       NONE,         "Remove a project; its artifacts go to the trash, its directory stays as it is."),
    route(Get,    "/api/projects/{project}/files",                 Person,   Operation::ListProjectFiles,    FILE,         "List the project's files, never those of live artifacts."),
    route(Get,    "/api/projects/{project}/events",                Person,   Operation::FollowProject,       NONE,         "Follow one project's events (SSE)."),
    route(Get,    "/api/events",                                   Person,   Operation::FollowAll,           NONE,         "Follow every project's events (SSE)."),
    route(Get,    "/api/live-artifacts",                           Person,   Operation::ListArtifacts,       LISTED,       "List summaries, the last updated first, one page at a time; or what is in the trash."),
    route(Post,   "/api/live-artifacts",                           Person,   Operation::CreateArtifact,      CREATED,      "Create an artifact."),
    route(Get,    "/api/live-artifacts/{artifact}",                Person,   Operation::ShowArtifact,        IN_PROJECT,   "Show one artifact with its data, provenance and health."),
    route(Patch,  "/api/live-artifacts/{artifact}",                Person,   Operation::UpdateArtifact,      IN_PROJECT_DRY, "Change one artifact."),
    route(Delete, "/api/live-artifacts/{artifact}",                Person,   Operation::DeleteArtifact,      IN_PROJECT,   "Move one artifact to the trash, kept 7 days."),
    route(Post,   "/api/live-artifacts/{artifact}/restore",        Person,   Operation::RestoreArtifact,     IN_PROJECT,   "Bring one artifact back from the trash."),
    route(Post,   "/api/live-artifacts/{artifact}/refresh",        Person,   Operation::RefreshArtifact,     IN_PROJECT,   "Refresh one artifact from its source."),
    route(Post,   "/api/live-artifacts/{artifact}/refresh/cancel", Person,   Operation::CancelRefresh,       IN_PROJECT,   "Cancel the running refresh."),
    route(Post,   "/api/live-artifacts/{artifact}/schedule",       Person,   Operation::ScheduleArtifact,    IN_PROJECT_DRY, "Set the schedule of one artifact, switch it on, or switch it off."),
    route(Get,    "/api/live-artifacts/{artifact}/refreshes",      Person,   Operation::ListRefreshes,       PAGED,        "List past refreshes, newest first."),
    route(Get,    "/api/live-artifacts/{artifact}/snapshots",      Person,   Operation::ListSnapshots,       PAGED,        "List stored states, newest first."),
    route(Get,    "/api/live-artifacts/{artifact}/snapshots/{refresh}", Person, Operation::ShowSnapshot,     IN_PROJECT,   "Show one stored state."),
    route(Post,   "/api/live-artifacts/{artifact}/snapshots/{refresh}/restore", Person, Operation::RestoreSnapshot, IN_PROJECT,   "Make one stored state the current one again, as a new revision."),
    route(Get,    "/api/live-artifacts/{artifact}/revisions",      Person,   Operation::ListRevisions,       PAGED,        "List every commit with who made it and what it changed, newest first."),
    route(Get,    "/api/live-artifacts/{artifact}/revisions/{revision}", Person, Operation::ShowRevision,     IN_PROJECT,   "Show one revision as it was committed."),
    route(Post,   "/api/live-artifacts/{artifact}/revisions/{revision}/restore", Person, Operation::RestoreRevision, IN_PROJECT,   "Make one revision the current one again, as a new revision."),
    route(Get,    "/api/live-artifacts/{artifact}/compare",        Person,   Operation::CompareRevisions,    COMPARED,     "Compare two revisions: data value by value, template line by line, source."),
    route(Get,    "/api/live-artifacts/{artifact}/export",         Person,   Operation::ExportArtifact,      EXPORTED,     "Make a file of the artifact as it is now, to take away."),
    route(Get,    "/api/live-artifacts/{artifact}/preview",        Person,   Operation::PreviewArtifact,     PAGE,         "Serve the page under the sandbox policy, for API clients."),
    route(Post,   "/api/live-artifacts/{artifact}/preview-ticket", Person,   Operation::TicketPreview,       IN_PROJECT,   "Make a ticketed URL on the preview port, for browsers."),
    route(Get,    "/api/connectors",                               Person,   Operation::ListConnectors,      NONE,         "List the catalog with each connector's status."),
    route(Get,    "/api/connectors/{connector}",                   Person,   Operation::ShowConnector,       NONE,         "Show one connector."),
    route(Post,   "/api/connectors/{connector}/connect",           Person,   Operation::ConnectConnector,    NONE,         "Connect a connector."),
    route(Delete, "/api/connectors/{connector}/connection",        Person,   Operation::DisconnectConnector, NONE,         "Disconnect a connector."),
    route(Get,    "/api/sources",                                  Person,   Operation::ListServices,        NONE,         "List the services that a person has registered."),
    route(Post,   "/api/sources",                                  Person,   Operation::AddService,          NONE,         "Register a service, or change the one of its name."),
    route(Delete, "/api/sources/{service}",                        Person,   Operation::RemoveService,       NONE,         "Remove a registered service and forget its secret."),
    route(Post,   "/api/sources/{service}/test",                   Person,   Operation::TestService,         NONE,         "Ask a registered service for one resource."),
    route(Delete, "/api/source-requests/{service}",                Person,   Operation::DismissRequest,      NONE,         "Drop an agent's request for a service."),
    route(Get,    "/api/webhooks",                                 Person,   Operation::ListWebhooks,        NONE,         "List the webhooks that a person has registered, and how their deliveries went."),
    route(Post,   "/api/webhooks",                                 Person,   Operation::AddWebhook,          NONE,         "Register a webhook, or change the one of its name."),
    route(Delete, "/api/webhooks/{webhook}",                       Person,   Operation::RemoveWebhook,       NONE,         "Remove a webhook and forget its secret."),
    route(Post,   "/api/webhooks/{webhook}/test",                  Person,   Operation::TestWebhook,         NONE,         "Send a webhook a notification that says it is a test."),
    route(Get,    "/api/agents",                                   Person,   Operation::ListAgents,          NONE,         "List the agents that od knows, whether each is installed, and the line that installs it."),
    route(Get,    "/api/agent-sessions",                           Person,   Operation::ListAgentSessions,   SESSIONS,     "List the sessions with agents, newest first."),
    route(Post,   "/api/agent-sessions",                           Person,   Operation::OpenAgentSession,    NONE,         "Start an agent in the folder of a project, and open a session with it."),
    route(Get,    "/api/agent-sessions/{session}",                 Person,   Operation::ShowAgentSession,    NONE,         "Show one session and its stream."),
    route(Delete, "/api/agent-sessions/{session}",                 Person,   Operation::CloseAgentSession,   NONE,         "Close a session: its agent ends, its stream is kept."),
    route(Post,   "/api/agent-sessions/{session}/prompt",          Person,   Operation::PromptAgent,         NONE,         "Hand a prompt to the agent; one that has ended is started again."),
    route(Post,   "/api/agent-sessions/{session}/cancel",          Person,   Operation::CancelAgent,         NONE,         "Stop the agent; the session is stopped once no process of it is left."),
    route(Post,   "/api/agent-sessions/{session}/permissions/{question}", Person, Operation::AnswerPermission, NONE,       "Answer what the agent asks, once."),
    route(Post,   "/api/runs",                                     Person,   Operation::StartRun,            NONE,         "Start a run and mint its tool token."),
    route(Post,   "/api/runs/{run}/renew",                         Person,   Operation::RenewRun,            NONE,         "Renew the lease of a run."),
    route(Delete, "/api/runs/{run}",                               Person,   Operation::EndRun,              NONE,         "End a run; its token is dead before the answer."),
    route(Post,   "/api/tools/live-artifacts/create",   Tool(Endpoint::LiveArtifactsCreate),   Operation::ToolCreateArtifact,   OF_AGENT_WRITTEN, "Create an artifact in the run's project."),
    route(Get,    "/api/tools/live-artifacts/list",     Tool(Endpoint::LiveArtifactsList),     Operation::ToolListArtifacts,    OF_AGENT_LISTED, "List the artifacts of the run's project, one page at a time."),
    route(Get,    "/api/tools/live-artifacts/{artifact}", Tool(Endpoint::LiveArtifactsGet),    Operation::ToolGetArtifact,      OF_AGENT_READ, "Outline an artifact of the run's project and its data."),
    route(Post,   "/api/tools/live-artifacts/update",   Tool(Endpoint::LiveArtifactsUpdate),   Operation::ToolUpdateArtifact,   OF_AGENT_WRITTEN, "Change an artifact of the run's project."),
    route(Post,   "/api/tools/live-artifacts/refresh",  Tool(Endpoint::LiveArtifactsRefresh),  Operation::ToolRefreshArtifact,  OF_AGENT_DRY, "Refresh an artifact of the run's project."),
    route(Post,   "/api/tools/live-artifacts/cancel",   Tool(Endpoint::LiveArtifactsCancel),   Operation::ToolCancelRefresh,    OF_AGENT,     "Cancel a refresh that this run started."),
    route(Post,   "/api/tools/live-artifacts/delete",   Tool(Endpoint::LiveArtifactsDelete),   Operation::ToolDeleteArtifact,   OF_AGENT_DRY, "Move an artifact that this run created to the trash, kept 7 days."),
    route(Post,   "/api/tools/live-artifacts/validate", Tool(Endpoint::LiveArtifactsValidate),   Operation::ToolValidateArtifact, OF_AGENT_CHECKED, "Say everything create would say and write nothing."),
    route(Get,    "/api/tools/connectors/list",         Tool(Endpoint::ConnectorsList),    Operation::ToolListConnectors,   OF_AGENT,     "List connected connectors and their allowed read tools."),
    route(Post,   "/api/tools/connectors/execute",      Tool(Endpoint::ConnectorsExecute), Operation::ToolExecuteConnector, OF_AGENT,     "Execute one read tool of a connector."),
    route(Get,    "/api/tools/schema",                  AnyTool,                                Operation::ToolSchema,           NONE,         "Describe the tool endpoints and their bodies."),
    route(Post,   "/mcp",                               AnyTool,                                Operation::McpMessage,           NONE,         "Take one message of the Model Context Protocol and answer it as plain JSON."),
    route(Get,    "/openapi.json",                                 Open,     Operation::OpenApi,             NONE,         "Describe the whole API."),
];

impl Route {
    /// Returns the names of the path's parameters, in order.
    pub fn parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
    }

    /// Returns true for the two routes that answer with an event stream.
    #[must_use]
    pub fn streams(&self) -> bool {
        matches!(self.operation, Operation::FollowAll | Operation::FollowProject)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_routes_share_method_and_path() {
        let mut seen = HashSet::new();
        for route in ROUTES {
            assert!(seen.insert((route.method, route.path)), "{} {}", route.method, route.path);
        }
    }

    #[test]
    fn every_operation_has_exactly_one_route() {
        let mut seen = HashSet::new();
        for route in ROUTES {
            assert!(seen.insert(route.operation), "{:?} twice", route.operation);
        }
    }

    #[test]
    fn the_agents_door_takes_tool_tokens_and_nothing_else_does() {
        for route in ROUTES {
            let is_tool = matches!(route.access, Tool(_) | AnyTool);
            let is_door = route.path.starts_with("/api/tools/") || route.path == "/mcp";
            assert_eq!(is_door, is_tool, "{}", route.path);
        }
    }

    #[test]
    fn the_path_of_a_tool_route_is_the_endpoint_that_tokens_name() {
        let mut endpoints = Vec::new();
        for route in ROUTES {
            if let Tool(endpoint) = route.access {
                assert_eq!(endpoint.as_str(), route.path);
                endpoints.push(endpoint);
            }
        }
        endpoints.sort_by_key(|endpoint| endpoint.as_str());
        let mut all = Endpoint::ALL.to_vec();
        all.sort_by_key(|endpoint| endpoint.as_str());
        assert_eq!(endpoints, all);
    }

    #[test]
    fn only_health_session_and_the_api_description_are_open() {
        let open: Vec<&str> = ROUTES.iter().filter(|r| r.access == Open).map(|r| r.path).collect();
        let expected = [
            "/api/health",
            "/api/session/challenge",
            "/api/session",
            "/api/session/bearer",
            "/openapi.json",
        ];
        assert_eq!(open, expected);
    }

    #[test]
    fn every_doc_line_is_one_sentence() {
        for parameter in ROUTES.iter().flat_map(|route| route.query) {
            assert!(parameter.doc.ends_with('.'), "{}", parameter.doc);
        }
        for route in ROUTES {
            assert!(route.doc.ends_with('.') && !route.doc.contains(". "), "{}", route.doc);
        }
    }
}
