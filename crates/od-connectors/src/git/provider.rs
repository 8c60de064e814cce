//! The `git` connector as a provider.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use od_core::connector::{Category, LocalTool};
use od_core::ids::{RelPath, Timestamp};
use od_core::json::Value;
use od_ports::access::credential_vault::Secret;
use od_ports::connector_provider::{
    CatalogEntry, ConnectorAccess, ConnectorProvider, ProviderError, RawOutput, ToolCall,
};
use od_ports::project_files::{FilesError, ProjectFiles};
use serde_json::json;

use super::directory::DirectoryError;
use super::history::{self, LogQuery, RevisionRange};
use super::program::{ProgramError, Repository};
use super::summary::{self, SummaryLimits, read_summary};
use crate::catalog::{connector_id, names};
use crate::project_files::Fence;

/// Summarises the repository at a project's root.
#[derive(Debug)]
pub struct Git {
    files: Arc<dyn ProjectFiles>,
    fence: Fence,
}

impl Git {
    /// Makes the connector; it asks `files` only where a project's root is, and works nowhere inside `fence`.
    pub fn new(files: Arc<dyn ProjectFiles>, fence: Fence) -> Self {
        Self { files, fence }
    }

    async fn root(&self, call: &ToolCall) -> Result<PathBuf, ProviderError> {
        let root = match self.files.root(&call.project).await {
            Ok(Some(root)) => root,
            Ok(None) | Err(FilesError::NoRoot { .. } | FilesError::ProjectNotFound { .. }) => {
                return Err(ProviderError::Missing {
                    message: "the project has no root directory; set one with `od init`".to_owned(),
                });
            }
            Err(err @ FilesError::RootMissing { .. }) => {
                return Err(ProviderError::Missing { message: err.to_string() });
            }
            Err(err @ FilesError::RootOutside { .. }) => {
                return Err(ProviderError::Forbidden { message: err.to_string() });
            }
            Err(err) => return Err(ProviderError::Unavailable { message: err.to_string() }),
        };
        if self.fence.resolve().encloses(&root) {
            return Err(ProviderError::Forbidden {
                message: "the project's directory lies inside the daemon's own".to_owned(),
            });
        }
        Ok(root)
    }

    async fn summary(&self, call: &ToolCall) -> Result<RawOutput, ProviderError> {
        let root = self.root(call).await?;
        let wanted = |name: &str| call.input.get(name).and_then(Value::as_u64);
        let limits = SummaryLimits::of(wanted("commits"), wanted("tags"));
        let read = match Repository::open(&root).await {
            Ok(repository) => read_summary(&repository, limits).await,
            Err(err) => Err(err),
        };
        let value = match read {
            Ok(value) => value,
            // A page may show that too: a project is a project before its first `git init`.
            Err(ProgramError::Directory(DirectoryError::Missing)) if root.is_dir() => {
                let summary = Some("no repository at the project's root".to_owned());
                let value = json!({ "isRepository": false });
                return Ok(RawOutput { summary, ..RawOutput::of(&value)? });
            }
            Err(err) => return Err(program_fault(&err)),
        };
        let branch = value.get("branch").and_then(Value::as_str).unwrap_or("no branch");
        let summary = Some(format!("repository on {branch}"));
        Ok(RawOutput { summary, clips: summary::CLIPS, ..RawOutput::of(&value)? })
    }

    async fn log(&self, call: &ToolCall, follows: bool) -> Result<RawOutput, ProviderError> {
        let text = |key: &str| call.input.get(key).and_then(Value::as_str);
        let query = LogQuery {
            range: RevisionRange::parse(text("range"))?,
            path: path(call)?,
            author: text("author").map(str::to_owned),
            since: time(call, "since")?,
            until: time(call, "until")?,
            limit: history::limit(call.input.get("limit").and_then(Value::as_u64)),
            follows,
        };
        let root = self.root(call).await?;
        let repository = Repository::open(&root).await.map_err(|err| program_fault(&err))?;
        let value = history::log(&repository, &query).await.map_err(|err| revision_fault(&err))?;
        let summary = Some(format!("{} commits", value["count"]));
        Ok(RawOutput { summary, clips: history::CLIPS, ..RawOutput::of(&value)? })
    }

    async fn blame(&self, call: &ToolCall) -> Result<RawOutput, ProviderError> {
        let path = call.path("path")?;
        let root = self.root(call).await?;
        let repository = Repository::open(&root).await.map_err(|err| program_fault(&err))?;
        let value = history::blame(&repository, &path).await.map_err(|err| {
            if let ProgramError::Failed { code: 128, .. } = err {
                ProviderError::Missing { message: format!("`{path}` is no committed file") }
            } else {
                program_fault(&err)
            }
        })?;
        let summary = Some(format!("{} lines of {path}", value["lines"]));
        Ok(RawOutput { summary, clips: history::CLIPS, ..RawOutput::of(&value)? })
    }

