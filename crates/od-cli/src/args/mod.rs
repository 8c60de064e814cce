//! Arguments: one table of verbs, and the pure parser that reads it.

mod command;
mod nearest;
mod parse;
mod table;
mod usage_error;
mod verb;

pub use command::{
    ArtifactsCommand, Command, Completions, ConnectorConnect, Demo, ExecuteTool, Format, Init,
    KeysRotate, McpConfig, OneArtifact, Open, Repair, Run, Serve, Shell, SkillsCheck,
    SkillsInstall, ToolCommand, ToolCreate, ToolRefresh, ToolUpdate, ToolValidate, VerifyArtifacts,
};
pub use nearest::nearest;
pub use parse::{Globals, Invocation, parse};
pub use table::{GLOBAL_FLAGS, VERBS, verb};
pub use usage_error::UsageError;
pub use verb::{Arity, ArtifactsVerb, Flag, Positional, ToolVerb, Value, Verb, VerbId};
