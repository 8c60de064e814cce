//! `od build`: the same bytes twice, links that lead somewhere, and the examples of the page about it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::bench::Bench;

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let name = entry.path().strip_prefix(folder).unwrap().to_owned();
                found.insert(name, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    found
}

/// The addresses that a page leads to.
fn links(page: &str) -> Vec<&str> {
    let found = page.match_indices("href=\"").map(|(at, mark)| &page[at + mark.len()..]);
    let found = found.filter_map(|rest| rest.split('"').next());
    found.filter(|link| !link.starts_with("data:")).collect()
}

#[test]
fn two_builds_are_the_same_bytes_and_every_link_leads_to_a_file() {
    let bench = Bench::with_project();
    bench.with_artifact();
    bench.good(&["build", "--out", "one"]);
    bench.good(&["build", "--out", "two", "--refresh"]);
    bench.good(&["build", "--out", "one"]);
    let (one, two) = (files(&bench.project().join("one")), files(&bench.project().join("two")));
    assert_eq!(one.keys().collect::<Vec<_>>(), two.keys().collect::<Vec<_>>());
    bench.good(&["build", "--out", "three"]);
    assert_eq!(files(&bench.project().join("three")), {
        bench.good(&["build", "--out", "two"]);
        files(&bench.project().join("two"))
    });
    for name in ["index.html", "changes.html", "live.html", "feed.xml"] {
        let page = String::from_utf8(one[Path::new(name)].clone()).unwrap();
        assert!(!links(&page).is_empty(), "{name}");
        for link in links(&page) {
            assert!(one.contains_key(Path::new(link)), "{name}: {link}");
        }
    }
}

#[test]
fn a_page_that_is_gone_leaves_the_site_and_what_is_not_ours_stays() {
    let bench = Bench::with_project();
    bench.with_artifact();
    bench.good(&["build", "--out", "site"]);
    std::fs::write(bench.project().join("site/CNAME"), "example.org").unwrap();
    bench.good(&["artifacts", "delete", "live"]);
    bench.good(&["build", "--out", "site"]);
    let left = files(&bench.project().join("site"));
    let names: Vec<_> = left.keys().map(|name| name.display().to_string()).collect();
    assert_eq!(names, ["CNAME", "changes.html", "feed.xml", "index.html", "site.json"]);
    // A list that somebody changed removes nothing outside of the site.
    bench.write("keep.txt", "x");
    let list = json!({ "format": "od-site", "version": 1, "files": { "../keep.txt": "sha256:0" } });
    std::fs::write(bench.project().join("site/site.json"), list.to_string()).unwrap();
    bench.good(&["build", "--out", "site"]);
    assert!(bench.project().join("keep.txt").exists());
    bench.write("mine/notes.txt", "x");
    assert_eq!(bench.od(&["build", "--out", "mine"]).status.code(), Some(2));
}

#[test]
fn a_check_that_does_not_hold_ends_with_1_and_the_site_is_there() {
    let bench = Bench::with_project();
    let document = json!({ "dataJson": { "n": 1 },
        "checks": [{ "id": "large", "path": "n", "op": "gt", "value": 5 }] });
    bench.write("artifact.json", &json!({ "title": "N", "document": document }).to_string());
    let run = bench.hold_run();
    let made =
        bench.as_agent(&run, &["tools", "live-artifacts", "create", "--input", "artifact.json"]);
    assert!(made.status.success(), "{made:?}");
    run.end();
    let output = bench.od(&["build", "--out", "site"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("checks do not hold: large"),
        "{output:?}"
    );
    let index = std::fs::read_to_string(bench.project().join("site/index.html")).unwrap();
    assert!(index.contains("<b>1 of 1 checks do not hold: large</b>"));
}

#[test]
fn the_commands_of_the_examples_for_ci_run() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/publish.md");
    let page = std::fs::read_to_string(page).unwrap();
    let bench = Bench::with_project();
    bench.with_artifact();
    let mut ran = 0;
    for line in page.lines().map(str::trim) {
        let line = line.trim_start_matches("- ").trim_start_matches("run: ");
        if !line.starts_with("od ") || line.contains('…') {
            continue;
        }
        let od = format!("'{}' ", env!("CARGO_BIN_EXE_od"));
        let output = bench.shell(&line.replacen("od ", &od, 1)).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
        ran += 1;
    }
    assert_eq!(ran, 6, "the commands of both examples");
    assert!(bench.project().join("site/live.html").exists());
    assert!(bench.project().join("public/index.html").exists());
}
