//! Hostile services and files: each ends with a typed fault, and takes no more than 64 MiB on the way.

use std::fs::File;
use std::sync::Arc;

use od_connectors::{Fence, ProjectFilesConnector};
use od_ports::connector_provider::ProviderError;
use serde_json::json;
use tempfile::TempDir;

use super::github::peak_mib;
use super::services::get;
use super::tables::state;
use crate::http_server::{Answer, TestServer};
use crate::scene::{call, real_files, write};

const MIB_MAX: u64 = 64;

#[tokio::test]
async fn hostile_answers_of_a_service_end_with_a_typed_fault_within_64_mib() {
    let server = TestServer::start(|seen| match seen.path() {
        "/endless" => Answer::Flood { bytes: 1 << 40 },
        "/bomb" => Answer::text(200, "\u{1f}not read").with("content-encoding", "gzip"),
        "/wide.csv" => Answer::text(200, &",".repeat(1_000_000)),
        "/bytes.csv" => {
            Answer::Whole { status: 200, headers: Vec::new(), body: b"a\n\xff\n".to_vec() }
        }
        "/deep.json" => Answer::text(200, &"[".repeat(100_000)),
        "/torn" => Answer::Torn,
        _ => Answer::Noise,
    })
    .await;
    let url = server.url();
    let before = peak_mib();
    for (path, want) in [
        ("endless", "the answer is larger than 33554432 bytes"),
        ("bomb", "compressed although no compression was accepted"),
        ("wide.csv", "intake_columns"),
        ("bytes.csv", "not UTF-8"),
        ("torn", "broke"),
        ("noise", "broke"),
    ] {
        let fault = get(&url, "http.get_text", json!({ "source": "demo", "path": path })).await;
        let fault = fault.unwrap_err().to_string();
        assert!(fault.contains(want), "{path}: {fault}");
    }
    let deep = get(&url, "http.get_json", json!({ "source": "demo", "path": "deep.json" })).await;
    assert!(deep.unwrap_err().to_string().contains("intake_depth"));
    let grown = peak_mib() - before;
    assert!(grown <= MIB_MAX, "memory grew by {grown} MiB");
}

#[tokio::test]
async fn hostile_files_take_no_more_than_64_mib_and_stay_as_they_are() {
    let root = TempDir::new().unwrap();
    // Ten gigabytes that take no room on the disk.
    let huge = File::create(root.path().join("huge.csv")).unwrap();
    huge.set_len(10 * 1024 * 1024 * 1024).unwrap();
    write(root.path(), "wide.csv", vec![b','; 1_000_000]);
    write(root.path(), "bytes.csv", b"a,b\n\xff\xfe,1\n");
    write(root.path(), "long.csv", "a\n1\n".repeat(1_000_000));
    let (_home, files) = real_files(root.path()).await;
    let connector = ProjectFilesConnector::new(Arc::new(files), Fence::around([]));
    let (state_before, peak_before) = (state(root.path()), peak_mib());
    for path in ["huge.csv", "wide.csv", "bytes.csv", "long.csv"] {
        let input = json!({ "path": path });
        let fault = call(&connector, "project_files.read_table", input, None).await.unwrap_err();
        let is_typed = matches!(
            fault,
            ProviderError::TooLarge { .. }
                | ProviderError::OutOfBounds { .. }
                | ProviderError::Malformed { .. }
        );
        assert!(is_typed, "{path}: {fault:?}");
    }
    let grown = peak_mib() - peak_before;
    assert!(grown <= MIB_MAX, "memory grew by {grown} MiB");
    assert_eq!(state(root.path()), state_before);
}
