//! `od open`: a browser on a private page, or the address where there is none.

use std::os::unix::fs::PermissionsExt;

use crate::bench::Bench;

#[test]
fn where_no_browser_starts_the_address_is_printed() {
    let bench = Bench::with_project();
    let empty = bench.root().join("empty");
    std::fs::create_dir(&empty).unwrap();
    // One that is there and fails, and no other in PATH.
    let output = bench
        .command(&["open", "--json"])
        .env("BROWSER", "/bin/false")
        .env("PATH", &empty)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["opened"], false);
    assert!(said["url"].as_str().unwrap().contains("code="), "{said}");
    no_page_is_left(&bench);
}

#[test]
fn a_browser_is_given_a_page_of_the_persons_own_and_no_code_in_its_arguments() {
    let bench = Bench::with_project();
    let browser = bench.root().join("browser");
    let script = "#!/bin/sh\ncp \"$1\" \"$HOME/page\"\nstat -c %a \"$1\" > \"$HOME/mode\"\necho \"$@\" > \"$HOME/arguments\"\n";
    std::fs::write(&browser, script).unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = bench.command(&["open"]).env("BROWSER", &browser).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("Opened the console at http://127.0.0.1:"), "{said}");
    assert!(!said.contains("code="), "{said}");
    let seen = |name: &str| std::fs::read_to_string(bench.root().join("user").join(name)).unwrap();
    assert!(seen("page").contains("code="));
    assert_eq!(seen("mode").trim(), "600");
    assert!(!seen("arguments").contains("code="));
    no_page_is_left(&bench);
}

#[track_caller]
fn no_page_is_left(bench: &Bench) {
    let names = std::fs::read_dir(bench.data()).unwrap().map(|entry| entry.unwrap().file_name());
    let pages: Vec<_> = names.filter(|name| name.to_string_lossy().ends_with(".html")).collect();
    assert!(pages.is_empty(), "{pages:?}");
}
