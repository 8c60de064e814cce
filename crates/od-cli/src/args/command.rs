//! What a person or an agent asked for, typed.

use std::ffi::OsString;
use std::path::PathBuf;

use super::parse::Given;
use super::verb::{ArtifactsVerb, ToolVerb, Verb, VerbId};

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

/// What an agent asks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ToolCommand {
    /// The agent creates an artifact.
    Create(ToolCreate),
    /// The agent lists artifacts.
    List(Format),
    /// The agent changes an artifact.
    Update(ToolUpdate),
    /// The agent refreshes an artifact.
    Refresh(ToolRefresh),
    /// The agent checks an input.
    Validate(ToolValidate),
    /// The agent lists connectors.
    Connectors(Format),
    /// The agent runs a connector's tool.
    Execute(ExecuteTool),
}

impl ToolCommand {
    /// Returns how the answer is to be written.
    #[must_use]
    pub const fn format(&self) -> Format {
        match self {
            Self::Create(asked) => asked.format,
            Self::Update(asked) => asked.format,
            Self::Refresh(asked) => asked.format,
            Self::Validate(asked) => asked.format,
            Self::Execute(asked) => asked.format,
            Self::List(format) | Self::Connectors(format) => *format,
        }
    }
}

/// What a person asks about stored artifacts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ArtifactsCommand {
    /// Artifacts of a project, or of all.
    List {
        /// The project, if it was given.
        project: Option<String>,
    },
    /// One artifact's state.
    Show(OneArtifact),
    /// One artifact's refresh.
    Refresh(OneArtifact),
    /// One artifact's history.
    History(OneArtifact),
    /// A check of stored files.
    Verify(VerifyArtifacts),
    /// A repair of stored files.
    Repair(Repair),
    /// An artifact out of the trash.
    Restore(OneArtifact),
    /// One artifact in a browser.
    Open {
        /// Which one.
        artifact: OneArtifact,
        /// Whether to print the address instead.
        print: bool,
    },
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

/// How a tool's answer is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// One line with the fields that matter.
    Compact,
    /// The whole answer, indented.
    Json,
}

/// `od serve`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Serve {
    /// Port of the API, if it was given.
    pub port: Option<u16>,
    /// Whether to print no one-time code.
    pub no_code: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// `od demo`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Demo {
    /// Whether to end after one round.
    pub once: bool,
    /// Where the demo's files live, if it was given.
    pub directory: Option<PathBuf>,
    /// Port of the API, if it was given.
    pub port: Option<u16>,
    /// Whether to leave the browser alone.
    pub no_open: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// `od open`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Open {
    /// Whether to print the address instead.
    pub print: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
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

/// `od run`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Run {
    /// The project, if it was given.
    pub project: Option<String>,
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// `od tools live-artifacts create`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolCreate {
    /// artifact.json
    pub input: PathBuf,
    /// Names the attempt, so that a repeat returns the first result.
    pub attempt_id: Option<String>,
    /// How to answer.
    pub format: Format,
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// `od tools live-artifacts update`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolUpdate {
    /// Which artifact.
    pub artifact_id: String,
    /// artifact.json
    pub input: PathBuf,
    /// The revision it must be at.
    pub if_revision: Option<u64>,
    /// How to answer.
    pub format: Format,
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// `od tools live-artifacts refresh`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolRefresh {
    /// Which artifact.
    pub artifact_id: String,
    /// How to answer.
    pub format: Format,
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// `od tools live-artifacts validate`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolValidate {
    /// artifact.json
    pub input: PathBuf,
    /// How to answer.
    pub format: Format,
}

/// `od tools connectors execute`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ExecuteTool {
    /// The connector.
    pub connector: String,
    /// The tool.
    pub tool: String,
    /// The file with its input; `-` is stdin.
    pub input: PathBuf,
    /// How to answer.
    pub format: Format,
}

/// One artifact, by id or slug.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OneArtifact {
    /// Its id or slug.
    pub artifact: String,
    /// Its project, if it was given.
    pub project: Option<String>,
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// `od artifacts verify`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VerifyArtifacts {
    /// One artifact, or all.
    pub artifact: Option<String>,
    /// The project, if it was given.
    pub project: Option<String>,
}

/// `od artifacts repair`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Repair {
    /// Which one.
    pub artifact: OneArtifact,
    /// Whether the person has said yes.
    pub yes: bool,
}

/// `od connectors connect` and `disconnect`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConnectorConnect {
    /// Which connector.
    pub connector: String,
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// `od skills install`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SkillsInstall {
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

