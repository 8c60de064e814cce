//! Ten thousand refresh requests at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use od_app::{Mode, refresh};
use od_core::error::{ErrorCode, Failure, Retry};
use od_core::ids::ArtifactId;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::scripted::wait;
use crate::world::{World, by_person, script_source};

const ARTIFACTS: u32 = 100;
const REQUESTS: usize = 10_000;

#[tokio::test(flavor = "multi_thread")]
async fn of_ten_thousand_requests_one_wins_for_each_artifact() {
    let world = World::new().await;
    let mut artifacts = Vec::new();
    for number in 0..ARTIFACTS {
        artifacts.push(world.create(number, script_source()).await);
    }
    let open_before = open_files();
    for round in 1..=2 {
        let value = json!({ "title": format!("round {round}") });
        stampede(&world, &artifacts, value, round).await;
    }
    // The copies of the last commits are written after their answers: give them their turn.
    let patience = Instant::now() + Duration::from_secs(20);
    let leaked = loop {
        let leaked = open_files().saturating_sub(open_before);
        if leaked <= 8 || Instant::now() > patience {
            break leaked;
        }
        tokio::task::yield_now().await;
    };
    assert!(leaked <= 8, "{leaked} files stayed open");
    for artifact in &artifacts {
        let records = world.records(artifact).await;
        let ids: Vec<u64> = records.iter().rev().map(|record| record.refresh_id.number()).collect();
        assert_eq!(ids, [1, 1, 1, 2, 2, 2]);
        assert_eq!(world.data(artifact).await["title"], "round 2");
    }
}

async fn stampede(world: &World, artifacts: &[ArtifactId], value: serde_json::Value, round: u64) {
    let gate = Arc::new(Semaphore::new(0));
    world.script.set(wait(Arc::clone(&gate), value));
    let refused = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..REQUESTS)
        .map(|number| {
            let request = by_person(&artifacts[number % artifacts.len()]);
            let (app, refused) = (Arc::clone(&world.app), Arc::clone(&refused));
            tokio::spawn(async move {
                let result = refresh::run(&app, request, Mode::Commit).await;
                if result.is_err() {
                    refused.fetch_add(1, Ordering::Relaxed);
                }
                result
            })
        })
        .collect();
    // Nobody may win twice: the sources answer only when everyone else has been turned away.
    while refused.load(Ordering::Relaxed) < REQUESTS - artifacts.len() {
        tokio::task::yield_now().await;
    }
    gate.add_permits(artifacts.len());
    let mut won = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(refreshed) => {
                assert_eq!(refreshed.refresh.number(), round);
                won += 1;
            }
            Err(err) => {
                let failure = Failure::from(err);
                assert_eq!(failure.code, ErrorCode::RefreshLocked, "{failure:?}");
                assert!(matches!(failure.retry, Retry::RetryableAfterMs { .. }));
            }
        }
    }
    assert_eq!(won, artifacts.len());
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
