//! What loading costs, and that the code is what it says.

use std::process::Command;

use crate::world::{World, target};

/// The bounds on what is loaded: as written, and as it crosses the wire.
const BYTES_MAX: u64 = 400_000;
const SENT_BYTES_MAX: u64 = 130_000;

#[tokio::test(flavor = "multi_thread")]
async fn everything_comes_in_one_round_trip_as_written_and_compressed() {
    let world = World::start().await;
    let tab = world.console("").await;
    tab.sees("Welcome to od").await;
    // The start page names every file, and none was asked for because another had arrived and named it.
    let is_own = |url: &str| [".js", ".css"].iter().any(|end| url.ends_with(end));
    let own: Vec<_> = tab.requests().into_iter().filter(|it| is_own(&it.url)).collect();
    assert!(own.len() > 20, "{own:#?}");
    let late: Vec<_> = own.iter().filter(|request| request.by_script).collect();
    assert!(late.is_empty(), "a second wave: {late:#?}");
    let Loaded { files, bytes, sent } = loaded(&tab).await;
    println!("the console: {files} files, {bytes} bytes, {sent} on the wire");
    assert!((20_000..BYTES_MAX).contains(&bytes), "{bytes} bytes");
    assert!((10_000..SENT_BYTES_MAX.min(bytes)).contains(&sent), "{sent} bytes on the wire");
    world.assert_clean(&tab, &[]);
    world.end().await;
}

/// What a tab has loaded of the console.
struct Loaded {
    files: u64,
    /// The bodies as written.
    bytes: u64,
    /// The bodies as they were sent.
    sent: u64,
}

/// Sums the bodies of everything but the API that was loaded, the start page included.
async fn loaded(tab: &od_e2e::browser::Tab) -> Loaded {
    let found = tab
        .run(
            "(() => { const own = performance.getEntries().filter((entry) => \
             ['navigation', 'resource'].includes(entry.entryType) && \
             !/[/](api|preview)[/]/.test(entry.name)); return { files: own.length, \
             bytes: own.reduce((sum, entry) => sum + entry.decodedBodySize, 0), \
             sent: own.reduce((sum, entry) => sum + entry.encodedBodySize, 0), \
             empty: own.filter((entry) => !entry.decodedBodySize).map((entry) => entry.name) }; })()",
        )
        .await;
    assert_eq!(found["empty"], serde_json::json!([]), "a file without a size is not in the sum");
    let [files, bytes, sent] = ["files", "bytes", "sent"].map(|name| found[name].as_u64().unwrap());
    Loaded { files, bytes, sent }
}

/// Installs a package below the target directory and returns one of its files; `None` without node.
pub(crate) fn npm_package(package: &str, file: &str) -> Option<std::path::PathBuf> {
    let dir = target("npm");
    let found = dir.join("node_modules").join(file);
    if found.exists() {
        return Some(found);
    }
    Command::new("node").arg("--version").output().ok()?;
    std::fs::create_dir_all(&dir).unwrap();
    let installed = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--no-package-lock", "--prefix"])
        .arg(&dir)
        .arg(package)
        .output()
        .ok()?;
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    Some(found)
}
