//! The demo's artifacts and the files that their sources read, embedded in the binary.

use std::fs;
use std::io;
use std::path::Path;

use super::repository::is_the_demos;

/// The project that an artifact of the demo lives in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Home {
    /// The one over the demo's own files.
    Files,
    /// The one over a git repository.
    Repository,
}

/// One artifact of the demo.
#[derive(Debug)]
pub(super) struct DemoArtifact {
    pub(super) home: Home,
    /// As in its artifact.json.
    pub(super) slug: &'static str,
    /// The files to change in order to see it change.
    pub(super) source: &'static str,
    pub(super) artifact: &'static str,
    pub(super) template: &'static str,
    pub(super) data: &'static str,
}

/// The demo's artifacts, in the order they are made.
pub(super) const ARTIFACTS: &[DemoArtifact] = &[
    DemoArtifact {
        home: Home::Repository,
        slug: "repository",
        source: "any file or commit of the repository",
        artifact: include_str!("../../../demo/repository/artifact.json"),
        template: include_str!("../../../demo/repository/template.html"),
        data: include_str!("../../../demo/repository/data.json"),
    },
    DemoArtifact {
        home: Home::Files,
        slug: "quarterly-report",
        source: "teams/*.json or budget.csv",
        artifact: include_str!("../../../demo/report/artifact.json"),
        template: include_str!("../../../demo/report/template.html"),
        data: include_str!("../../../demo/report/data.json"),
    },
    DemoArtifact {
        home: Home::Files,
        slug: "relaunch",
        source: "metrics.json",
        artifact: include_str!("../../../demo/dashboard/artifact.json"),
        template: include_str!(
            "../../../../../skills/live-artifact/assets/templates/dashboard.html"
        ),
        data: METRICS,
    },
];

/// The dashboard's source, and its first data.
const METRICS: &str = include_str!("../../../demo/files/metrics.json");

/// The files that the demo's sources read.
const FILES: &[(&str, &str)] = &[
    ("metrics.json", METRICS),
    ("budget.csv", include_str!("../../../demo/files/budget.csv")),
    ("teams/accounts.json", include_str!("../../../demo/files/teams/accounts.json")),
    ("teams/payments.json", include_str!("../../../demo/files/teams/payments.json")),
    ("teams/platform.json", include_str!("../../../demo/files/teams/platform.json")),
    ("teams/search.json", include_str!("../../../demo/files/teams/search.json")),
];

/// A team that reports late.
const LATE_TEAM: (&str, &str) = (
    "teams/design.json",
    "{\n  \"name\": \"Design\",\n  \"lead\": \"Sam Rivera\",\n  \"status\": \"On time\",\n  \
     \"headline\": \"One set of components for every product\",\n  \
     \"text\": \"Forty screens moved over; the last six follow in May.\",\n  \
     \"done\": 11,\n  \"planned\": 12\n}\n",
);

