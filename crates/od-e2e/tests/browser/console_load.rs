//! What loading costs, and that the code is what it says.

use std::process::Command;

use crate::world::{World, target};

/// What the console may cost to load, uncompressed.
const BYTES_MAX: u64 = 120_000;

#[tokio::test(flavor = "multi_thread")]
async fn everything_comes_in_one_round_trip_below_120_kb() {
    let world = World::start().await;
    let tab = world.console("").await;
    tab.sees("No live artifacts yet").await;
    // The start page names every file: all were asked for before any of them had arrived, and none was
    // asked for because another named it.
    let loaded = tab
        .run(
            "(() => { const all = performance.getEntriesByType('resource').filter((entry) => \
             /[.](js|css)$/.test(entry.name)); const named = [...document.querySelectorAll('link, script')] \
             .map((el) => el.href || el.src); return { \
             modules: all.filter((entry) => entry.name.endsWith('.js')).length, \
             unnamed: all.map((entry) => entry.name).filter((name) => !named.includes(name)), \
             asked: Math.max(...all.map((entry) => entry.fetchStart)), \
             arrived: Math.min(...all.map((entry) => entry.responseEnd)) }; })()",
        )
        .await;
    assert!(loaded["modules"].as_u64().unwrap() > 20, "{loaded}");
    assert_eq!(loaded["unnamed"], serde_json::json!([]), "a module waited for another to name it");
    let moment = |name: &str| loaded[name].as_f64().unwrap();
    assert!(moment("asked") <= moment("arrived"), "a second wave: {loaded}");
    let (files, bytes) = transferred(&tab).await;
    println!("the console: {files} files, {bytes} bytes");
    assert!((20_000..BYTES_MAX).contains(&bytes), "{bytes} bytes");
    world.assert_clean(&tab, &[]);
    world.end().await;
}

/// Sums the bodies of everything but the API that was loaded, the start page included.
async fn transferred(tab: &od_e2e::browser::Tab) -> (u64, u64) {
    let found = tab
        .run(
            "(() => { const own = performance.getEntries().filter((entry) => \
             ['navigation', 'resource'].includes(entry.entryType) && \
             !/[/](api|preview)[/]/.test(entry.name)); return { files: own.length, \
             bytes: own.reduce((sum, entry) => sum + entry.decodedBodySize, 0), \
             empty: own.filter((entry) => !entry.decodedBodySize).map((entry) => entry.name) }; })()",
        )
        .await;
    assert_eq!(found["empty"], serde_json::json!([]), "a file without a size is not in the sum");
    (found["files"].as_u64().unwrap(), found["bytes"].as_u64().unwrap())
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
