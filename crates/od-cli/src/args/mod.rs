//! Arguments: one table of verbs, and the pure parser that reads it.

mod artifacts;
mod command;
mod given;
mod nearest;
mod parse;
mod skills;
mod start;
mod table;
mod tools;
mod usage_error;
mod value;
mod verb;

pub use artifacts::{ArtifactsCommand, OneArtifact, Repair, Rollback, VerifyArtifacts};
pub use command::{Command, Completions, ConnectorConnect, KeysRotate, McpConfig, Shell};
pub use nearest::nearest;
pub use parse::{Globals, Invocation, parse};
pub use skills::{SkillsCheck, SkillsInstall};
pub use start::{Demo, Init, Open, Run, Serve};
pub use table::{GLOBAL_FLAGS, VERBS, verb};
pub use tools::{
    ExecuteTool, Format, ToolCommand, ToolCreate, ToolRefresh, ToolUpdate, ToolValidate,
};
pub use usage_error::UsageError;
pub use verb::{Arity, ArtifactsVerb, Flag, Positional, ToolVerb, Value, Verb, VerbId};
