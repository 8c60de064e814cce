//! Tables and documents of the project, read through the real file adapter.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::sync::Arc;

use od_connectors::{Fence, ProjectFilesConnector};
use od_core::json::Value;
use od_ports::connector_provider::ProviderError;
use serde_json::json;
use tempfile::TempDir;

use crate::scene::{call, real_files, write};

const READ_TABLE: &str = "project_files.read_table";
const READ_DATA: &str = "project_files.read_data";

async fn read(root: &Path, tool: &str, input: Value) -> Result<Value, ProviderError> {
    let (_home, files) = real_files(root).await;
    let connector = ProjectFilesConnector::new(Arc::new(files), Fence::around([]));
    call(&connector, tool, input, None).await.map(|raw| raw.output.to_value())
}

async fn table(root: &Path, path: &str) -> Result<Value, ProviderError> {
    read(root, READ_TABLE, json!({ "path": path })).await
}

/// Every file and directory with its bytes and times.
pub(crate) fn state(root: &Path) -> Vec<(String, i64, i64, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let metadata = fs::metadata(&folder).unwrap();
        found.push((
            folder.display().to_string(),
            metadata.mtime(),
            metadata.mtime_nsec(),
            Vec::new(),
        ));
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let metadata = entry.metadata().unwrap();
            if metadata.is_dir() {
                folders.push(entry.path());
            } else {
                let bytes = if metadata.len() < 1_000_000 {
                    fs::read(entry.path()).unwrap()
                } else {
                    Vec::new()
                };
                found.push((
                    entry.path().display().to_string(),
                    metadata.mtime(),
                    metadata.mtime_nsec(),
                    bytes,
                ));
            }
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn rows_come_from_every_format_alike() {
    let root = TempDir::new().unwrap();
    write(root.path(), "a.csv", "path,ms\n/x,12\n/y,7.5\n");
    write(root.path(), "a.tsv", "path\tms\n/x\t12\n/y\t7.5\n");
    write(root.path(), "a.txt", "path;ms\n/x;12\n/y;7.5\n");
    write(root.path(), "a.jsonl", "{\"path\":\"/x\",\"ms\":12}\n{\"path\":\"/y\",\"ms\":7.5}\n");
    write(root.path(), "a.json", r#"[{"path":"/x","ms":12},{"path":"/y","ms":7.5}]"#);
    let rows = json!([{ "path": "/x", "ms": 12 }, { "path": "/y", "ms": 7.5 }]);
    let before = state(root.path());
    for path in ["a.csv", "a.tsv", "a.txt"] {
        let value = table(root.path(), path).await.unwrap();
        assert_eq!(value, json!({ "columns": ["path", "ms"], "rows": rows, "count": 2 }), "{path}");
    }
    for path in ["a.jsonl", "a.json"] {
        assert_eq!(table(root.path(), path).await.unwrap(), rows, "{path}");
    }
    let input = json!({ "path": "a.csv", "header": false, "delimiter": "," });
    let value = read(root.path(), READ_TABLE, input).await.unwrap();
    assert_eq!(value["rows"][0], json!({ "c1": "path", "c2": "ms" }));
    assert_eq!(state(root.path()), before, "reading leaves the project as it was");
}

#[tokio::test]
async fn documents_come_from_yaml_toml_and_json() {
    let root = TempDir::new().unwrap();
    write(root.path(), "okr.yaml", "owner: ada\nprogress: 0.4\n");
    write(root.path(), "okr.toml", "owner = \"ada\"\nprogress = 0.4\n");
    write(root.path(), "okr.json", r#"{"owner":"ada","progress":0.4}"#);
    for path in ["okr.yaml", "okr.toml", "okr.json"] {
        let value = read(root.path(), READ_DATA, json!({ "path": path })).await.unwrap();
        assert_eq!(value, json!({ "owner": "ada", "progress": 0.4 }), "{path}");
    }
    let fault = read(root.path(), READ_DATA, json!({ "path": "okr.csv" })).await.unwrap_err();
    assert!(matches!(fault, ProviderError::Input { .. }), "{fault}");
}

#[tokio::test]
async fn hostile_files_end_with_a_typed_fault() {
    let root = TempDir::new().unwrap();
    // Ten gigabytes that take no room on the disk.
    let huge = fs::File::create(root.path().join("huge.csv")).unwrap();
    huge.set_len(10 * 1024 * 1024 * 1024).unwrap();
    write(root.path(), "wide.csv", vec![b','; 1_000_000]);
    write(root.path(), "bytes.csv", b"a,b\n\xff\xfe,1\n");
    write(root.path(), "deep.json", "[".repeat(100_000));
    write(root.path(), "twice.json", r#"[{"a":1,"a":2}]"#);
    write(root.path(), "aliases.yaml", "a: &a [x,x]\nb: [*a,*a\n");
    let before = state(root.path());
    for (path, want) in [
        ("huge.csv", "the answer is larger than 33554432 bytes"),
        ("wide.csv", "intake_columns"),
        ("bytes.csv", "line 2 is not UTF-8"),
        ("deep.json", "intake_depth"),
        ("twice.json", "stands twice"),
    ] {
        let fault = table(root.path(), path).await.unwrap_err();
        assert!(fault.to_string().contains(want), "{path}: {fault}");
    }
    let fault = read(root.path(), READ_DATA, json!({ "path": "aliases.yaml" })).await.unwrap_err();
    assert!(matches!(fault, ProviderError::Malformed { .. }), "{fault}");
    assert_eq!(state(root.path()), before);
}

#[tokio::test]
async fn links_and_files_of_secrets_are_not_read() {
    let (root, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    write(outside.path(), "data.csv", "a\n1\n");
    write(root.path(), ".env.csv", "a\n1\n");
    symlink(outside.path().join("data.csv"), root.path().join("link.csv")).unwrap();
    for path in ["link.csv", ".env"] {
        let fault = table(root.path(), path).await.unwrap_err();
        assert!(matches!(fault, ProviderError::Forbidden { .. }), "{path}: {fault}");
    }
    assert!(matches!(table(root.path(), "none.csv").await, Err(ProviderError::Missing { .. })));
}
