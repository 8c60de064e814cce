//! Arguments: one table of verbs, the pure parser that reads it, and the commands that it makes.

mod artifacts;
mod command;
mod matches;
mod parse;
mod table;
mod tools;
mod usage_error;
mod verb;

pub use artifacts::{
    ArtifactArgs, ArtifactsCommand, ListArtifacts, OpenArtifact, RepairArtifact, RollBackArtifact,
    VerifyArtifacts,
};
pub use command::{
    Command, ConnectorArgs, ConnectorsCommand, Demo, Init, InstallSkill, KeysCommand, McpCommand,
    Open, Run, Serve, Shell, SkillsCommand,
};
pub use parse::{Globals, Invocation, parse};
pub use table::{GLOBAL_FLAGS, VERBS};
pub use tools::{
    ExecuteTool, Format, ToolCommand, ToolCreate, ToolRefresh, ToolUpdate, ToolValidate,
};
pub use usage_error::{UsageError, nearest};
pub use verb::{Arity, Flag, Positional, Value, Verb};
