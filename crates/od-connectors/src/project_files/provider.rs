//! The `project_files` connector as a provider.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use od_core::connector::{Category, LocalTool};
use od_core::credential::is_secret_path;
use od_core::ids::{ProjectId, RelPath};
use od_core::json::{Map, Value, parse_message};
use od_core::limits::SEARCHES;
use od_ports::connector_provider::{
    CatalogEntry, ConnectorAccess, ConnectorProvider, ProviderError, RawOutput, ToolCall,
};
use od_ports::credential_vault::Secret;
use od_ports::project_files::{FilesError, ProjectFiles};
use serde_json::json;
use tokio::sync::Semaphore;

use super::fence::Fence;
use super::json_folder;
use super::search::{Found, Search, SearchError, search};
use crate::catalog::{connector_id, names, read_only};

/// Matches returned if the caller does not say.
const MATCHES_DEFAULT: u64 = 50;
/// Matches returned at most.
const MATCHES_MAX: u64 = 200;
/// Bytes of a JSON file: a document of 256 KiB may be laid out generously.
pub(super) const JSON_BYTES_MAX: u64 = 1024 * 1024;

/// Reads the files of the project that a call belongs to.
#[derive(Debug)]
pub struct ProjectFilesConnector {
    files: Arc<dyn ProjectFiles>,
    fence: Fence,
    /// Places of the searches that run, those that nobody waits for any more included.
    searches: Arc<Semaphore>,
}

impl ProjectFilesConnector {
    /// Makes the connector; nothing inside `fence` is ever read.
    pub fn new(files: Arc<dyn ProjectFiles>, fence: Fence) -> Self {
        Self { files, fence, searches: Arc::new(Semaphore::new(SEARCHES.max())) }
    }

    async fn root(&self, project: &ProjectId) -> Result<PathBuf, ProviderError> {
        let root = self.files.root(project).await.map_err(|err| files_fault(&err))?;
        root.ok_or_else(|| ProviderError::Missing {
            message: "the project has no root directory; set one with `od init`".to_owned(),
        })
    }

    async fn search(&self, call: &ToolCall) -> Result<RawOutput, ProviderError> {
        let wanted = parse_search(&call.input);
        let root = self.root(&call.project).await?;
        let fence = self.fence.clone();
        let broken = || ProviderError::Unavailable { message: "the search broke off".to_owned() };
        let place = Arc::clone(&self.searches).acquire_owned().await.map_err(|_| broken())?;
        let stop = StopOnDrop::default();
        let flag = Arc::clone(&stop.0);
        let found = tokio::task::spawn_blocking(move || {
            // Held by the thread, not by who waits for it: that one may be gone before.
            let _place = place;
            search(&root, &fence, &wanted, &flag)
        })
        .await
        .map_err(|_| broken())?
        .map_err(|err| search_fault(&err))?;
        Ok(found_output(&found))
    }

    async fn read_json(&self, call: &ToolCall) -> Result<RawOutput, ProviderError> {
        let path = path_input(&call.input, "path")?;
        let bytes = self
            .files
            .read(&call.project, &path, JSON_BYTES_MAX)
            .await
            .map_err(|err| files_fault(&err))?;
        let value = parse_message(&bytes).map_err(|faults| json_fault(&path, &faults))?;
        let mut metadata = Map::new();
        metadata.insert("path".to_owned(), path.as_str().into());
        metadata.insert("bytes".to_owned(), bytes.len().into());
        Ok(RawOutput {
            value,
            summary: Some(format!("{path}, {} bytes", bytes.len())),
            execution_id: None,
            metadata,
        })
    }
}

#[async_trait]
impl ConnectorProvider for ProjectFilesConnector {
    fn catalog(&self) -> CatalogEntry {
        let search = read_only(
            LocalTool::SearchFiles.as_str(),
            "Search project files",
            "Finds lines in the project's text files. Ignored, hidden and binary files and files of \
             secrets are skipped; globs only narrow.",
            search_schema(),
            "reads files of the project",
        );
        let read = read_only(
            LocalTool::ReadJson.as_str(),
            "Read a JSON file",
            "Reads one JSON file of the project.",
            json!({
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string", "minLength": 1, "maxLength": 260,
                        "description": "Path of the file, from the project's root.",
                    },
                },
                "required": ["path"],
                "additionalProperties": false,
            }),
            "reads one file of the project",
        );
        let read_folder = read_only(
            LocalTool::ReadJsonFolder.as_str(),
            "Read the JSON files of a folder",
            "Reads every JSON file directly in one folder of the project, by name, at most 100.",
            json!({
                "type": "object",
                "properties": {
                    "folder": {
                        "type": "string", "minLength": 1, "maxLength": 260,
                        "description": "Path of the folder, from the project's root.",
                    },
                },
                "required": ["folder"],
                "additionalProperties": false,
            }),
            "reads files of the project",
        );
        CatalogEntry {
            id: connector_id(LocalTool::ReadJson.connector()),
            name: "Project files",
            provider: "local",
            category: Category::Files,
            description: "Text search and JSON files of the project's own directory.",
            access: ConnectorAccess::Local,
            anonymous_label: None,
            allowed_tool_names: names(&[&search, &read, &read_folder]),
            featured_tool_names: names(&[&read, &search]),
            tools: vec![search, read, read_folder],
        }
    }

    async fn identify(&self, _: &Secret) -> Result<String, ProviderError> {
        Err(ProviderError::CredentialRefused)
    }

    async fn execute(&self, call: ToolCall) -> Result<RawOutput, ProviderError> {
        match LocalTool::from_word(call.tool.as_str()) {
            Some(LocalTool::SearchFiles) => self.search(&call).await,
            Some(LocalTool::ReadJson) => self.read_json(&call).await,
            Some(LocalTool::ReadJsonFolder) => {
                let folder = path_input(&call.input, "folder")?;
                json_folder::read(self.files.as_ref(), &call.project, &folder).await
            }
            Some(LocalTool::GitSummary) | None => {
                Err(ProviderError::UnknownTool { tool: call.tool })
            }
        }
    }
}

