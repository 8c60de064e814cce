//! What loading costs, and that the code is what it says.

use std::process::Command;

use crate::world::{World, target};

#[tokio::test(flavor = "multi_thread")]
async fn everything_comes_in_one_round_trip_below_120_kb() {
    let world = World::start().await;
    let tab = world.console("").await;
    tab.sees("No live artifacts yet").await;
    // Every module was asked for before the first had arrived: none waited for another to name it.
    let waves = tab
        .run(
            "(() => { const all = performance.getEntriesByType('resource').filter((entry) => \
             entry.name.endsWith('.js')); return { count: all.length, \
             parallel: Math.max(...all.map((entry) => entry.startTime)) <= \
             Math.min(...all.map((entry) => entry.responseEnd)) }; })()",
        )
        .await;
    assert_eq!(waves, serde_json::json!({ "count": 31, "parallel": true }));
    let bytes = tab
        .run(
            "performance.getEntries().filter((entry) => entry.decodedBodySize && \
             !entry.name.includes('/api/')).reduce((sum, entry) => sum + entry.decodedBodySize, 0)",
        )
        .await;
    let bytes = bytes.as_u64().unwrap();
    assert!((20_000..120 * 1024).contains(&bytes), "{bytes} bytes");
    world.assert_clean(&tab, &[]);
    world.end().await;
}

/// Where node and npm are present, the console's modules are checked against the generated types.
#[test]
fn the_modules_pass_the_type_check() {
    let Some(tool) = npm_package("typescript@5.9.3", "typescript/bin/tsc") else { return };
    let web = target("../crates/od-daemon/web");
    let checked = Command::new("node").arg(tool).arg("-p").arg(web).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
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
