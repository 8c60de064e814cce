//! `--png` and `--pdf` of `od artifacts export`, with a stand-in for the browser that keeps what it was
//! asked; a real one draws when somebody runs the command.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Output;

use crate::bench::Bench;

/// Writes what a browser would, and beside the program its arguments and the page it was given.
const BROWSER: &str = r#"#!/bin/sh
here=$(dirname "$0")
for word in "$@"; do
  echo "$word" >> "$here/asked"
  case "$word" in
    --screenshot=*) echo picture > "${word#*=}" ;;
    --print-to-pdf=*) echo printed > "${word#*=}" ;;
    --dump-dom) echo '<html data-height="2345"><head></head></html>' ;;
    *.html) cat "$word" >> "$here/read" ;;
  esac
done
"#;

fn with_browser(script: &str) -> (Bench, String, PathBuf) {
    let bench = Bench::with_project();
    let id = bench.with_artifact();
    let folder = bench.root().join("programs");
    fs::create_dir(&folder).unwrap();
    let program = folder.join("chromium");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (bench, id, folder)
}

fn export(bench: &Bench, id: &str, folder: &std::path::Path, flags: &[&str]) -> Output {
    let mut words = vec!["artifacts", "export", id];
    words.extend(flags);
    let path = format!("{}:/usr/bin:/bin", folder.display());
    bench.command(&words).env("PATH", path).output().unwrap()
}

#[test]
fn a_picture_is_as_high_as_the_page_and_no_host_exists_for_the_browser() {
    let (bench, id, folder) = with_browser(BROWSER);
    let made = export(&bench, &id, &folder, &["--png", "page.png", "--pdf", "page.pdf"]);
    assert!(made.status.success(), "{made:?}");
    assert_eq!(fs::read_to_string(bench.project().join("page.png")).unwrap(), "picture\n");
    assert_eq!(fs::read_to_string(bench.project().join("page.pdf")).unwrap(), "printed\n");
    let asked = fs::read_to_string(folder.join("asked")).unwrap();
    assert!(asked.contains("--window-size=1280,2345\n"), "{asked}");
    assert_eq!(asked.matches("--hide-scrollbars\n").count(), 2, "measured as it is drawn: {asked}");
    let starts = asked.matches("--headless\n").count();
    assert_eq!(starts, 3, "one to measure, one for each drawing: {asked}");
    assert_eq!(asked.matches("--host-resolver-rules=MAP * ~NOTFOUND\n").count(), starts);
    let read = fs::read_to_string(folder.join("read")).unwrap();
    assert!(read.contains("Content-Security-Policy"), "the exported page, with its policy: {read}");
    // A page is never less high than the window that measures it.
    assert!(read.contains("height:1px"), "{read}");
}

#[test]
fn a_browser_that_draws_nothing_leaves_no_file_and_says_what_else_would_do() {
    let (bench, id, folder) = with_browser("#!/bin/sh\nexit 0\n");
    let failed = export(&bench, &id, &folder, &["--html", "page.html", "--pdf", "page.pdf"]);
    assert_eq!(failed.status.code(), Some(9), "{failed:?}");
    let told = String::from_utf8(failed.stderr).unwrap();
    assert!(told.contains("PROGRAM_UNAVAILABLE") && told.contains("--html"), "{told}");
    for file in ["page.html", "page.pdf"] {
        assert!(!bench.project().join(file).exists(), "{file}");
    }
}
