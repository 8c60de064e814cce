//! The typed command that a command line stands for.

use std::ffi::OsString;
use std::path::PathBuf;

use od_mcp::launch::Agent;

use super::artifacts::ArtifactsCommand;
use super::bundles::{Build, SignerArgs};
use super::matches::Matches;
use super::projects::ProjectsCommand;
use super::tools::ToolCommand;
use super::webhooks::WebhooksCommand;

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
    /// `od refresh`
    Refresh(RefreshDue),
    /// `od trust`
    Trust(Trust),
    /// `od build`
    Build(Build),
    /// `od verify`
    Verify(PathBuf),
    /// `od service …`
    Service(ServiceCommand),
    /// `od tools …`
    Tools(ToolCommand),
    /// `od artifacts …`
    Artifacts(ArtifactsCommand),
    /// `od projects …`
    Projects(ProjectsCommand),
    /// `od connectors …`
    Connectors(ConnectorsCommand),
    /// `od sources …`
    Sources(SourcesCommand),
    /// `od webhooks …`
    Webhooks(WebhooksCommand),
    /// `od skills …`
    Skills(SkillsCommand),
    /// `od chat`
    Chat(Chat),
    /// `od mcp …`
    Mcp(McpCommand),
    /// `od keys …`
    Keys(KeysCommand),
    /// `od config …`
    Config(ConfigCommand),
    /// `od sessions …`
    Sessions(SessionsCommand),
    /// `od store …`
    Store(StoreCommand),
    /// `od doctor`
    Doctor,
    /// `od report`
    Report,
}

/// `od chat`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Chat {
    /// The project, if it was named.
    pub project: Option<String>,
    /// The agent; the first that is installed if absent.
    pub agent: Option<String>,
    /// The chat to go on with.
    pub resume: Option<String>,
    /// Whether to list agents and chats instead.
    pub list: bool,
    /// What is asked first.
    pub prompt: Option<String>,
}

impl From<Matches> for Chat {
    fn from(mut given: Matches) -> Self {
        Self {
            project: given.text("project"),
            agent: given.text("agent"),
            resume: given.text("resume"),
            list: given.has("list"),
            prompt: given.argument(),
        }
    }
}

/// `od trust`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Trust {
    /// The project; all of them if absent.
    pub project: Option<String>,
    /// Whether the person has agreed.
    pub yes: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for Trust {
    fn from(mut given: Matches) -> Self {
        Self { project: given.text("project"), yes: given.has("yes"), dry_run: given.dry_run() }
    }
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
    /// The store, if it was given.
    pub store: Option<String>,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for Serve {
    fn from(mut given: Matches) -> Self {
        Self {
            port: given.number("port"),
            no_code: given.has("no-code"),
            log: given.path("log"),
            store: given.text("store"),
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
    /// Whether to take the demo away instead.
    pub remove: bool,
    /// Whether the person has confirmed that beforehand.
    pub yes: bool,
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
            remove: given.has("remove"),
            yes: given.has("yes"),
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
    /// Whether agents may switch on schedules of local sources, if that was said.
    pub allow_schedules: Option<bool>,
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// `od refresh`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RefreshDue {
    /// Whether to run what is due; nothing else is known yet.
    pub due: bool,
    /// The project, if it was given.
    pub project: Option<String>,
    /// Whether to wait for what others run.
    pub wait: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for RefreshDue {
    fn from(mut given: Matches) -> Self {
        Self {
            due: given.has("due"),
            project: given.text("project"),
            wait: given.has("wait"),
            dry_run: given.dry_run(),
        }
    }
}

/// `od service …`
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ServiceCommand {
    /// `od service install`
    Install {
        /// Whether the person has confirmed it beforehand.
        yes: bool,
        /// Whether to change nothing.
        dry_run: bool,
    },
    /// `od service status`
    Status,
    /// `od service remove`
    Remove {
        /// Whether the person has confirmed it beforehand.
        yes: bool,
        /// Whether to change nothing.
        dry_run: bool,
    },
}

impl From<Matches> for Init {
    fn from(mut given: Matches) -> Self {
        let allow_schedules = match (given.has("allow-schedules"), given.has("no-schedules")) {
            (_, true) => Some(false),
            (true, false) => Some(true),
            (false, false) => None,
        };
        Self {
            directory: given.directory(),
            name: given.text("name"),
            allow_schedules,
            dry_run: given.dry_run(),
        }
    }
}

/// An agent whose flags `od run` knows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RunAgent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Copilot CLI.
    Copilot,
    /// Cursor's command line.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// Qwen Code.
    Qwen,
}

impl RunAgent {
    /// Every agent, in the order of the documentation.
    pub const ALL: [Self; 7] = [
        Self::Claude,
        Self::Codex,
        Self::Copilot,
        Self::Cursor,
        Self::Gemini,
        Self::Opencode,
        Self::Qwen,
    ];
    /// The words that the command line takes.
    pub(super) const WORDS: &'static [&'static str] =
        &["claude", "codex", "copilot", "cursor", "gemini", "opencode", "qwen"];

    /// Returns the word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Qwen => "qwen",
        }
    }

    /// Returns the agent of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.as_str() == word)
    }
}

