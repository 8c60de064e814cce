//! Every relative link of the documentation leads to a file.
#![expect(
    clippy::disallowed_methods,
    reason = "the test reads the repository; the core reads nothing"
)]

use std::path::{Path, PathBuf};

const PAGES: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
const FOLDERS: &[&str] = &["docs", "skills"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
}

/// Returns the targets of a page's links and images, code blocks left out.
fn targets(page: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        // Outside of code spans: every second piece between back-quotes.
        for text in line.split('`').step_by(2) {
            let links = text.match_indices("](").map(|(at, _)| &text[at + 2..]);
            found.extend(links.filter_map(|rest| rest.split([')', ' ']).next()));
        }
    }
    found
}

/// Returns the file that a link of a page names, if it names one of the repository.
fn file_of(page: &Path, target: &str) -> Option<PathBuf> {
    let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
    let path = target.split('#').next().unwrap_or_default();
    (!is_elsewhere && !path.is_empty()).then(|| page.with_file_name("").join(path))
}

#[test]
fn every_relative_link_of_the_documentation_leads_to_a_file() {
    let root = root();
    let mut found: Vec<PathBuf> = PAGES.iter().map(|page| root.join(page)).collect();
    for folder in FOLDERS {
        pages(&root.join(folder), &mut found);
    }
    let mut links = 0;
    let mut broken = Vec::new();
    for page in &found {
        let text = std::fs::read_to_string(page).unwrap();
        for target in targets(&text) {
            let Some(file) = file_of(page, target) else { continue };
            links += 1;
            if !file.exists() {
                broken.push(format!("{}: {target}", page.strip_prefix(&root).unwrap().display()));
            }
        }
    }
    assert!(links > 10, "only {links} links were found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_broken_link_is_found_and_code_is_not() {
    let page = "see [a](gone.md#part) and ![b](x/y.png \"t\")\n`[c](code)`\n```\n[d](block)\n```\n[e](https://e.test) [f](#here)";
    assert_eq!(targets(page), ["gone.md#part", "x/y.png", "https://e.test", "#here"]);
    let at = Path::new("/docs/page.md");
    assert_eq!(file_of(at, "gone.md#part"), Some(PathBuf::from("/docs/gone.md")));
    assert_eq!(file_of(at, "https://e.test"), None);
    assert_eq!(file_of(at, "#here"), None);
}
