//! `od tools …`: what an agent asks for.

use std::path::PathBuf;

use super::given::Given;
use super::verb::ToolVerb;

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

/// How a tool's answer is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// One line with the fields that matter.
    Compact,
    /// The whole answer, indented.
    Json,
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
    /// The artifact that would be changed; `None` for one that would be created.
    pub artifact_id: Option<String>,
    /// The revision it must be at.
    pub if_revision: Option<u64>,
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

/// Types what was given to one of the agent's verbs.
pub(super) fn build(which: ToolVerb, mut given: Given, dry_run: bool) -> ToolCommand {
    let format = match given.text("format").as_deref() {
        Some("json") => Format::Json,
        Some(_) | None => Format::Compact,
    };
    let input = PathBuf::from(given.take("input").unwrap_or_default());
    let named = given.text("artifact-id");
    let artifact_id = named.clone().unwrap_or_default();
    let if_revision = given.text("if-revision").and_then(|text| text.parse().ok());
    match which {
        ToolVerb::Create => ToolCommand::Create(ToolCreate {
            input,
            attempt_id: given.text("attempt-id"),
            format,
            dry_run,
        }),
        ToolVerb::Update => {
            ToolCommand::Update(ToolUpdate { artifact_id, input, if_revision, format, dry_run })
        }
        ToolVerb::Refresh => ToolCommand::Refresh(ToolRefresh { artifact_id, format, dry_run }),
        ToolVerb::Validate => {
            ToolCommand::Validate(ToolValidate { input, artifact_id: named, if_revision, format })
        }
        ToolVerb::Connectors => ToolCommand::Connectors(format),
        ToolVerb::Execute => ToolCommand::Execute(ExecuteTool {
            connector: given.text("connector").unwrap_or_default(),
            tool: given.text("tool").unwrap_or_default(),
            input,
            format,
        }),
        ToolVerb::List => ToolCommand::List(format),
    }
}
