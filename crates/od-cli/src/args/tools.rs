//! `od tools …`: the agent's commands.

use std::path::PathBuf;

use super::matches::Matches;

/// `od tools …`
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ToolCommand {
    /// `od tools live-artifacts create`
    Create(ToolCreate),
    /// `od tools live-artifacts list`
    List(ToolList),
    /// `od tools live-artifacts get`
    Get(ToolGet),
    /// `od tools live-artifacts update`
    Update(ToolUpdate),
    /// `od tools live-artifacts refresh`
    Refresh(ToolRefresh),
    /// `od tools live-artifacts delete`
    Delete(ToolDelete),
    /// `od tools live-artifacts validate`
    Validate(ToolValidate),
    /// `od tools connectors list`
    Connectors(Format),
    /// `od tools connectors execute`
    Execute(ExecuteTool),
}

impl ToolCommand {
    /// Returns the form of the answer.
    #[must_use]
    pub const fn format(&self) -> Format {
        match self {
            Self::Create(args) => args.format,
            Self::Update(args) => args.format,
            Self::Refresh(args) => args.format,
            Self::Validate(args) => args.format,
            Self::Execute(args) => args.format,
            Self::List(args) => args.format,
            Self::Get(args) => args.format,
            Self::Delete(args) => args.format,
            Self::Connectors(format) => *format,
        }
    }
}

/// The form of a tool's answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// One line with the fields that matter.
    Compact,
    /// The whole answer, indented.
    Json,
}

impl Format {
    /// The words that the command line takes.
    pub(super) const WORDS: &'static [&'static str] = &["compact", "json"];

    pub(super) fn from_word(word: &str) -> Option<Self> {
        match word {
            "compact" => Some(Self::Compact),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// Whether data.json beside artifact.json is sent.
///
/// An update leaves it out unless it is asked for: the file is as old as the last create, and a design
/// that is sent again must not put old data over what refreshes brought since.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DataFile {
    /// It is sent.
    Sent,
    /// It stays where it is.
    LeftOut,
}

impl DataFile {
    const fn of(is_sent: bool) -> Self {
        if is_sent { Self::Sent } else { Self::LeftOut }
    }
}

/// `od tools live-artifacts create`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolCreate {
    /// artifact.json
    pub input: PathBuf,
    /// Names the attempt, so that a repeat returns the first result.
    pub attempt_id: Option<String>,
    /// The form of the answer.
    pub format: Format,
    /// Whether to change nothing.
    pub dry_run: bool,
    /// Whether to read no source.
    pub offline: bool,
}

impl From<Matches> for ToolCreate {
    fn from(mut given: Matches) -> Self {
        Self {
            input: given.required_path("input"),
            attempt_id: given.text("attempt-id"),
            format: given.format(),
            dry_run: given.dry_run(),
            offline: given.has("offline"),
        }
    }
}

/// `od tools live-artifacts list`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolList {
    /// Words to look for.
    pub query: Option<String>,
    /// The most rows.
    pub limit: Option<u64>,
    /// The `nextCursor` of the page before.
    pub cursor: Option<String>,
    /// The form of the answer.
    pub format: Format,
}

impl From<Matches> for ToolList {
    fn from(mut given: Matches) -> Self {
        Self {
            query: given.text("query"),
            limit: given.number("limit"),
            cursor: given.text("cursor"),
            format: given.format(),
        }
    }
}

/// `od tools live-artifacts get`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolGet {
    /// The artifact.
    pub artifact_id: String,
    /// A part of its data.
    pub path: Option<String>,
    /// What the answer holds besides the outline.
    pub include: Option<String>,
    /// The form of the answer.
    pub format: Format,
}

impl From<Matches> for ToolGet {
    fn from(mut given: Matches) -> Self {
        Self {
            artifact_id: given.required_text("artifact-id"),
            path: given.text("path"),
            include: given.text("include"),
            format: given.format(),
        }
    }
}

/// `od tools live-artifacts delete`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolDelete {
    /// The artifact.
    pub artifact_id: String,
    /// The revision it must be at.
    pub if_revision: Option<u64>,
    /// The form of the answer.
    pub format: Format,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for ToolDelete {
    fn from(mut given: Matches) -> Self {
        Self {
            artifact_id: given.required_text("artifact-id"),
            if_revision: given.number("if-revision"),
            format: given.format(),
            dry_run: given.dry_run(),
        }
    }
}

/// `od tools live-artifacts update`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolUpdate {
    /// The artifact.
    pub artifact_id: String,
    /// artifact.json
    pub input: PathBuf,
    /// Whether to send the data too.
    pub data: DataFile,
    /// The revision it must be at.
    pub if_revision: Option<u64>,
    /// The form of the answer.
    pub format: Format,
    /// Whether to change nothing.
    pub dry_run: bool,
    /// Whether to read no source.
    pub offline: bool,
}

impl From<Matches> for ToolUpdate {
    fn from(mut given: Matches) -> Self {
        Self {
            artifact_id: given.required_text("artifact-id"),
            input: given.required_path("input"),
            data: DataFile::of(given.has("with-data")),
            if_revision: given.number("if-revision"),
            format: given.format(),
            dry_run: given.dry_run(),
            offline: given.has("offline"),
        }
    }
}

/// `od tools live-artifacts refresh`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolRefresh {
    /// The artifact.
    pub artifact_id: String,
    /// The form of the answer.
    pub format: Format,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl From<Matches> for ToolRefresh {
    fn from(mut given: Matches) -> Self {
        Self {
            artifact_id: given.required_text("artifact-id"),
            format: given.format(),
            dry_run: given.dry_run(),
        }
    }
}

/// `od tools live-artifacts validate`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolValidate {
    /// artifact.json
    pub input: PathBuf,
    /// The artifact that would be changed; `None` for one that would be created.
    pub artifact_id: Option<String>,
    /// Whether to send the data too; always for one that would be created.
    pub data: DataFile,
    /// The revision it must be at.
    pub if_revision: Option<u64>,
    /// The form of the answer.
    pub format: Format,
    /// Whether to read no source.
    pub offline: bool,
}

impl From<Matches> for ToolValidate {
    fn from(mut given: Matches) -> Self {
        let artifact_id = given.text("artifact-id");
        let with_data = given.has("with-data");
        Self {
            input: given.required_path("input"),
            data: DataFile::of(with_data || artifact_id.is_none()),
            artifact_id,
            if_revision: given.number("if-revision"),
            format: given.format(),
            offline: given.has("offline"),
        }
    }
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
    /// The form of the answer.
    pub format: Format,
}

impl From<Matches> for ExecuteTool {
    fn from(mut given: Matches) -> Self {
        Self {
            connector: given.required_text("connector"),
            tool: given.required_text("tool"),
            input: given.required_path("input"),
            format: given.format(),
        }
    }
}