/// `od run`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Run {
    /// The project, if it was given.
    pub project: Option<String>,
    /// The agent whose flags are added.
    pub agent: Option<RunAgent>,
    /// The program.
    pub program: OsString,
    /// The program's arguments.
    pub arguments: Vec<OsString>,
    /// Whether to leave the skill alone where it is missing.
    pub no_skill: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for Run {
    fn from(mut given: Matches) -> Self {
        let (project, dry_run) = (given.text("project"), given.dry_run());
        let agent = given.text("agent").and_then(|word| RunAgent::from_word(&word));
        let no_skill = given.has("no-skill");
        let mut words = given.positionals.into_iter();
        let program = words.next().unwrap_or_default();
        Self { project, agent, program, arguments: words.collect(), no_skill, dry_run }
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

/// `od sources …`
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SourcesCommand {
    /// `od sources add http`
    AddHttp(AddSource),
    /// `od sources add postgres`
    AddPostgres(SourceArgs),
    /// `od sources list`
    List,
    /// `od sources test`
    Test(TestSource),
    /// `od sources remove`
    Remove(SourceArgs),
}

/// `od sources add http`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AddSource {
    /// The name that sources will use.
    pub name: String,
    /// The address below which they may read.
    pub url: String,
    /// The header of its secret, if it takes one.
    pub header: Option<String>,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for AddSource {
    fn from(mut given: Matches) -> Self {
        let (header, dry_run) = (given.text("header"), given.dry_run());
        let url = given.required_argument();
        Self { name: given.required_argument(), url, header, dry_run }
    }
}

/// `od sources test`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TestSource {
    /// The service.
    pub name: String,
    /// The path below its address.
    pub path: String,
}

impl From<Matches> for TestSource {
    fn from(mut given: Matches) -> Self {
        Self { path: given.text("path").unwrap_or_default(), name: given.required_argument() }
    }
}

/// One service, to be registered or removed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SourceArgs {
    /// The service.
    pub name: String,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for SourceArgs {
    fn from(mut given: Matches) -> Self {
        Self { dry_run: given.dry_run(), name: given.required_argument() }
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
        /// Lists its templates instead.
        templates: bool,
        /// Prints one of its templates instead.
        template: Option<String>,
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
#[derive(Clone, Debug, PartialEq)]
pub enum McpCommand {
    /// `od mcp live-artifacts`
    Serve {
        /// The project, if it was given.
        project: Option<String>,
    },
    /// `od mcp config`
    Config {
        /// The agent whose format is printed.
        agent: Agent,
        /// The project, if it was given.
        project: Option<String>,
    },
}

/// `od store …`
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum StoreCommand {
    /// `od store status`
    Status {
        /// The store, if it was given.
        store: Option<String>,
    },
    /// `od store migrate`
    Migrate {
        /// The store, if it was given.
        store: Option<String>,
        /// Whether to change nothing.
        dry_run: bool,
    },
    /// `od store copy`
    Copy {
        /// The store that is read.
        from: String,
        /// The store that is written.
        to: String,
        /// Whether to change nothing.
        dry_run: bool,
    },
}

/// `od sessions …`
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SessionsCommand {
    /// `od sessions list`
    List,
    /// `od sessions revoke`
    Revoke(RevokeSession),
}

/// `od sessions revoke`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RevokeSession {
    /// The session's id, if one is named.
    pub session: Option<String>,
    /// Whether every session is meant.
    pub all: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for RevokeSession {
    fn from(mut given: Matches) -> Self {
        Self { all: given.has("all"), dry_run: given.dry_run(), session: given.argument() }
    }
}

/// `od keys …`
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum KeysCommand {
    /// `od keys status`
    Status,
    /// `od keys rotate`
    Rotate {
        /// Whether to change nothing.
        dry_run: bool,
    },
    /// `od keys export-public`
    ExportPublic,
    /// `od keys signers`
    Signers,
    /// `od keys trust`
    Trust(SignerArgs),
    /// `od keys revoke`
    Revoke(SignerArgs),
}

/// `od config …`
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ConfigCommand {
    /// `od config list`
    List,
    /// `od config get`
    Get {
        /// The key.
        key: String,
    },
    /// `od config set`
    Set {
        /// The key.
        key: String,
        /// The new value.
        value: String,
        /// Whether to change nothing.
        dry_run: bool,
    },
    /// `od config unset`
    Unset {
        /// The key.
        key: String,
        /// Whether to change nothing.
        dry_run: bool,
    },
}
