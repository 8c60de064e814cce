//! The demo's files: written once, and changed as a person would.

use std::fs;
use std::io;
use std::path::Path;

use super::content::{FILES, LATE_TEAM};

/// Writes the files that are not there; what a person changed stays.
pub(crate) fn write_files(directory: &Path) -> io::Result<usize> {
    fs::create_dir_all(directory.join("teams"))?;
    let mut written = 0;
    for (name, text) in FILES {
        let path = directory.join(name);
        if !path.exists() {
            fs::write(path, text)?;
            written += 1;
        }
    }
    Ok(written)
}

/// Changes the sources: a number on the dashboard, one more file in the report's folder.
pub(crate) fn change_sources(directory: &Path) -> io::Result<Vec<String>> {
    let metrics = directory.join("metrics.json");
    let before = fs::read_to_string(&metrics)?;
    let after = before
        .replace(
            "\"label\": \"Open tasks\", \"value\": 42, \"unit\": \"\", \"delta\": -9",
            "\"label\": \"Open tasks\", \"value\": 37, \"unit\": \"\", \"delta\": -14",
        )
        .replace(
            "{ \"label\": \"Apr 28\", \"value\": 12 }",
            "{ \"label\": \"Apr 28\", \"value\": 9 }",
        );
    fs::write(&metrics, after)?;
    let (name, text) = LATE_TEAM;
    fs::write(directory.join(name), text)?;
    Ok(vec!["metrics.json: open tasks from 42 to 37".to_owned(), format!("{name}: added")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changing_the_sources_changes_them_and_writing_again_keeps_it() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(write_files(folder.path()).unwrap(), FILES.len());
        let read = || fs::read_to_string(folder.path().join("metrics.json")).unwrap();
        let before = read();
        change_sources(folder.path()).unwrap();
        let after = read();
        assert_ne!(before, after);
        serde_json::from_str::<serde_json::Value>(&after).unwrap();
        serde_json::from_str::<serde_json::Value>(LATE_TEAM.1).unwrap();
        assert_eq!(write_files(folder.path()).unwrap(), 0);
        assert_eq!(read(), after);
    }
}
