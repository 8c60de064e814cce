//! The table of derived files: compared with what stands in the tree, or written.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::root;

/// Whether derived files are written or only compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Write what is stale.
    Write,
    /// Change nothing, fail on what is stale.
    Check,
}

/// Every derived file. A new generator is a new line here.
pub(crate) const GENERATED: &[Generated] = &[
    Generated { name: "cli", owns: None, render: super::docs::cli },
    Generated { name: "conformance", owns: None, render: super::conformance::render },
    Generated { name: "console", owns: None, render: super::console::render },
    Generated { name: "core docs", owns: None, render: super::docs::core_docs },
    Generated { name: "schemas", owns: Some("docs/schemas"), render: super::docs::schemas },
    Generated { name: "http api", owns: None, render: super::docs::http_api },
    Generated { name: "template guide", owns: None, render: super::templates::render },
    Generated { name: "skill references", owns: None, render: super::skill_references::render },
];

/// A folder or file that a function derives from the types.
pub(crate) struct Generated {
    /// The generator's name, for messages.
    pub(crate) name: &'static str,
    /// A folder that holds nothing but this generator's files: whatever else lies there is stale.
    pub(crate) owns: Option<&'static str>,
    /// Returns every file of this generator.
    pub(crate) render: fn() -> Result<Vec<GeneratedFile>, String>,
}

/// One derived file.
pub(crate) struct GeneratedFile {
    /// Its path from the root of the repository.
    pub(crate) path: String,
    /// Its whole text.
    pub(crate) text: String,
}

/// Writes every stale file, or fails naming them.
pub(crate) fn run(mode: Mode) -> Result<(), String> {
    apply(&root(), GENERATED, mode)
}

fn apply(root: &Path, generators: &[Generated], mode: Mode) -> Result<(), String> {
    let mut stale = Vec::new();
    for generator in generators {
        let files =
            (generator.render)().map_err(|err| format!("generator `{}`: {err}", generator.name))?;
        for file in &files {
            if fs::read_to_string(root.join(&file.path)).ok().as_deref() != Some(&file.text) {
                stale.push(file.path.clone());
                if mode == Mode::Write {
                    let path = root.join(&file.path);
                    fs::create_dir_all(path.parent().unwrap_or(root))
                        .and_then(|()| fs::write(&path, &file.text))
                        .map_err(|err| format!("{}: {err}", file.path))?;
                }
            }
        }
        for path in leftovers(root, generator, &files)? {
            if mode == Mode::Write {
                fs::remove_file(root.join(&path)).map_err(|err| format!("{path}: {err}"))?;
            }
            stale.push(path);
        }
    }
    match (mode, stale.is_empty()) {
        (Mode::Write, _) | (Mode::Check, true) => Ok(()),
        (Mode::Check, false) => {
            Err(format!("stale: {}; run `cargo xtask codegen` and commit", stale.join(", ")))
        }
    }
}

/// Names the files in the generator's own folder that it no longer makes.
fn leftovers(
    root: &Path,
    generator: &Generated,
    files: &[GeneratedFile],
) -> Result<Vec<String>, String> {
    let Some(folder) = generator.owns else { return Ok(Vec::new()) };
    let made: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return Ok(Vec::new()) };
    let mut left = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|err| format!("{folder}: {err}"))?;
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_file() && !made.contains(path.as_str()) {
            left.push(path);
        }
    }
    left.sort();
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_file() -> Result<Vec<GeneratedFile>, String> {
        Ok(vec![GeneratedFile { path: "out/a.md".to_owned(), text: "fresh\n".to_owned() }])
    }

    const PLANTED: &[Generated] =
        &[Generated { name: "planted", owns: Some("out"), render: one_file }];

    #[test]
    fn the_committed_derived_files_are_current() {
        run(Mode::Check).unwrap();
    }

    #[test]
    fn a_stale_or_leftover_file_is_named_and_then_written() {
        let root = std::env::temp_dir().join(format!("xtask-codegen-{}", std::process::id()));
        fs::create_dir_all(root.join("out")).unwrap();
        fs::write(root.join("out/a.md"), "old\n").unwrap();
        fs::write(root.join("out/gone.md"), "left\n").unwrap();

        let refusal = apply(&root, PLANTED, Mode::Check).unwrap_err();
        assert!(refusal.contains("out/a.md") && refusal.contains("out/gone.md"), "{refusal}");
        assert_eq!(fs::read_to_string(root.join("out/a.md")).unwrap(), "old\n");

        apply(&root, PLANTED, Mode::Write).unwrap();
        apply(&root, PLANTED, Mode::Check).unwrap();
        fs::remove_dir_all(root).unwrap();
    }
}
