//! The files that `od artifacts export` writes, and those that it does not.

use std::fs;
use std::os::unix::fs::symlink;

use crate::bench::{Bench, refusal};

#[test]
fn a_target_that_is_no_file_is_refused_and_nothing_is_written() {
    let bench = Bench::with_project();
    bench.with_artifact();
    bench.write("kept.txt", "mine");
    symlink(bench.project().join("kept.txt"), bench.project().join("link.html")).unwrap();
    for (flags, problem) in [
        (&["--html", "link.html"][..], "is a symbolic link"),
        (&["--html", "."], "is a directory"),
        (&["--html", "-"], "`-` is no file"),
        (&["--html", "one.html", "--md", "./one.html"], "two exports go to"),
        (&["--bundle", "link.html"], "is a symbolic link"),
        (&["--csv", "rows="], "`=` needs a file name"),
        (&["--html", "./metrics.json"], "the artifact reads"),
        (&["--bundle", "metrics.json"], "the artifact reads"),
    ] {
        let mut words = vec!["artifacts", "export", "live", "--json"];
        words.extend(flags);
        let output = bench.od(&words);
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {output:?}");
        let said = refusal(&output);
        assert!(said["error"]["message"].as_str().unwrap().contains(problem), "{said}");
    }
    assert_eq!(fs::read_to_string(bench.project().join("kept.txt")).unwrap(), "mine");
    let source = fs::read_to_string(bench.project().join("metrics.json")).unwrap();
    assert_eq!(source, r#"{ "n": 1 }"#, "the source of the artifact is as it was");
    assert!(!bench.project().join("one.html").exists());
    assert!(!bench.project().join("-").exists());
}