fn search_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": {
                "type": "string", "minLength": 1, "maxLength": 500,
                "description": "Text to find, or a regular expression with `regex`.",
            },
            "regex": { "type": "boolean", "description": "Read `query` as a regular expression." },
            "caseSensitive": { "type": "boolean", "description": "Tell upper from lower case." },
            "globs": {
                "type": "array", "maxItems": 20,
                "items": { "type": "string", "minLength": 1, "maxLength": 260 },
                "description": "Only files that match, such as `src/**/*.rs`; `!` excludes.",
            },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": MATCHES_MAX,
                "description": "Matches to return; 50 if left out.",
            },
        },
        "required": ["query"],
        "additionalProperties": false,
    })
}

/// Stops a search on another thread when nobody waits for it any more.
#[derive(Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn parse_search(input: &Map) -> Search {
    let flag = |name: &str| input.get(name).and_then(Value::as_bool).unwrap_or(false);
    let globs = input.get("globs").and_then(Value::as_array);
    let limit = input.get("limit").and_then(Value::as_u64).unwrap_or(MATCHES_DEFAULT);
    Search {
        query: text(input, "query").unwrap_or_default().to_owned(),
        is_regex: flag("regex"),
        is_case_sensitive: flag("caseSensitive"),
        globs: globs
            .into_iter()
            .flatten()
            .filter_map(|glob| glob.as_str().map(str::to_owned))
            .collect(),
        limit: usize::try_from(limit.clamp(1, MATCHES_MAX)).unwrap_or(1),
    }
}

fn found_output(found: &Found) -> RawOutput {
    let matches: Vec<Value> = found
        .matches
        .iter()
        .map(|hit| json!({ "path": hit.path, "line": hit.line, "preview": hit.preview }))
        .collect();
    let truncated = found.total > matches.len() as u64;
    let mut metadata = Map::new();
    metadata.insert("filesSearched".to_owned(), found.files.into());
    if found.cut > 0 {
        metadata.insert("filesCut".to_owned(), found.cut.into());
    }
    RawOutput {
        summary: Some(format!("{} matching lines in {} files searched", found.total, found.files)),
        value: json!({ "matches": matches, "count": found.total, "truncated": truncated }),
        execution_id: None,
        metadata,
    }
}

fn text<'a>(input: &'a Map, name: &str) -> Option<&'a str> {
    input.get(name).and_then(Value::as_str)
}

fn path_input(input: &Map, name: &str) -> Result<RelPath, ProviderError> {
    let text = text(input, name).unwrap_or_default();
    let path: RelPath = text.parse().map_err(|err: od_core::ids::ParseIdError| {
        ProviderError::Input { pointer: format!("/{name}"), message: err.to_string() }
    })?;
    if is_secret_path(path.as_str()) {
        return Err(ProviderError::Forbidden {
            message: format!(
                "`{path}` is a file of secrets by its name; such files are never read"
            ),
        });
    }
    Ok(path)
}

fn search_fault(error: &SearchError) -> ProviderError {
    let message = error.to_string();
    match error {
        SearchError::Pattern(_) => ProviderError::Input { pointer: "/query".to_owned(), message },
        SearchError::Glob(_) => ProviderError::Input { pointer: "/globs".to_owned(), message },
        SearchError::Root => ProviderError::Forbidden { message },
        SearchError::Stopped => ProviderError::Unavailable { message },
    }
}

pub(super) fn json_fault(path: &RelPath, faults: &od_core::json::JsonFaults) -> ProviderError {
    let message = format!("`{path}`: {faults}");
    if faults.is_syntax() {
        ProviderError::Malformed { message }
    } else {
        ProviderError::OutOfBounds { message }
    }
}

pub(super) fn files_fault(error: &FilesError) -> ProviderError {
    let message = error.to_string();
    match error {
        FilesError::ProjectNotFound { .. }
        | FilesError::NoRoot { .. }
        | FilesError::NotFound { .. } => ProviderError::Missing { message },
        FilesError::Refused { .. } | FilesError::RootOutside { .. } => {
            ProviderError::Forbidden { message }
        }
        FilesError::TooLarge { allowed, .. } => ProviderError::TooLarge { allowed: *allowed },
        FilesError::Io { .. } => ProviderError::Unavailable { message },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_nobody_waits_for_ends() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a.txt"), "found\n").unwrap();
        let query = parse_search(json!({ "query": "found" }).as_object().unwrap());
        let looks = |flag| search(root.path(), &Fence::around([]), &query, flag);
        let waited_for = StopOnDrop::default();
        let flag = Arc::clone(&waited_for.0);
        assert!(looks(&flag).is_ok());
        drop(waited_for);
        assert!(matches!(looks(&flag), Err(SearchError::Stopped)));
    }
}
