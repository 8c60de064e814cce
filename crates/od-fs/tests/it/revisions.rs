//! The contents of revisions on the disk: how much they take, what damage does to them, what is swept.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use od_core::artifact::ArtifactState;
use od_core::ids::{ArtifactId, ProjectId, Revision};
use od_core::json::BoundedObject;
use od_core::ledger::CommitKind;
use od_core::limits::REVISIONS;
use od_fs::{DataDir, FileArtifactStore, SystemClock};
use od_ports::contract::sample;
use od_ports::store::{ArtifactStore as _, RevisionStore as _, StoreError, StoreMaintenance as _};
use serde_json::{Value, json};

use crate::contract::project;

struct World {
    home: tempfile::TempDir,
    project: ProjectId,
    id: ArtifactId,
}

impl World {
    async fn new() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let (_, project) = project(home.path()).await;
        Self { home, project, id: sample::id(1) }
    }

    fn store(&self) -> FileArtifactStore {
        let data_dir = DataDir::open(self.home.path()).expect("a data directory");
        FileArtifactStore::open_inline(data_dir, Arc::new(SystemClock)).expect("a store")
    }

    fn dir(&self) -> PathBuf {
        let live = Path::new("projects").join(self.project.as_str()).join(".live-artifacts");
        self.home.path().join(live).join(self.id.as_str())
    }

    /// Creates the artifact with this data and commits every other one on top of it; with each tenth
    /// the store is closed, which makes a checkpoint.
    async fn commit_all(&self, data: impl IntoIterator<Item = Value>) -> Vec<Arc<ArtifactState>> {
        let mut committed = Vec::new();
        let mut store = self.store();
        for (number, data) in data.into_iter().enumerate() {
            let data = BoundedObject::check(data).expect("bounded data");
            let stored = if number == 0 {
                let mut new = sample::new(&self.project, &self.id, "kept");
                new.state.data = data;
                let created = store
                    .create(new, sample::note(CommitKind::Create))
                    .await
                    .expect("a create works");
                Arc::clone(created.stored())
            } else {
                let gate = store.open_gate(&self.project, &self.id).await.expect("a gate");
                let state = gate.stored().state.clone().expect("a state");
                let mut change = sample::change(&state, "kept");
                change.state.data = data;
                store.commit(&gate.witness(), change).await.expect("a commit works")
            };
            committed.push(stored.state.clone().expect("a state"));
            if number % 10 == 9 {
                drop(store);
                store = self.store();
            }
        }
        committed
    }
}

/// Data of about 200 KB whose rows are hard to compress, after so many revisions.
fn table(revision: u64) -> Value {
    let rows: Vec<Value> = (0..500).map(|number| row_at(number, revision)).collect();
    json!({ "title": "kept", "rows": rows })
}

/// Returns a row as it is after so many revisions, each of which changed the row of its number.
fn row_at(number: u64, revision: u64) -> Value {
    let seed = if number <= revision && number > 0 { number + 1_000_000 } else { number };
    let cells: Vec<String> = (0..6_u64)
        .map(|cell| {
            let mixed = (seed * 31 + cell).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            format!(
                "{mixed:016x}{:016x}",
                mixed.rotate_left(17).wrapping_mul(0xD6E8_FEB8_6659_FD93)
            )
        })
        .collect();
    json!({ "id": number, "cells": cells, "note": "one of many rows of this table" })
}

/// Returns the bytes that the files below a directory take on the disk.
fn disk_bytes(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry"));
    entries.map(|entry| entry.metadata().expect("a file").blocks() * 512).sum()
}

#[tokio::test]
async fn a_hundred_revisions_that_differ_by_a_row_take_no_more_than_three() {
    let world = World::new().await;
    let committed = world.commit_all((0..100).map(table)).await;
    let one = od_core::json::pretty_bytes(committed[0].data.value()).len() as u64;
    assert!((150_000..260_000).contains(&one), "{one} bytes");
    let taken = disk_bytes(&world.dir().join("objects"));
    let log = fs::metadata(world.dir().join("refreshes.jsonl")).expect("a log").len();
    println!("{taken} bytes of objects and {log} of log for 100 revisions of {one} bytes");
    assert!(taken + log <= 3 * one, "{taken} and {log} bytes for 100 revisions of {one}");
    let store = world.store();
    let mut longest = std::time::Duration::ZERO;
    for state in &committed {
        let revision = state.artifact.revision;
        let before = Instant::now();
        let kept = store.revision(&world.project, &world.id, revision).await.expect("it is kept");
        longest = longest.max(before.elapsed());
        assert_eq!(kept.data, state.data, "revision {revision}");
        assert_eq!(kept.provenance, state.provenance);
    }
    println!("the slowest was read in {longest:?}");
}

