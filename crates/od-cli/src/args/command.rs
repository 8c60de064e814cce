//! What a person or an agent asked for, typed.

use std::path::PathBuf;

use super::artifacts::{self, ArtifactsCommand};
use super::given::Given;
use super::skills::{SkillsCheck, SkillsInstall};
use super::start::{Demo, Init, Open, Run, Serve};
use super::tools::{self, ToolCommand};
use super::verb::{Verb, VerbId};

/// What was asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Help about everything (no words), a verb, a group of verbs, or `errors`.
    Help(Vec<&'static str>),
    /// Help about words that are not known to be a verb.
    HelpFor(String),
    /// The version.
    Version,
    /// Shell completions.
    Completions(Completions),
    /// The daemon.
    Serve(Serve),
    /// The demo.
    Demo(Demo),
    /// The console in a browser.
    Open(Open),
    /// A new project.
    Init(Init),
    /// An agent's run.
    Run(Run),
    /// What an agent asks for.
    Tool(ToolCommand),
    /// What a person asks about stored artifacts.
    Artifacts(ArtifactsCommand),
    /// The catalog of connectors.
    ConnectorsList,
    /// A connector's connection.
    ConnectorsConnect(ConnectorConnect),
    /// The end of a connector's connection.
    ConnectorsDisconnect(ConnectorConnect),
    /// The skills that an agent would see.
    SkillsList {
        /// Where the agent would start.
        directory: Option<PathBuf>,
    },
    /// One skill's text.
    SkillsShow {
        /// The skill.
        name: String,
    },
    /// The built-in skill, written where agents look.
    SkillsInstall(SkillsInstall),
    /// A check of SKILL.md files.
    SkillsCheck(SkillsCheck),
    /// The MCP server.
    McpServe,
    /// An entry for an agent's MCP configuration.
    McpConfig(McpConfig),
    /// The state of the signing keys.
    KeysStatus,
    /// A new signing key.
    KeysRotate(KeysRotate),
    /// A check of the installation.
    Doctor,
}

/// `od completions`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Completions {
    /// For which shell.
    pub shell: Shell,
}

/// A shell with completions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shell {
    /// bash
    Bash,
    /// fish
    Fish,
    /// zsh
    Zsh,
}

/// `od connectors connect` and `disconnect`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConnectorConnect {
    /// Which connector.
    pub connector: String,
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// `od mcp config`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct McpConfig {
    /// Which agent's format.
    pub agent: String,
}

/// `od keys rotate`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeysRotate {
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// Types what the parser collected for a verb.
pub(super) fn build(verb: &'static Verb, mut given: Given) -> Command {
    let dry_run = given.has("dry-run");
    match verb.id {
        VerbId::Help => help(&given),
        VerbId::Version => Command::Version,
        VerbId::Completions => Command::Completions(Completions { shell: shell(&given) }),
        VerbId::Serve => Command::Serve(Serve::build(given)),
        VerbId::Demo => Command::Demo(Demo::build(given)),
        VerbId::Open => Command::Open(Open::build(&given)),
        VerbId::Init => Command::Init(Init::build(given)),
        VerbId::Run => Command::Run(Run::build(given)),
        VerbId::Tool(which) => Command::Tool(tools::build(which, given, dry_run)),
        VerbId::Artifacts(which) => Command::Artifacts(artifacts::build(which, given, dry_run)),
        VerbId::ConnectorsList => Command::ConnectorsList,
        VerbId::ConnectorsConnect => Command::ConnectorsConnect(connector(given, dry_run)),
        VerbId::ConnectorsDisconnect => Command::ConnectorsDisconnect(connector(given, dry_run)),
        VerbId::SkillsList => Command::SkillsList { directory: given.directory() },
        VerbId::SkillsShow => Command::SkillsShow { name: given.argument().unwrap_or_default() },
        VerbId::SkillsInstall => Command::SkillsInstall(SkillsInstall::build(given)),
        VerbId::SkillsCheck => Command::SkillsCheck(SkillsCheck {
            paths: given.positionals.into_iter().map(PathBuf::from).collect(),
        }),
        VerbId::McpServe => Command::McpServe,
        VerbId::McpConfig => {
            Command::McpConfig(McpConfig { agent: given.text("agent").unwrap_or_default() })
        }
        VerbId::KeysStatus => Command::KeysStatus,
        VerbId::KeysRotate => Command::KeysRotate(KeysRotate { dry_run }),
        VerbId::Doctor => Command::Doctor,
    }
}

fn help(given: &Given) -> Command {
    let words: Vec<_> = given.positionals.iter().map(|word| word.to_string_lossy()).collect();
    match words.is_empty() {
        true => Command::Help(Vec::new()),
        false => Command::HelpFor(words.join(" ")),
    }
}

fn connector(mut given: Given, dry_run: bool) -> ConnectorConnect {
    ConnectorConnect { connector: given.argument().unwrap_or_default(), dry_run }
}

fn shell(given: &Given) -> Shell {
    match given.positionals.first().and_then(|word| word.to_str()) {
        Some("fish") => Shell::Fish,
        Some("zsh") => Shell::Zsh,
        Some(_) | None => Shell::Bash,
    }
}
