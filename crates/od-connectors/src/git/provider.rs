//! The `git` connector as a provider.

use std::sync::Arc;

use async_trait::async_trait;
use od_core::connector::{Category, LocalTool};
use od_core::json::Value;
use od_ports::connector_provider::{
    CatalogEntry, ConnectorAccess, ConnectorProvider, ProviderError, RawOutput, ToolCall,
};
use od_ports::credential_vault::Secret;
use od_ports::project_files::{FilesError, ProjectFiles};
use serde_json::json;

use super::directory::DirectoryError;
use super::program::{ProgramError, Repository};
use super::summary::{CLIPS, SummaryLimits, read_summary};
use crate::catalog::{connector_id, names, read_only};
use crate::project_files::Fence;

const SUMMARY: LocalTool = LocalTool::GitSummary;
/// Commits and tags reported if the caller does not say.
const ENTRIES_DEFAULT: u64 = 10;
/// Commits and tags reported at most.
const ENTRIES_MAX: u64 = 50;

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

    async fn summary(&self, call: &ToolCall) -> Result<RawOutput, ProviderError> {
        let root = match self.files.root(&call.project).await {
            Ok(Some(root)) => root,
            Ok(None) | Err(FilesError::NoRoot { .. } | FilesError::ProjectNotFound { .. }) => {
                return Err(ProviderError::Missing {
                    message: "the project has no root directory; set one with `od init`".to_owned(),
                });
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
        let count = |name: &str| {
            let wanted = call.input.get(name).and_then(Value::as_u64).unwrap_or(ENTRIES_DEFAULT);
            usize::try_from(wanted.min(ENTRIES_MAX)).unwrap_or(0)
        };
        let limits = SummaryLimits { commits: count("commits"), tags: count("tags") };
        let repository = Repository::open(&root).await.map_err(|err| program_fault(&err))?;
        let value = read_summary(&repository, limits).await.map_err(|err| program_fault(&err))?;
        let branch = value.get("branch").and_then(Value::as_str).unwrap_or("no branch");
        let summary = Some(format!("repository on {branch}"));
        Ok(RawOutput { summary, clips: CLIPS, ..RawOutput::of(&value)? })
    }
}

#[async_trait]
impl ConnectorProvider for Git {
    fn catalog(&self) -> CatalogEntry {
        let entries = |what: &str| {
            json!({
                "type": "integer", "minimum": 0, "maximum": ENTRIES_MAX,
                "description": format!("Newest {what} to report; 10 if left out."),
            })
        };
        let summary = read_only(
            SUMMARY.as_str(),
            "Read repository summary",
            "Branch, upstream, ahead and behind, status, recent commits, diff stat and tags of the \
             repository at the project's root.",
            json!({
                "type": "object",
                "properties": { "commits": entries("commits"), "tags": entries("tags") },
                "additionalProperties": false,
            }),
            "runs git commands that only read",
        );
        CatalogEntry {
            id: connector_id(SUMMARY.connector()),
            name: "Git",
            provider: "local",
            category: Category::Code,
            description: "The state of the project's own repository.",
            access: ConnectorAccess::Local,
            anonymous_label: None,
            allowed_tool_names: names(&[&summary]),
            featured_tool_names: names(&[&summary]),
            tools: vec![summary],
        }
    }

    async fn identify(&self, _: &Secret) -> Result<String, ProviderError> {
        Err(ProviderError::CredentialRefused)
    }

    async fn execute(&self, call: ToolCall) -> Result<RawOutput, ProviderError> {
        if LocalTool::from_word(call.tool.as_str()) == Some(SUMMARY) {
            self.summary(&call).await
        } else {
            Err(ProviderError::UnknownTool { tool: call.tool })
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
