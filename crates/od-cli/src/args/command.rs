//! The typed command that a command line stands for.

use std::ffi::OsString;
use std::path::PathBuf;

use od_mcp::launch::Agent;

use super::artifacts::ArtifactsCommand;
use super::matches::Matches;
use super::tools::ToolCommand;

/// A command, with every flag and argument in its own type.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// `od help` about everything (no words), a verb, a group of verbs, or `errors`.
    Help(String),
    /// `od version`
    Version,
    /// `od completions`
    Completions(Shell),
    /// `od serve`
    Serve(Serve),
    /// `od stop`
    Stop {
        /// Whether to change nothing.
        dry_run: bool,
    },
    /// `od demo`
    Demo(Demo),
    /// `od open`
    Open(Open),
    /// `od init`
    Init(Init),
    /// `od run`
    Run(Run),
    /// `od tools …`
    Tools(ToolCommand),
    /// `od artifacts …`
    Artifacts(ArtifactsCommand),
    /// `od connectors …`
    Connectors(ConnectorsCommand),
    /// `od skills …`
    Skills(SkillsCommand),
    /// `od mcp …`
    Mcp(McpCommand),
    /// `od keys …`
    Keys(KeysCommand),
    /// `od doctor`
    Doctor,
    /// `od report`
    Report,
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

impl Shell {
    /// The words that the command line takes.
    pub(super) const WORDS: &'static [&'static str] = &["bash", "fish", "zsh"];

    pub(super) fn from_word(word: &str) -> Option<Self> {
        match word {
            "bash" => Some(Self::Bash),
            "fish" => Some(Self::Fish),
            "zsh" => Some(Self::Zsh),
            _ => None,
        }
    }
}

/// `od serve`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Serve {
    /// Port of the API, if it was given.
    pub port: Option<u16>,
    /// Whether to print no one-time code.
    pub no_code: bool,
    /// The file that takes the log, if not stderr.
    pub log: Option<PathBuf>,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for Serve {
    fn from(mut given: Matches) -> Self {
        Self {
            port: given.number("port"),
            no_code: given.has("no-code"),
            log: given.path("log"),
            dry_run: given.dry_run(),
        }
    }
}

/// `od demo`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Demo {
    /// Whether to end after one round.
    pub once: bool,
    /// The directory of the demo's files, if it was given.
    pub directory: Option<PathBuf>,
    /// Port of the API, if it was given.
    pub port: Option<u16>,
    /// Whether to leave the browser alone.
    pub no_open: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for Demo {
    fn from(mut given: Matches) -> Self {
        Self {
            once: given.has("once"),
            directory: given.path("dir"),
            port: given.number("port"),
            no_open: given.has("no-open"),
            dry_run: given.dry_run(),
        }
    }
}

/// `od open`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Open {
    /// Whether to print the address instead.
    pub print: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for Open {
    fn from(given: Matches) -> Self {
        Self { print: given.has("print"), dry_run: given.dry_run() }
    }
}

/// `od init`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Init {
    /// The directory, if it was given.
    pub directory: Option<PathBuf>,
    /// The project's name, if it was given.
    pub name: Option<String>,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for Init {
    fn from(mut given: Matches) -> Self {
        Self { directory: given.directory(), name: given.text("name"), dry_run: given.dry_run() }
    }
}

/// `od run`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Run {
    /// The project, if it was given.
    pub project: Option<String>,
    /// The program.
    pub program: OsString,
    /// The program's arguments.
    pub arguments: Vec<OsString>,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for Run {
    fn from(mut given: Matches) -> Self {
        let (project, dry_run) = (given.text("project"), given.dry_run());
        let mut words = given.positionals.into_iter();
        let program = words.next().unwrap_or_default();
        Self { project, program, arguments: words.collect(), dry_run }
    }
}

/// `od connectors …`
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ConnectorsCommand {
    /// `od connectors list`
    List,
    /// `od connectors connect`
    Connect(ConnectorArgs),
    /// `od connectors disconnect`
    Disconnect(ConnectorArgs),
}

/// One connector, to be connected or disconnected.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConnectorArgs {
    /// The connector's id.
    pub connector: String,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for ConnectorArgs {
    fn from(mut given: Matches) -> Self {
        let dry_run = given.dry_run();
        Self { connector: given.required_argument(), dry_run }
    }
}

/// `od skills …`
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SkillsCommand {
    /// `od skills list`
    List {
        /// The directory that an agent would start in.
        directory: Option<PathBuf>,
    },
    /// `od skills show`
    Show {
        /// The skill.
        name: String,
    },
    /// `od skills install`
    Install(InstallSkill),
    /// `od skills check`
    Check {
        /// Files or directories.
        paths: Vec<PathBuf>,
    },
}

/// `od skills install`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InstallSkill {
    /// The project directory, if it was given.
    pub directory: Option<PathBuf>,
    /// Whether to write `.agents/skills`.
    pub agents: bool,
    /// Whether to write `.claude/skills`.
    pub claude: bool,
    /// Whether to overwrite what was changed by hand.
    pub force: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for InstallSkill {
    fn from(mut given: Matches) -> Self {
        let agent = given.text("agent");
        let wants = |name| agent.as_deref().is_none_or(|agent| agent == name || agent == "all");
        Self {
            agents: wants("agents"),
            claude: wants("claude"),
            force: given.has("force"),
            dry_run: given.dry_run(),
            directory: given.directory(),
        }
    }
}

/// `od mcp …`
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum McpCommand {
    /// `od mcp live-artifacts`
    Serve,
    /// `od mcp config`
    Config {
        /// The agent whose format is printed.
        agent: Agent,
    },
}

/// `od keys …`
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeysCommand {
    /// `od keys status`
    Status,
    /// `od keys rotate`
    Rotate {
        /// Whether to change nothing.
        dry_run: bool,
    },
}
