//! No read has an effect.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use od_wire::route::{Access, Method, ROUTES};

use crate::test_daemon::TestDaemon;

/// Every entry below a directory: what it is, its bytes, its mtime and ctime.
type Tree = BTreeMap<PathBuf, (u64, u32, Vec<u8>, (i64, i64), (i64, i64))>;

fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut pending = vec![root.to_owned()];
    while let Some(path) = pending.pop() {
        let meta = fs::symlink_metadata(&path).unwrap();
        let bytes = if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        if meta.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let times = ((meta.mtime(), meta.mtime_nsec()), (meta.ctime(), meta.ctime_nsec()));
        found.insert(path, (meta.ino(), meta.mode(), bytes, times.0, times.1));
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn all_gets_leave_the_data_directory_and_the_home_as_they_were() {
    let daemon = TestDaemon::start().await;
    let (project, run, token) = daemon.run().await;
    let artifact = daemon.create(&token, "Pure").await;
    // A commit rolls its copies forward after the answer; a restart waits for that.
    let dirs = std::sync::Arc::clone(&daemon.dirs);
    daemon.stop().await;
    let daemon = TestDaemon::start_in(dirs).await;
    let before = tree(daemon.dirs.path());
    let mut asked = 0;
    for route in ROUTES.iter().filter(|route| route.method == Method::Get && !route.streams()) {
        let path = route
            .path
            .replace("{project}", &project)
            .replace("{artifact}", &artifact)
            .replace("{run}", &run)
            .replace("{refresh}", "refresh-000001")
            .replace("{revision}", "1")
            .replace("{connector}", "git");
        let bearer = match route.access {
            Access::Open => None,
            Access::Person | Access::Terminal => Some(daemon.person()),
            Access::Tool(_) | Access::AnyTool => Some(token.clone()),
        };
        for method in ["GET", "HEAD"] {
            let answer = daemon.call(bearer.as_deref(), method, &path, None).await;
            assert!(answer.status < 500, "{path}: {answer:?}");
            asked += 1;
        }
        for variant in ["inspect", "template", "rendered-source"] {
            if route.path.ends_with("/preview") {
                let target = format!("{path}?variant={variant}");
                assert_eq!(daemon.call(bearer.as_deref(), "GET", &target, None).await.status, 200);
                asked += 1;
            }
        }
    }
    let after = tree(daemon.dirs.path());
    assert!(asked > 30);
    let changed: Vec<_> = after
        .iter()
        .filter(|(path, state)| before.get(*path) != Some(state))
        .map(|(path, _)| path)
        .chain(before.keys().filter(|path| !after.contains_key(*path)))
        .collect();
    assert!(changed.is_empty(), "after {asked} reads: {changed:?}");
    daemon.stop().await;
}
