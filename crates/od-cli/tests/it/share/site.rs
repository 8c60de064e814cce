//! `od build`: the same bytes twice, links that lead somewhere, and what should not be published.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::bench::{Bench, refusal};
use crate::projects::slugs::Other;

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
    let built = bench.od(&["build", "--out", "site"]);
    assert_eq!(built.status.code(), Some(1), "no page is left: {built:?}");
    assert!(!bench.project().join("site/live").exists(), "an empty folder is left");
    let left = files(&bench.project().join("site"));
    let names: Vec<_> = left.keys().map(|name| name.display().to_string()).collect();
    assert_eq!(names, ["CNAME", "changes.html", "feed.xml", "index.html", "site.json"]);
    // A list that somebody changed removes nothing outside of the site.
    bench.write("keep.txt", "x");
    let list = json!({ "format": "od-site", "version": 1, "files": { "../keep.txt": "sha256:0" } });
    std::fs::write(bench.project().join("site/site.json"), list.to_string()).unwrap();
    bench.od(&["build", "--out", "site"]);
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
fn outside_of_a_project_the_site_of_one_or_of_all_is_asked_for() {
    let bench = Bench::with_project();
    bench.with_artifact();
    let outside = Other::outside(&bench);
    let output = outside.od(&["build", "--out", "site", "--json"]);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert!(refusal(&output)["error"]["suggestion"].as_str().unwrap().contains("`--all`"));
    assert_eq!(outside.json(&["build", "--out", "all", "--all"])["pages"], 1);
    let project = bench.json(&["init"])["project"]["id"].clone();
    let project = project.as_str().unwrap();
    assert_eq!(outside.json(&["build", "--out", "web", "--project", project])["pages"], 1);
    let both = outside.od(&["build", "--out", "all", "--all", "--project", project]);
    assert_eq!(both.status.code(), Some(2), "{both:?}");
    bench.good(&["artifacts", "export", "live", "--bundle", "../live.odb"]);
    let import = refusal(&outside.od(&["artifacts", "import", "../live.odb", "--json"]));
    assert!(import["error"]["suggestion"].as_str().unwrap().contains("--project"), "{import}");
}

#[test]
fn a_source_that_nobody_allowed_and_a_site_without_pages_are_problems() {
    let bench = Bench::with_project();
    bench.with_artifact();
    let other = Other::in_project(&bench);
    let output = other.od(&["build", "--out", "site"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("there is no page"), "{output:?}");
    other.take_copy();
    other.good(&["build", "--out", "site"]);
    let output = other.od(&["build", "--out", "site", "--refresh"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("Live: not refreshed: nobody has allowed it"), "{said}");
}

#[test]
fn the_changes_are_those_of_pages_and_data() {
    let bench = Bench::with_project();
    bench.with_artifact();
    let entries = |out: &str| {
        bench.good(&["build", "--out", out]);
        let feed = std::fs::read_to_string(bench.project().join(out).join("feed.xml")).unwrap();
        feed.matches("<entry>").count()
    };
    let before = entries("one");
    bench.good(&["artifacts", "schedule", "live", "--every", "1h"]);
    bench.good(&["artifacts", "schedule", "live", "--off"]);
    assert_eq!(entries("two"), before);
    bench.write("metrics.json", r#"{ "n": 2 }"#);
    bench.good(&["artifacts", "refresh", "live"]);
    assert_eq!(entries("three"), before + 1);
}
