//! `od demo --once`: three artifacts, refreshed for real, nothing left behind.

use crate::bench::Bench;

#[test]
fn the_demo_makes_no_commit_in_a_repository_of_somebody_else() {
    let bench = Bench::new();
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git")
            .args([
                "-c",
                "user.name=A",
                "-c",
                "user.email=a@example.com",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(arguments)
            .current_dir(bench.project())
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "--message", "mine"]);
    let story = bench.json(&["demo", "--once", "--dir", "."]);
    assert_eq!(story["artifacts"], 2, "the repository is not the demo's to show");
    assert_eq!(git(&["log", "--format=%s"]).trim(), "mine");
}

#[test]
fn the_demo_follows_its_sources_and_leaves_nothing() {
    let bench = Bench::new();
    let story = bench.json(&["demo", "--once"]);
    assert_eq!(story["artifacts"], 3);
    let steps = story["steps"].as_array().unwrap();
    let said = |word: &str| steps.iter().filter(|step| step["step"] == word).count();
    assert_eq!((said("created"), said("refreshed")), (3, 7));
    let last = steps.last().unwrap();
    assert_eq!(last["what"], "nothing changed at the source");
    assert!(!bench.root().join("home").exists(), "the demo wrote into the person's home");
}
