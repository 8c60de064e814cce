//! Scaffolding shared by the tests of several connectors.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use od_core::credential::Scrubber;
use od_core::ids::{ProjectId, RelPath, Timestamp};
use od_core::json::{Map, Value};
use od_ports::access::credential_vault::Secret;
use od_ports::connector_provider::{ConnectorProvider, ProviderError, RawOutput, ToolCall};
use od_ports::project_files::{FileEntry, FileListing, FilesError, LocatedFile, ProjectFiles};
use od_ports::project_registry::{Project, ProjectRegistry as _};
use od_ports::system::Clock;

/// A clock that stands still, and whose sleeps are real.
#[derive(Debug)]
pub(crate) struct FixedClock(pub(crate) i64);

#[async_trait]
impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.0)
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// One project with one root, read without any protection: what is refused is refused by the connector.
#[derive(Debug)]
pub(crate) struct OneRoot(pub(crate) PathBuf);

#[async_trait]
impl ProjectFiles for OneRoot {
    async fn list(&self, _: &ProjectId, _: usize) -> Result<FileListing, FilesError> {
        let mut files = Vec::new();
        list_below(&self.0, &self.0, &mut files);
        files.sort_by(|left, right| left.path.as_str().cmp(right.path.as_str()));
        Ok(FileListing { files, truncated: false })
    }

    async fn read(&self, _: &ProjectId, path: &RelPath, _: u64) -> Result<Vec<u8>, FilesError> {
        std::fs::read(self.0.join(path.as_str()))
            .map_err(|_| FilesError::NotFound { path: path.clone() })
    }

    async fn locate(&self, _: &ProjectId, path: &RelPath) -> Result<LocatedFile, FilesError> {
        Err(FilesError::NotFound { path: path.clone() })
    }

    async fn root(&self, _: &ProjectId) -> Result<Option<PathBuf>, FilesError> {
        Ok(Some(self.0.clone()))
    }
}

fn list_below(root: &Path, folder: &Path, files: &mut Vec<FileEntry>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            list_below(root, &path, files);
        } else {
            files.push(FileEntry {
                path: path.strip_prefix(root).unwrap().to_str().unwrap().parse().unwrap(),
                bytes: entry.metadata().unwrap().len(),
                modified_at: Timestamp::from_unix_ms(0),
            });
        }
    }
}

pub(crate) fn project() -> ProjectId {
    "web".parse().unwrap()
}

/// Calls one tool.
pub(crate) async fn call(
    provider: &dyn ConnectorProvider,
    tool: &str,
    input: Value,
    secret: Option<&str>,
) -> Result<RawOutput, ProviderError> {
    let Value::Object(input) = input else { panic!("an input is an object") };
    provider.execute(tool_call(tool, input, secret)).await
}

pub(crate) fn tool_call(tool: &str, input: Map, secret: Option<&str>) -> ToolCall {
    ToolCall {
        project: project(),
        tool: tool.parse().unwrap(),
        input,
        secret: secret.map(|text| Secret::parse(text).unwrap()),
        scrubber: Arc::new(Scrubber::new(secret)),
    }
}

/// Writes a file below a directory, making the directories on the way.
pub(crate) fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

pub(crate) fn clock() -> Arc<dyn Clock> {
    Arc::new(FixedClock(1_777_507_200_000))
}

/// The real adapter of a project with one root; its data directory lives as long as the first part.
pub(crate) async fn real_files(root: &Path) -> (tempfile::TempDir, od_fs::DiskProjectFiles) {
    let home = tempfile::TempDir::new().unwrap();
    let data = od_fs::DataDir::open(&home.path().join("data")).unwrap();
    let registry = Arc::new(od_fs::FileProjectRegistry::new(data.clone()));
    let project = Project {
        id: project(),
        name: "Web".to_owned(),
        root: Some(root.to_path_buf()),
        created_at: Timestamp::from_unix_ms(0),
        allow_schedules: false,
    };
    registry.create(project).await.unwrap();
    (home, od_fs::DiskProjectFiles::new(registry, data))
}