/// `od skills check`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SkillsCheck {
    /// Files or directories.
    pub paths: Vec<PathBuf>,
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
        VerbId::Serve => Command::Serve(Serve {
            port: number(&mut given, "port"),
            no_code: given.has("no-code"),
            dry_run,
        }),
        VerbId::Demo => Command::Demo(Demo {
            once: given.has("once"),
            directory: given.take("dir").map(PathBuf::from),
            port: number(&mut given, "port"),
            no_open: given.has("no-open"),
            dry_run,
        }),
        VerbId::Open => Command::Open(Open { print: given.has("print"), dry_run }),
        VerbId::Init => Command::Init(Init {
            directory: given.positionals.pop().map(PathBuf::from),
            name: text(&mut given, "name"),
            dry_run,
        }),
        VerbId::Run => run(given, dry_run),
        VerbId::Tool(which) => Command::Tool(tool(which, given, dry_run)),
        VerbId::Artifacts(which) => Command::Artifacts(artifacts(which, given, dry_run)),
        VerbId::ConnectorsList => Command::ConnectorsList,
        VerbId::ConnectorsConnect => Command::ConnectorsConnect(connector(given, dry_run)),
        VerbId::ConnectorsDisconnect => Command::ConnectorsDisconnect(connector(given, dry_run)),
        VerbId::SkillsList => {
            Command::SkillsList { directory: given.positionals.pop().map(PathBuf::from) }
        }
        VerbId::SkillsShow => Command::SkillsShow { name: positional(&mut given) },
        VerbId::SkillsInstall => {
            let agent = text(&mut given, "agent");
            let wants = |name| agent.as_deref().is_none_or(|agent| agent == name || agent == "all");
            Command::SkillsInstall(SkillsInstall {
                agents: wants("agents"),
                claude: wants("claude"),
                force: given.has("force"),
                directory: given.positionals.pop().map(PathBuf::from),
                dry_run,
            })
        }
        VerbId::SkillsCheck => Command::SkillsCheck(SkillsCheck {
            paths: given.positionals.into_iter().map(PathBuf::from).collect(),
        }),
        VerbId::McpServe => Command::McpServe,
        VerbId::McpConfig => {
            Command::McpConfig(McpConfig { agent: text(&mut given, "agent").unwrap_or_default() })
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

fn run(mut given: Given, dry_run: bool) -> Command {
    let project = text(&mut given, "project");
    let mut words = given.positionals.into_iter();
    Command::Run(Run {
        project,
        program: words.next().unwrap_or_default(),
        arguments: words.collect(),
        dry_run,
    })
}

fn tool(which: ToolVerb, mut given: Given, dry_run: bool) -> ToolCommand {
    let format = match text(&mut given, "format").as_deref() {
        Some("json") => Format::Json,
        Some(_) | None => Format::Compact,
    };
    let input = PathBuf::from(given.take("input").unwrap_or_default());
    let artifact_id = text(&mut given, "artifact-id").unwrap_or_default();
    match which {
        ToolVerb::Create => ToolCommand::Create(ToolCreate {
            input,
            attempt_id: text(&mut given, "attempt-id"),
            format,
            dry_run,
        }),
        ToolVerb::Update => ToolCommand::Update(ToolUpdate {
            artifact_id,
            input,
            if_revision: text(&mut given, "if-revision").and_then(|text| text.parse().ok()),
            format,
            dry_run,
        }),
        ToolVerb::Refresh => ToolCommand::Refresh(ToolRefresh { artifact_id, format, dry_run }),
        ToolVerb::Validate => ToolCommand::Validate(ToolValidate { input, format }),
        ToolVerb::Connectors => ToolCommand::Connectors(format),
        ToolVerb::Execute => ToolCommand::Execute(ExecuteTool {
            connector: text(&mut given, "connector").unwrap_or_default(),
            tool: text(&mut given, "tool").unwrap_or_default(),
            input,
            format,
        }),
        ToolVerb::List => ToolCommand::List(format),
    }
}

fn artifacts(which: ArtifactsVerb, mut given: Given, dry_run: bool) -> ArtifactsCommand {
    let project = text(&mut given, "project");
    let artifact = given.positionals.pop().map(|word| word.to_string_lossy().into_owned());
    let one =
        |project| OneArtifact { artifact: artifact.clone().unwrap_or_default(), project, dry_run };
    match which {
        ArtifactsVerb::Show => ArtifactsCommand::Show(one(project)),
        ArtifactsVerb::Refresh => ArtifactsCommand::Refresh(one(project)),
        ArtifactsVerb::History => ArtifactsCommand::History(one(project)),
        ArtifactsVerb::Verify => ArtifactsCommand::Verify(VerifyArtifacts { artifact, project }),
        ArtifactsVerb::Repair => {
            ArtifactsCommand::Repair(Repair { artifact: one(project), yes: given.has("yes") })
        }
        ArtifactsVerb::Restore => ArtifactsCommand::Restore(one(project)),
        ArtifactsVerb::Open => {
            ArtifactsCommand::Open { artifact: one(project), print: given.has("print") }
        }
        ArtifactsVerb::List => ArtifactsCommand::List { project },
    }
}

fn connector(mut given: Given, dry_run: bool) -> ConnectorConnect {
    ConnectorConnect { connector: positional(&mut given), dry_run }
}

fn positional(given: &mut Given) -> String {
    given.positionals.pop().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default()
}

fn shell(given: &Given) -> Shell {
    match given.positionals.first().and_then(|word| word.to_str()) {
        Some("fish") => Shell::Fish,
        Some("zsh") => Shell::Zsh,
        Some(_) | None => Shell::Bash,
    }
}

fn text(given: &mut Given, long: &str) -> Option<String> {
    given.take(long).map(|value| value.to_string_lossy().into_owned())
}

fn number(given: &mut Given, long: &str) -> Option<u16> {
    text(given, long).and_then(|text| text.parse().ok())
}
