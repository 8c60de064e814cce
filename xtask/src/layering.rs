//! The layering check: `cargo metadata` against the table in ARCHITECTURE.md.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::steps::root;

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    layer: u8,
    banned: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `dev`, `build`, or nothing for an ordinary dependency.
    kind: Option<String>,
}

/// Fails naming every dependency that the table does not allow.
pub(crate) fn run() -> Result<(), String> {
    let root = root();
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md"))
        .map_err(|err| format!("ARCHITECTURE.md: {err}"))?;
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(&root)
        .output()
        .map_err(|err| format!("cargo metadata: {err}"))?;
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).map_err(|err| format!("cargo metadata: {err}"))?;
    let mut faults = faults(&read_table(&text)?, &metadata);
    faults.extend(platform_faults(&root.join("crates"))?);
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// Code of one system only: its home is `od-platform`, where each such call has a twin.
const PLATFORM_WORDS: [&str; 4] = ["target_os", "openat2(", "inotify::", "\"/proc/"];

/// Names every line outside `od-platform` that only one system understands. Programs that only test or
/// measure on Linux are left out.
fn platform_faults(crates: &Path) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    let mut folders = vec![crates.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|err| format!("{folder:?}: {err}"))?;
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let is_elsewhere = ["od-platform", "od-e2e", "od-bench", "tests", "benches"]
                .iter()
                .any(|left_out| name == *left_out);
            if path.is_dir() && !is_elsewhere {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text =
                    std::fs::read_to_string(&path).map_err(|err| format!("{path:?}: {err}"))?;
                faults.extend(lines_of_one_system(&text).map(|(number, word)| {
                    format!("{}:{number}: `{word}` belongs to od-platform", path.display())
                }));
            }
        }
    }
    faults.sort();
    Ok(faults)
}

fn lines_of_one_system(text: &str) -> impl Iterator<Item = (usize, &'static str)> {
    text.lines().enumerate().filter_map(|(index, line)| {
        let word = PLATFORM_WORDS.into_iter().find(|word| line.contains(word))?;
        Some((index + 1, word))
    })
}

fn read_table(text: &str) -> Result<BTreeMap<String, Row>, String> {
    let mut rows = BTreeMap::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, layer, name, _, _, banned, _] = cells.as_slice() else { continue };
        let Ok(layer) = layer.parse() else { continue };
        let banned = banned.split_whitespace().map(|word| word.trim_matches('`').to_owned());
        rows.insert(name.trim_matches('`').to_owned(), Row { layer, banned: banned.collect() });
    }
    if rows.is_empty() {
        Err("ARCHITECTURE.md has no table of crates".to_owned())
    } else {
        Ok(rows)
    }
}

fn faults(rows: &BTreeMap<String, Row>, metadata: &Metadata) -> Vec<String> {
    let mut faults = Vec::new();
    for package in &metadata.packages {
        let Some(row) = rows.get(&package.name) else {
            faults.push(format!("{} has no row in ARCHITECTURE.md", package.name));
            continue;
        };
        // What a crate's tests use is not part of the diagram.
        for dependency in
            package.dependencies.iter().filter(|dep| dep.kind.as_deref() != Some("dev"))
        {
            if row.banned.contains(&dependency.name) {
                faults.push(format!("{} may never depend on {}", package.name, dependency.name));
            }
            if rows.get(&dependency.name).is_some_and(|other| other.layer >= row.layer) {
                faults.push(format!("{} points up at {}", package.name, dependency.name));
            }
        }
    }
    for name in rows.keys().filter(|name| metadata.packages.iter().all(|p| p.name != **name)) {
        faults.push(format!("ARCHITECTURE.md names {name}, which does not exist"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
| layer | crate | holds | must not know | may never depend on |
|---|---|---|---|---|
| 0 | `core` | rules | files | `tokio` `hyper` |
| 1 | `ports` | traits | adapters | |
";

    fn metadata(core_needs: &str, kind: &str) -> Metadata {
        serde_json::from_str(&format!(
            r#"{{"packages":[
                {{"name":"core","dependencies":[{{"name":"{core_needs}","kind":{kind}}}]}},
                {{"name":"ports","dependencies":[{{"name":"core","kind":null}}]}}]}}"#
        ))
        .unwrap()
    }

    #[track_caller]
    fn check(core_needs: &str, kind: &str, expected: &[&str]) {
        let rows = read_table(TABLE).unwrap();
        assert_eq!(faults(&rows, &metadata(core_needs, kind)), expected);
    }

    #[test]
    fn a_call_of_one_system_outside_its_crate_is_named() {
        let text = "use x;\n#[cfg(target_os = \"linux\")]\nlet fd = rustix::fs::openat2(a);\n";
        let found: Vec<_> = lines_of_one_system(text).collect();
        assert_eq!(found, [(2, "target_os"), (3, "openat2(")]);
    }

    #[test]
    fn this_workspace_keeps_its_layers() {
        run().unwrap();
    }

    #[test]
    fn a_planted_banned_dependency_is_caught() {
        check("tokio", "null", &["core may never depend on tokio"]);
        check("tokio", r#""build""#, &["core may never depend on tokio"]);
    }

    #[test]
    fn a_planted_dependency_that_points_up_is_caught() {
        check("ports", "null", &["core points up at ports"]);
    }

    #[test]
    fn a_dev_dependency_is_free() {
        check("tokio", r#""dev""#, &[]);
        check("serde", "null", &[]);
    }

    #[test]
    fn a_crate_without_a_row_is_caught() {
        let rows = read_table(TABLE).unwrap();
        let metadata = serde_json::from_str(
            r#"{"packages":[{"name":"core","dependencies":[]},{"name":"new","dependencies":[]}]}"#,
        )
        .unwrap();
        assert_eq!(
            faults(&rows, &metadata),
            [
                "new has no row in ARCHITECTURE.md",
                "ARCHITECTURE.md names ports, which does not exist"
            ]
        );
    }
}
