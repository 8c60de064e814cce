//! Keys that someone else rotates count from the next request on.

use od_fs::{FileTokenAuthority, SystemEntropy};

use crate::test_daemon::TestDaemon;

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_by_another_process_is_seen_without_a_restart() {
    let daemon = TestDaemon::start().await;
    let (_, _, tool) = daemon.run().await;
    let person = daemon.person();
    let entropy = SystemEntropy::new();
    let keys = FileTokenAuthority::open(&daemon.dirs.path().join("home"), &entropy).unwrap();
    let status = async |bearer: &str, target: &str| {
        daemon.call(Some(bearer), "GET", target, None).await.status
    };
    for (rotations, expected) in [(0, 200), (1, 200), (2, 401)] {
        if rotations > 0 {
            keys.rotate(&entropy).unwrap();
        }
        assert_eq!(status(&person, "/api/projects").await, expected, "after {rotations}");
        let list = "/api/tools/live-artifacts/list";
        assert_eq!(status(&tool, list).await, expected, "after {rotations}");
        assert_eq!(status(&daemon.person(), "/api/projects").await, 200, "new ones are good");
    }
    daemon.stop().await;
}
