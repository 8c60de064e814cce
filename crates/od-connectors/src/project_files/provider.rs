//! The `project_files` connector as a provider.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use od_core::connector::LocalTool;
use od_core::credential::REDACTED;
use od_core::ids::ProjectId;
use od_core::json::{Map, Value};
use od_ports::access::credential_vault::Secret;
use od_ports::connector_provider::{
    CatalogEntry, ConnectorProvider, ProviderError, RawOutput, ToolCall,
};
use od_ports::project_files::ProjectFiles;
use serde_json::json;
use tokio::sync::Semaphore;

use super::fence::Fence;
use super::search::{AT_ONCE, Found, Search, search};
use super::{catalog, read};

/// Matches returned if the caller does not say.
const MATCHES_DEFAULT: u64 = 50;
/// Matches returned at most.
pub(super) const MATCHES_MAX: u64 = od_core::limits::SEARCH_MATCHES.allowed;

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
        Self { files, fence, searches: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    async fn root(&self, project: &ProjectId) -> Result<PathBuf, ProviderError> {
        let root = self.files.root(project).await?;
        root.ok_or_else(|| ProviderError::Missing {
            message: "the project has no root directory; set one with `od init`".to_owned(),
        })
    }

    async fn search(&self, call: &ToolCall) -> Result<RawOutput, ProviderError> {
        let wanted = parse_search(&call.input);
        let root = self.root(&call.project).await?;
        let fence = self.fence.clone();
        let scrubber = Arc::clone(&call.scrubber);
        let broken = || ProviderError::Unavailable { message: "the search broke off".to_owned() };
        let place = Arc::clone(&self.searches).acquire_owned().await.map_err(|_| broken())?;
        let stop = StopOnDrop::default();
        let flag = Arc::clone(&stop.0);
        let found = tokio::task::spawn_blocking(move || {
            // Held by the thread, not by who waits for it: that one may be gone before.
            let _place = place;
            search(&root, &fence, &wanted, &scrubber, &flag)
        })
        .await
        .map_err(|_| broken())??;
        found_output(&found)
    }
}

#[async_trait]
impl ConnectorProvider for ProjectFilesConnector {
    fn catalog(&self) -> CatalogEntry {
        catalog::entry()
    }

    async fn identify(&self, _: &Secret) -> Result<String, ProviderError> {
        Err(ProviderError::CredentialRefused)
    }

    async fn execute(&self, call: ToolCall) -> Result<RawOutput, ProviderError> {
        let files = self.files.as_ref();
        match LocalTool::from_word(call.tool.as_str()) {
            Some(LocalTool::SearchFiles) => self.search(&call).await,
            Some(LocalTool::ReadJson) => read::read_json(files, &call).await,
            Some(LocalTool::ReadJsonFolder) => read::read_json_folder(files, &call).await,
            Some(LocalTool::ReadTable) => read::read_table(files, &call).await,
            Some(LocalTool::ReadData) => read::read_data(files, &call).await,
            Some(
                LocalTool::SqliteQuery
                | LocalTool::SqliteSchema
                | LocalTool::GitSummary
                | LocalTool::GitLog
                | LocalTool::GitFileHistory
                | LocalTool::GitBlameSummary
                | LocalTool::GitCodeSearch,
            )
            | None => Err(ProviderError::UnknownTool { tool: call.tool }),
        }
    }
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

fn found_output(found: &Found) -> Result<RawOutput, ProviderError> {
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
    let redacted = found.matches.iter().filter(|hit| hit.preview.contains(REDACTED)).count();
    if redacted > 0 {
        metadata.insert("linesRedacted".to_owned(), redacted.into());
    }
    let value = json!({ "matches": matches, "count": found.total, "truncated": truncated });
    Ok(RawOutput {
        summary: Some(format!("{} matching lines in {} files searched", found.total, found.files)),
        metadata,
        ..RawOutput::of(&value)?
    })
}

pub(super) fn text<'a>(input: &'a Map, name: &str) -> Option<&'a str> {
    input.get(name).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use od_core::credential::Scrubber;

    use super::super::search::SearchError;
    use super::*;

    #[test]
    fn a_search_that_nobody_waits_for_ends() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a.txt"), "found\n").unwrap();
        let query = parse_search(json!({ "query": "found" }).as_object().unwrap());
        let secrets = Scrubber::new([""; 0]);
        let looks = |flag| search(root.path(), &Fence::around([]), &query, &secrets, flag);
        let waited_for = StopOnDrop::default();
        let flag = Arc::clone(&waited_for.0);
        assert!(looks(&flag).is_ok());
        drop(waited_for);
        assert!(matches!(looks(&flag), Err(SearchError::Stopped)));
    }
}