    async fn code_search(&self, call: &ToolCall) -> Result<RawOutput, ProviderError> {
        let words = call.input.get("words").and_then(Value::as_array);
        let words: Vec<&str> = words.into_iter().flatten().filter_map(Value::as_str).collect();
        // A line break would make two patterns of one.
        if words.iter().any(|word| word.chars().any(char::is_control)) {
            return Err(ProviderError::Input {
                pointer: "/words".to_owned(),
                message: "a word is one line of text".to_owned(),
            });
        }
        let path = path(call)?;
        let root = self.root(call).await?;
        let repository = Repository::open(&root).await.map_err(|err| program_fault(&err))?;
        let found = history::code_search(&repository, &words, path.as_ref()).await;
        let value = found.map_err(|err| revision_fault(&err))?;
        let summary = Some(format!("{} lines", value["total"]));
        Ok(RawOutput { summary, ..RawOutput::of(&value)? })
    }
}

/// Reads the path that an input may have.
fn path(call: &ToolCall) -> Result<Option<RelPath>, ProviderError> {
    call.input.contains_key("path").then(|| call.path("path")).transpose()
}

/// Reads a time that an input may have; a day is its first moment in UTC.
fn time(call: &ToolCall, field: &str) -> Result<Option<Timestamp>, ProviderError> {
    let Some(text) = call.input.get(field).and_then(Value::as_str) else { return Ok(None) };
    let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    whole.parse().map(Some).map_err(|_| ProviderError::Input {
        pointer: format!("/{field}"),
        message: format!("`{field}` is a day or a time, as 2026-05-01 or 2026-05-01T08:00:00Z"),
    })
}

/// A revision that git does not know is the caller's to mend.
fn revision_fault(error: &ProgramError) -> ProviderError {
    match error {
        ProgramError::Failed { code: 128, .. } => ProviderError::Input {
            pointer: "/range".to_owned(),
            message: "the repository has no such branch, tag or commit, or no commit yet"
                .to_owned(),
        },
        ProgramError::Failed { .. }
        | ProgramError::NotInstalled
        | ProgramError::Directory(_)
        | ProgramError::ConfigTooLong => program_fault(error),
    }
}

#[async_trait]
impl ConnectorProvider for Git {
    fn catalog(&self) -> CatalogEntry {
        let tools = super::catalog::tools(summary::ENTRIES_MAX);
        CatalogEntry {
            id: connector_id(LocalTool::GitSummary.connector()),
            name: "Git",
            provider: "local",
            category: Category::Code,
            description: "The state and history of the project's own repository.",
            access: ConnectorAccess::Local,
            anonymous_label: None,
            allowed_tool_names: names(&tools.iter().collect::<Vec<_>>()),
            featured_tool_names: names(&[&tools[0], &tools[1]]),
            tools,
        }
    }

    async fn identify(&self, _: &Secret) -> Result<String, ProviderError> {
        Err(ProviderError::CredentialRefused)
    }

    async fn execute(&self, call: ToolCall) -> Result<RawOutput, ProviderError> {
        match LocalTool::from_word(call.tool.as_str()) {
            Some(LocalTool::GitSummary) => self.summary(&call).await,
            Some(LocalTool::GitLog) => self.log(&call, false).await,
            Some(LocalTool::GitFileHistory) => self.log(&call, true).await,
            Some(LocalTool::GitBlameSummary) => self.blame(&call).await,
            Some(LocalTool::GitCodeSearch) => self.code_search(&call).await,
            Some(
                LocalTool::SearchFiles
                | LocalTool::ReadJson
                | LocalTool::ReadJsonFolder
                | LocalTool::ReadTable
                | LocalTool::ReadData
                | LocalTool::SqliteQuery
                | LocalTool::SqliteSchema,
            )
            | None => Err(ProviderError::UnknownTool { tool: call.tool }),
        }
    }
}

fn program_fault(error: &ProgramError) -> ProviderError {
    let message = error.to_string();
    match error {
        ProgramError::Directory(DirectoryError::Missing) => ProviderError::Missing { message },
        ProgramError::Directory(
            DirectoryError::Elsewhere { .. }
            | DirectoryError::Borrows { .. }
            | DirectoryError::TooManyParts
            | DirectoryError::ForeignOwner,
        )
        | ProgramError::ConfigTooLong => ProviderError::Forbidden { message },
        ProgramError::NotInstalled | ProgramError::Failed { .. } => {
            ProviderError::Unavailable { message }
        }
    }
}
