//! The JSON files of one folder, read together.

use od_core::credential::is_secret_path;
use od_core::ids::{ProjectId, RelPath};
use od_core::json::{BoundedJson, Map, Value};
use od_ports::connector_provider::{ProviderError, RawOutput};
use od_ports::project_files::{FileEntry, ProjectFiles};
use serde_json::json;

use super::provider::{JSON_BYTES_MAX, files_fault, json_fault};

/// Files listed below the root before the folder's own are chosen.
const LISTED_MAX: usize = 10_000;
/// Files read from one folder.
const FILES_MAX: usize = 100;

/// Reads every `*.json` directly in the folder, by name. One that cannot be read fails the call:
/// a report with a silent gap is worse than none.
pub(super) async fn read(
    files: &dyn ProjectFiles,
    project: &ProjectId,
    folder: &RelPath,
) -> Result<RawOutput, ProviderError> {
    let listing = files.list(project, LISTED_MAX).await.map_err(|err| files_fault(&err))?;
    let inside: Vec<FileEntry> =
        listing.files.into_iter().filter(|file| is_inside(&file.path, folder)).collect();
    if inside.is_empty() {
        return Err(ProviderError::Missing {
            message: format!("there is no JSON file in the folder `{folder}`"),
        });
    }
    let mut read = Vec::new();
    for file in inside.iter().take(FILES_MAX) {
        let bytes = files.read(project, &file.path, JSON_BYTES_MAX).await;
        let bytes = bytes.map_err(|err| files_fault(&err))?;
        let value = BoundedJson::parse(&bytes).map_err(|faults| json_fault(&file.path, &faults))?;
        read.push(json!({ "path": file.path.as_str(), "value": value.into_value() }));
    }
    let count = inside.len();
    let value = json!({ "files": read, "count": count, "truncated": count > FILES_MAX });
    let value = BoundedJson::check(value).map_err(|faults| ProviderError::OutOfBounds {
        message: format!("`{folder}`: {faults}"),
    })?;
    let mut metadata = Map::new();
    metadata.insert("folder".to_owned(), Value::from(folder.as_str()));
    Ok(RawOutput {
        value: value.into_value(),
        summary: Some(format!("{count} JSON files in {folder}")),
        execution_id: None,
        metadata,
    })
}

fn is_inside(path: &RelPath, folder: &RelPath) -> bool {
    path.as_str()
        .strip_prefix(folder.as_str())
        .and_then(|rest| rest.strip_prefix('/'))
        .is_some_and(|name| !name.contains('/') && name.ends_with(".json") && !is_secret_path(name))
}