/// Returns how many bytes this thread has read from files, and in how many calls.
fn read_so_far() -> (u64, u64) {
    let text = fs::read_to_string("/proc/thread-self/io").expect("the kernel counts");
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|count| count.trim().parse().ok()).expect("a count")
    };
    (field("rchar:"), field("syscr:"))
}

#[tokio::test]
async fn opening_a_revision_reads_the_log_and_its_own_contents_and_no_frame() {
    let world = World::new().await;
    let committed = world.commit_all((0..100).map(table)).await;
    let store = world.store();
    let bytes_of = |name: &str| fs::metadata(world.dir().join(name)).expect("a file").len();
    let data = committed[0].artifact.digests.data.raw.hex_digits();
    let (log, chain) = (bytes_of("refreshes.jsonl"), bytes_of(&format!("objects/{data}")));
    assert!(bytes_of("last-good") > 128 * 1024, "a frame would be noticed");
    for state in committed.iter().take(99).step_by(7) {
        let revision = state.artifact.revision;
        let before = read_so_far();
        store.revision(&world.project, &world.id, revision).await.expect("it is kept");
        let after = read_so_far();
        let (bytes, calls) = (after.0 - before.0, after.1 - before.1);
        // The chain's headers come on top of its contents, and a few small files.
        let most = log + chain + 64 * 1024;
        assert!(bytes <= most, "revision {revision}: {bytes} bytes read, {most} at most");
        // One for each header of each chain and each step to the contents.
        assert!(calls <= 4 * 100 + 100, "revision {revision}: {calls} calls");
    }
}

#[tokio::test]
async fn a_damaged_content_damages_the_revisions_that_name_it_and_no_other() {
    let world = World::new().await;
    let committed = world.commit_all((0..9_u64).map(|n| json!({ "title": "kept", "n": n }))).await;
    let chain = world.dir().join("objects");
    let data = committed[0].artifact.digests.data.raw.hex_digits().to_owned();
    let sound = fs::read(chain.join(&data)).expect("the chain of the data");
    for at in (0..sound.len()).step_by(7) {
        let mut damaged = sound.clone();
        damaged[at] ^= 0x10;
        fs::write(chain.join(&data), damaged).expect("a write");
        let store = world.store();
        let mut faults = Vec::new();
        for state in &committed {
            let revision = state.artifact.revision;
            match store.revision(&world.project, &world.id, revision).await {
                Ok(kept) => assert_eq!(kept.data, state.data, "byte {at}, revision {revision}"),
                Err(StoreError::RevisionDamaged { revision, .. }) => faults.push(revision),
                Err(other) => panic!("byte {at}, revision {revision}: {other}"),
            }
        }
        let inspection = store.inspect(&world.project, &world.id).await.expect("an inspection");
        let found: Vec<Revision> =
            inspection.revision_faults.iter().rev().map(|fault| fault.revision).collect();
        assert_eq!(found, faults, "byte {at}: verify finds the same");
        let current = store.load(&world.project, &world.id).await.expect("it loads");
        assert!(current.health.is_healthy(), "byte {at}: what is served is not touched");
    }
    fs::remove_file(chain.join(&data)).expect("a removal");
    let last = committed.last().expect("a state").artifact.revision;
    let store = world.store();
    let kept = store.revision(&world.project, &world.id, last).await.expect("in the last frame");
    assert_eq!(kept.commit.revision, last);
}

#[tokio::test]
async fn contents_that_no_kept_revision_names_are_swept() {
    let world = World::new().await;
    let excess = 40;
    let count = REVISIONS.max() as u64 + excess;
    // Nothing of one revision helps to make another: each is a chain of its own.
    let noise = |n: u64| {
        let words: Vec<String> = (0..400_u64)
            .map(|i| format!("{:016x}", (n * 1_000 + i).wrapping_mul(0x9E37_79B9_7F4A_7C15)))
            .collect();
        json!({ "title": "kept", "words": words })
    };
    let committed = world.commit_all((0..count).map(noise)).await;
    let chains = world.dir().join("objects");
    let name = |state: &ArtifactState| state.artifact.digests.data.raw.hex_digits().to_owned();
    assert!(!chains.join(name(&committed[0])).exists(), "the first was swept");
    assert!(chains.join(name(&committed[count as usize - 100])).exists(), "the hundredth is kept");
    let store = world.store();
    for (number, state) in committed.iter().enumerate() {
        let found = store.revision(&world.project, &world.id, state.artifact.revision).await;
        assert_eq!(found.is_ok(), number as u64 >= excess, "revision {}", number + 1);
    }
}
