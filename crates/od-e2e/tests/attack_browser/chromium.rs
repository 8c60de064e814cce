//! One visit of a page by a real browser, in a profile of its own.

use std::process::Command;

/// Flags under which it neither asks anybody anything nor needs privileges.
const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    // Time inside the page runs ahead as soon as nothing is under way: no waiting, no guessing.
    "--virtual-time-budget=20000",
    "--dump-dom",
];

/// Opens an address, lets the page finish, and returns its document.
///
/// `rules` say which names lead where; no other name leads anywhere, so that not even the browser's own
/// services are asked for anything beyond this machine.
pub(crate) fn visit(url: &str, rules: &[&str]) -> String {
    let profile = tempfile::tempdir().unwrap();
    let program = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    let output = Command::new(program)
        .args(FLAGS)
        .arg(format!(
            "--host-resolver-rules={}",
            rules
                .iter()
                .chain(&["MAP * ~NOTFOUND", "EXCLUDE 127.0.0.1"])
                .copied()
                .collect::<Vec<_>>()
                .join(", ")
        ))
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(url)
        .output()
        .unwrap_or_else(|error| panic!("Chromium does not start: {error}"));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
