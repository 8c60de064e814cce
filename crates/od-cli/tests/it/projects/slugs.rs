//! Artifacts that a person names, in one project of several: what a slug means depends on the folder.

use std::path::PathBuf;
use std::process::Output;

use crate::bench::{Bench, refusal};

/// A second project of a machine, with nothing in it.
pub(crate) struct Other<'b> {
    bench: &'b Bench,
    folder: PathBuf,
}

impl<'b> Other<'b> {
    pub(crate) fn in_project(bench: &'b Bench) -> Self {
        let folder = bench.root().join("other");
        std::fs::create_dir(&folder).unwrap();
        let other = Self { bench, folder };
        other.good(&["init", "--name", "Other"]);
        other
    }

    pub(crate) fn outside(bench: &'b Bench) -> Self {
        Self { bench, folder: bench.root().join("user") }
    }

    pub(crate) fn od(&self, arguments: &[&str]) -> Output {
        self.bench.command(arguments).current_dir(&self.folder).output().unwrap()
    }

    #[track_caller]
    pub(crate) fn good(&self, arguments: &[&str]) -> String {
        let output = self.od(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let mut arguments = arguments.to_vec();
        arguments.push("--json");
        serde_json::from_str(&self.good(&arguments)).unwrap()
    }

    /// Takes a copy of the first project's artifact in, without any permission.
    pub(crate) fn take_copy(&self) -> String {
        self.bench.good(&["artifacts", "export", "live", "--bundle", "../live.odb"]);
        let imported = self.json(&["artifacts", "import", "../live.odb"]);
        imported["imported"][0]["id"].as_str().unwrap().to_owned()
    }
}

#[test]
fn a_slug_is_of_the_project_that_the_folder_is_in() {
    let bench = Bench::with_project();
    let id = bench.with_artifact();
    let other = Other::in_project(&bench);
    let output = other.od(&["artifacts", "refresh", "live", "--json"]);
    assert_eq!(output.status.code(), Some(5), "it ran another project's artifact: {output:?}");
    let said = refusal(&output);
    assert!(said["error"]["suggestion"].as_str().unwrap().contains(&id), "{said}");
    assert_eq!(other.json(&["artifacts", "show", &id])["artifact"]["id"], id);

    let copy = other.take_copy();
    for wanted in [&id, &copy] {
        let project = bench.json(&["artifacts", "show", wanted])["artifact"]["projectId"].clone();
        let project = project.as_str().unwrap();
        let shown = bench.json(&["artifacts", "show", "live", "--project", project]);
        assert_eq!(shown["artifact"]["id"], **wanted);
    }
    assert_eq!(bench.json(&["artifacts", "show", "live"])["artifact"]["id"], id);
    assert_eq!(other.json(&["artifacts", "show", "live"])["artifact"]["id"], copy);
}

#[test]
fn outside_of_every_project_a_slug_of_two_is_refused_with_both_ids() {
    let bench = Bench::with_project();
    let id = bench.with_artifact();
    let outside = Other::outside(&bench);
    assert_eq!(outside.json(&["artifacts", "show", "live"])["artifact"]["id"], id);
    let copy = Other::in_project(&bench).take_copy();
    let said = refusal(&outside.od(&["artifacts", "show", "live", "--json"]));
    let fix = said["error"]["suggestion"].as_str().unwrap();
    assert!(fix.contains(&id) && fix.contains(&copy), "{said}");
}

#[test]
fn a_list_says_what_is_elsewhere_also_where_there_is_nothing() {
    let bench = Bench::with_project();
    bench.with_artifact();
    let listed = Other::in_project(&bench).good(&["artifacts", "list"]);
    assert!(listed.contains("No live artifacts yet."), "{listed}");
    assert!(listed.contains("1 more in other projects; this directory is in other-"), "{listed}");
    let output = bench.od(&["artifacts", "list", "--data-dir", "/nowhere/at/all"]);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
}

#[test]
fn a_check_that_does_not_hold_is_in_the_state_of_the_list_and_in_doctor() {
    let bench = Bench::with_project();
    let document = serde_json::json!({ "dataJson": { "n": 1 },
        "checks": [{ "id": "large", "path": "n", "op": "gt", "value": 5 }] });
    let input = serde_json::json!({ "title": "N", "document": document });
    bench.write("artifact.json", &input.to_string());
    let run = bench.hold_run();
    let made =
        bench.as_agent(&run, &["tools", "live-artifacts", "create", "--input", "artifact.json"]);
    assert!(made.status.success(), "{made:?}");
    run.end();
    let listed = bench.good(&["artifacts", "list"]);
    assert!(listed.contains("1 check failing, static"), "{listed}");
    let said = bench.json(&["doctor"]);
    let checks = said["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["check"] == "artifacts").unwrap();
    assert_eq!(check["found"], "checks of 1 do not hold", "{check}");
}

#[test]
fn init_of_a_project_that_is_there_says_what_it_changed_and_help_explains_one_code() {
    let bench = Bench::with_project();
    let said = bench.good(&["init", "--allow-schedules"]);
    assert!(said.contains("Agents here are allowed to switch on schedules"), "{said}");
    let said = bench.good(&["init", "--no-schedules"]);
    assert!(said.contains("Agents here are not allowed to switch on schedules"), "{said}");
    let said = bench.good(&["help", "REFRESH_LOCKED"]);
    assert!(said.starts_with("REFRESH_LOCKED\n") && said.contains("HTTP status 409"), "{said}");
}
