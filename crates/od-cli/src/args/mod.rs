//! Arguments: one table of verbs, the pure parser that reads it, and the commands that it makes.

mod artifacts;
mod bundles;
mod command;
mod matches;
mod meant;
mod parse;
mod projects;
mod table;
mod tools;
mod usage_error;
mod verb;
mod webhooks;

pub use artifacts::{
    ArtifactArgs, ArtifactsCommand, DiffRevisions, ExportArtifact, ListArtifacts, ListRevisions,
    OpenArtifact, RepairArtifact, RollBackArtifact, ScheduleArtifact, VerifyArtifacts,
};
pub use bundles::{Build, ExportProject, ImportArtifacts, SignerArgs};
pub use command::{
    AddSource, Chat, Command, ConfigCommand, ConnectorArgs, ConnectorsCommand, Demo, Init,
    InstallSkill, KeysCommand, McpCommand, Open, RefreshDue, RevokeSession, Run, RunAgent, Serve,
    ServiceCommand, SessionsCommand, Shell, SkillsCommand, SourceArgs, SourcesCommand,
    StoreCommand, TestSource, Trust,
};
pub use parse::{Globals, Invocation, parse};
pub use projects::{ProjectsCommand, RebindProject, RemoveProject, RenameProject};
pub use table::{GLOBAL_FLAGS, VERBS};
pub use tools::{
    DataFile, ExecuteTool, Format, ToolCommand, ToolCreate, ToolDelete, ToolGet, ToolList,
    ToolRefresh, ToolUpdate, ToolValidate,
};
pub use usage_error::{Misuse, UsageError, nearest};
pub use verb::{Arity, Flag, Positional, Value, Verb};
pub use webhooks::{AddWebhookArgs, WebhooksCommand};
