//! A list with nothing in memory says of each artifact what loading it says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use od_core::artifact::{HealthState, RefreshStatus};
use od_core::ids::ProjectId;
use od_core::ledger::{CommitKind, RefreshStart};
use od_core::refresh::{RecordStatus, RecordStep, RefreshRecord};
use od_fs::{FileArtifactStore, SystemClock};
use od_ports::contract::sample;
use od_ports::store::{ArtifactStore as _, RefreshLog as _};

use crate::contract::project;

/// More artifacts than one thread reads alone.
const MANY: u32 = 80;

struct Project {
    home: tempfile::TempDir,
    id: ProjectId,
}

impl Project {
    /// A project of many artifacts, all rolled forward.
    async fn filled() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let (_, id) = project(home.path()).await;
        let project = Self { home, id };
        let store = project.open();
        for number in 1..=MANY {
            let new = sample::new(&project.id, &sample::id(number), &format!("page {number:03}"));
            store.create(new, sample::note(CommitKind::Create)).await.expect("a create works");
        }
        drop(store);
        project
    }

    fn open(&self) -> FileArtifactStore {
        let data_dir = od_fs::DataDir::open(self.home.path()).expect("a data directory");
        FileArtifactStore::open_inline(data_dir, Arc::new(SystemClock)).expect("a store")
    }

    fn live(&self) -> PathBuf {
        let live = Path::new("projects").join(self.id.as_str()).join(".live-artifacts");
        self.home.path().join(live)
    }

    fn file(&self, number: u32, name: &str) -> PathBuf {
        self.live().join(sample::id(number).as_str()).join(name)
    }

    /// Returns how many artifacts a store with nothing in memory lists in a state of health, after a
    /// comparison of every line with what a load says.
    async fn listed(&self, state: HealthState) -> usize {
        let list = self.open().list(&self.id).await.expect("a list");
        assert_eq!(list.len(), MANY as usize);
        let store = self.open();
        for line in list.iter() {
            let loaded = store.load(&self.id, &line.id).await.expect("it loads");
            assert_eq!(*line, loaded.summary, "{}", line.id);
        }
        list.iter().filter(|line| line.health.state == state).count()
    }
}

/// Every file below a directory, with its bytes and when it last changed.
fn bytes_below(dir: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).expect("a directory") {
        let entry = entry.expect("an entry");
        let metadata = entry.metadata().expect("metadata");
        let modified = metadata.modified().expect("a time");
        if metadata.is_dir() {
            found.extend(bytes_below(&entry.path()));
            found.insert(entry.path(), (Vec::new(), modified));
        } else {
            found.insert(entry.path(), (fs::read(entry.path()).expect("a file"), modified));
        }
    }
    found
}

#[tokio::test]
async fn a_cold_list_says_what_loading_says_and_writes_nothing() {
    let project = Project::filled().await;
    let before = bytes_below(&project.live());
    assert_eq!(project.listed(HealthState::Healthy).await, MANY as usize);
    assert_eq!(before, bytes_below(&project.live()));
}

#[tokio::test]
async fn a_cold_list_sees_edits_and_damage_of_every_file() {
    let project = Project::filled().await;
    fs::write(project.file(10, "data.json"), br#"{"title":"by hand"}"#).expect("a write");
    let list = project.open().list(&project.id).await.expect("a list");
    assert_eq!(list.iter().filter(|line| line.edited.is_some()).count(), 1, "an edit shows");
    assert_eq!(project.listed(HealthState::Healthy).await, MANY as usize);
    for (number, name) in
        [(1, "template.html"), (2, "data.json"), (3, "provenance.json"), (4, "artifact.json")]
    {
        let file = project.file(number, name);
        let length = fs::read(&file).expect("a file").len();
        // In place and of the same length, as some editors write.
        fs::write(&file, vec![0xfe; length]).expect("a write");
        let damaged = project.listed(HealthState::CorruptHead).await;
        assert_eq!(damaged, number as usize, "{name} is damaged");
    }
    fs::write(project.file(5, "refreshes.jsonl"), b"{\"not\":\"a record\"}\n{}\n")
        .expect("a write");
    assert_eq!(project.listed(HealthState::CorruptTail).await, 1);
}

#[tokio::test]
async fn a_cold_list_says_how_the_last_refresh_of_each_artifact_ended() {
    let project = Project::filled().await;
    let store = project.open();
    for (number, status) in
        [(6, RecordStatus::Cancelled), (7, RecordStatus::Failed), (8, RecordStatus::Abandoned)]
    {
        let id = sample::id(number);
        let begun = store
            .begin_refresh(&project.id, &id, RefreshStart::manual(sample::now()))
            .await
            .expect("it begins");
        let last = RecordStep::last(status);
        let record = RefreshRecord::new(begun.id.clone(), last, status, sample::now());
        store.append_record(&project.id, &id, record).await.expect("a record");
    }
    let id = sample::id(9);
    let running = store
        .begin_refresh(&project.id, &id, RefreshStart::manual(sample::now()))
        .await
        .expect("it begins");
    assert_eq!(project.listed(HealthState::Healthy).await, MANY as usize);
    let list = project.open().list(&project.id).await.expect("a list");
    let count = |status| list.iter().filter(|line| line.refresh_status == status).count();
    assert_eq!(count(RefreshStatus::Failed), 2);
    assert_eq!(count(RefreshStatus::Running), 1);
    assert_eq!(count(RefreshStatus::Idle), MANY as usize - 3, "a cancelled one leaves it idle");
    drop(running);
}