/// Writes the files that are not there; what a person changed stays.
pub(super) fn write_files(directory: &Path) -> io::Result<usize> {
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

/// Deletes the files that the demo writes, and the directories that are empty then; also the repository
/// in a directory of the demo's own, or one that holds nobody else's commits. Returns whether anything stays.
pub(super) fn remove_files(directory: &Path, is_own: bool) -> io::Result<bool> {
    let names = FILES.iter().map(|(name, _)| *name).chain([LATE_TEAM.0]);
    for name in names {
        let path = directory.join(name);
        if path.is_file() {
            fs::remove_file(path)?;
        }
    }
    let repository = directory.join(".git");
    if (is_own || is_the_demos(directory)) && repository.is_dir() {
        fs::remove_dir_all(repository)?;
    }
    let mut stays = false;
    for folder in [directory.join("teams"), directory.to_owned()] {
        match fs::remove_dir(folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => stays = true,
            Err(error) => return Err(error),
        }
    }
    Ok(stays)
}

/// The dashboard's numbers as the demo writes them, and as it changes them.
const NUMBERS: [(&str, &str); 2] = [
    (
        "\"label\": \"Open tasks\", \"value\": 42, \"unit\": \"\", \"delta\": -9",
        "\"label\": \"Open tasks\", \"value\": 37, \"unit\": \"\", \"delta\": -14",
    ),
    ("{ \"label\": \"Apr 28\", \"value\": 12 }", "{ \"label\": \"Apr 28\", \"value\": 9 }"),
];

/// Changes the sources: a number on the dashboard, one more file in the report's folder. A second time
/// it takes both back. Returns the slug of each artifact whose source changed, with what changed in it;
/// what a person wrote into the demo's files stays, and its artifact is not among them.
pub(super) fn change_sources(directory: &Path) -> io::Result<Vec<(&'static str, String)>> {
    let mut changes = Vec::new();
    let (name, text) = LATE_TEAM;
    let late = directory.join(name);
    match fs::read_to_string(&late) {
        Ok(there) if there == text => {
            fs::remove_file(&late)?;
            changes.push(("quarterly-report", format!("{name}: removed")));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::write(&late, text)?;
            changes.push(("quarterly-report", format!("{name}: added")));
        }
        Err(error) => return Err(error),
    }
    let metrics = directory.join("metrics.json");
    let before = fs::read_to_string(&metrics)?;
    let replace_all = |pairs: &mut dyn Iterator<Item = (&str, &str)>| {
        pairs.fold(before.clone(), |text, (from, to)| text.replace(from, to))
    };
    let there = replace_all(&mut NUMBERS.iter().copied());
    let back = replace_all(&mut NUMBERS.iter().map(|(first, then)| (*then, *first)));
    let (after, what) = if there == before { (back, "37 to 42") } else { (there, "42 to 37") };
    if after != before {
        fs::write(&metrics, after)?;
        changes.push(("relaunch", format!("metrics.json: open tasks from {what}")));
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::skills::check_page;

    #[test]
    fn every_page_of_the_demo_is_valid_with_its_first_data() {
        for artifact in ARTIFACTS {
            check_page(artifact.template, artifact.data);
        }
    }

    #[test]
    fn every_input_of_the_demo_is_one_that_create_accepts() {
        for artifact in ARTIFACTS {
            let mut input: Value = serde_json::from_str(artifact.artifact).unwrap();
            input["document"]["dataJson"] = serde_json::from_str(artifact.data).unwrap();
            let body = json!({ "input": input, "templateHtml": artifact.template });
            let request = od_core::artifact::CreateRequest::parse(&body).unwrap();
            assert_eq!(request.input.heading.slug.as_str(), artifact.slug);
        }
    }

    #[test]
    fn removing_the_files_leaves_what_is_not_the_demos() {
        let folder = tempfile::tempdir().unwrap();
        let demo = folder.path().join("demo");
        write_files(&demo).unwrap();
        change_sources(&demo).unwrap();
        fs::write(demo.join("teams/mine.json"), "{}").unwrap();
        assert!(remove_files(&demo, true).unwrap());
        assert_eq!(fs::read_dir(&demo).unwrap().count(), 1);
        assert!(demo.join("teams/mine.json").is_file());
        fs::remove_file(demo.join("teams/mine.json")).unwrap();
        assert!(!remove_files(&demo, true).unwrap());
        assert!(!demo.exists());
    }

    #[test]
    fn changing_the_sources_changes_them_and_writing_again_keeps_it() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(write_files(folder.path()).unwrap(), FILES.len());
        let read = || fs::read_to_string(folder.path().join("metrics.json")).unwrap();
        let before = read();
        change_sources(folder.path()).unwrap();
        let after = read();
        assert_ne!(before, after);
        serde_json::from_str::<Value>(&after).unwrap();
        serde_json::from_str::<Value>(LATE_TEAM.1).unwrap();
        assert_eq!(write_files(folder.path()).unwrap(), 0);
        assert_eq!(read(), after);
        // A second time it changes them back, so that a demo over the same folder shows a change again.
        assert_eq!(change_sources(folder.path()).unwrap().len(), 2);
        assert_eq!(read(), before);
        assert!(!folder.path().join(LATE_TEAM.0).exists());
    }

    #[test]
    fn what_a_person_wrote_into_the_sources_stays() {
        let folder = tempfile::tempdir().unwrap();
        write_files(folder.path()).unwrap();
        for name in ["metrics.json", LATE_TEAM.0] {
            fs::write(folder.path().join(name), "{}").unwrap();
        }
        assert_eq!(change_sources(folder.path()).unwrap(), []);
        for name in ["metrics.json", LATE_TEAM.0] {
            assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), "{}");
        }
    }
}
