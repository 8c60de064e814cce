//! The lines that settling leaves for the next list are believed only while they are true.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use od_core::artifact::{HealthState, RefreshStatus};
use od_core::ids::{Digest, ProjectId};
use od_core::refresh::{RecordStatus, RecordStep, RefreshRecord};
use od_fs::{FileArtifactStore, SystemClock};
use od_ports::contract::sample;
use od_ports::store::{ArtifactStore as _, RefreshLog as _, StoreMaintenance as _};

use crate::contract::{place_copies, project};

/// More than a list reads without its lines.
const MANY: u32 = 80;

struct Project {
    home: tempfile::TempDir,
    id: ProjectId,
}

impl Project {
    /// A project whose artifacts are all settled.
    async fn settled() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let (_, id) = project(home.path()).await;
        let project = Self { home, id };
        let store = project.open();
        for number in 1..=MANY {
            let new = sample::new(&project.id, &sample::id(number), &format!("page {number:03}"));
            store.create(new).await.expect("a create works");
        }
        // Places the last copies, and waits for another tick of the clock that stamped them: what is
        // settled within the same one has no line.
        place_copies(&store, &project.id).await;
        let (last, probe) = (project.file(MANY, "provenance.json"), home_file(&project, "probe"));
        while !probe.exists() || changed(&probe) <= changed(&last) {
            fs::write(&probe, b"x").expect("a write");
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

    fn lines(&self) -> PathBuf {
        self.live().join(".lines")
    }

    fn file(&self, number: u32, name: &str) -> PathBuf {
        self.live().join(sample::id(number).as_str()).join(name)
    }

    /// What a store with nothing in memory lists, one text for each artifact.
    async fn cold_list(&self) -> Vec<String> {
        let list = self.open().list(&self.id).await.expect("a list");
        let mut lines: Vec<String> = list
            .iter()
            .map(|line| serde_json::to_string(line.as_ref()).expect("a summary is JSON"))
            .collect();
        lines.sort();
        lines
    }
}

fn home_file(project: &Project, name: &str) -> PathBuf {
    project.home.path().join(name)
}

fn changed(file: &Path) -> (i64, i64) {
    let metadata = fs::metadata(file).expect("a file");
    (metadata.ctime(), metadata.ctime_nsec())
}

#[tokio::test]
async fn a_list_with_lines_says_what_one_without_them_says() {
    let project = Project::settled().await;
    let with = project.cold_list().await;
    assert_eq!(with.len(), MANY as usize);
    let text = fs::read_to_string(project.lines()).expect("settling leaves lines");
    assert_eq!(text.lines().count(), MANY as usize, "one for each artifact");
    fs::remove_file(project.lines()).expect("a removal");
    assert_eq!(with, project.cold_list().await);
    assert!(!project.lines().exists(), "a list writes nothing");
}

#[tokio::test]
async fn a_whole_line_is_believed_while_its_files_look_the_same() {
    let project = Project::settled().await;
    let text = fs::read_to_string(project.lines()).expect("lines");
    let forged: String = text
        .lines()
        .map(|line| {
            let rest = line.split_once(' ').expect("a checksum").1.replace("page ", "fake ");
            format!("{} {rest}\n", &Digest::of_bytes(rest.as_bytes()).hex_digits()[..16])
        })
        .collect();
    fs::write(project.lines(), forged).expect("a write");
    let believed = project.cold_list().await;
    let fakes = believed.iter().filter(|line| line.contains("fake ")).count();
    assert_eq!(fakes, text.lines().count(), "without this, no other test here means anything");
}

#[tokio::test]
async fn damaged_lines_change_no_list() {
    let project = Project::settled().await;
    let (before, whole) = (project.cold_list().await, fs::read(project.lines()).expect("lines"));
    let swapped: Vec<u8> = whole.iter().rev().copied().collect();
    let renamed = String::from_utf8(whole.clone()).expect("text").replace("page 001", "page 999");
    let cut = whole[..whole.len() / 2].to_vec();
    for damaged in [swapped, renamed.into_bytes(), cut, vec![0; 4096], vec![0xff; 4096], Vec::new()]
    {
        fs::write(project.lines(), damaged).expect("a write");
        assert_eq!(before, project.cold_list().await);
    }
    fs::remove_file(project.lines()).expect("a removal");
    fs::create_dir(project.lines()).expect("a directory where the lines should be");
    assert_eq!(before, project.cold_list().await);
}

#[tokio::test]
async fn a_line_is_not_believed_once_a_file_it_was_made_from_has_changed() {
    let project = Project::settled().await;
    let states = |list: &[String], state: HealthState| {
        let state = serde_json::to_string(&state).expect("JSON");
        list.iter().filter(|line| line.contains(&format!("\"state\":{state}"))).count()
    };
    assert_eq!(states(&project.cold_list().await, HealthState::Healthy), MANY as usize);
    for (number, name) in
        [(1, "template.html"), (2, "data.json"), (3, "provenance.json"), (4, "artifact.json")]
    {
        let file = project.file(number, name);
        let length = fs::read(&file).expect("a file").len();
        // In place and of the same length, as some editors write.
        fs::write(&file, vec![0xfe; length]).expect("a write");
        let damaged = states(&project.cold_list().await, HealthState::CorruptHead);
        assert_eq!(damaged, number as usize, "{name} is damaged");
    }
    fs::write(project.file(5, "refreshes.jsonl"), b"{\"not\":\"a record\"}\n{}\n")
        .expect("a write");
    assert_eq!(states(&project.cold_list().await, HealthState::CorruptTail), 1);
}

#[tokio::test]
async fn a_refresh_after_the_line_was_written_is_listed() {
    let project = Project::settled().await;
    let id = sample::id(7);
    let store = project.open();
    let running = store.begin_refresh(&project.id, &id, sample::now()).await.expect("it begins");
    let refresh = running.id.clone();
    let status = RecordStatus::Failed;
    let record = RefreshRecord::new(refresh, RecordStep::last(status), status, sample::now());
    store.append_record(&project.id, &id, record).await.expect("a record");
    drop((running, store));
    let list = project.open().list(&project.id).await.expect("a list");
    let failed = |status| list.iter().filter(|line| line.refresh_status == status).count();
    assert_eq!(failed(RefreshStatus::Failed), 1);
    assert_eq!(failed(RefreshStatus::Idle), MANY as usize - 1);
}

#[tokio::test]
async fn lines_that_no_longer_count_are_left_out_at_the_next_start() {
    let project = Project::settled().await;
    let text = fs::read_to_string(project.lines()).expect("lines");
    let before = project.cold_list().await;
    let often = 2 * 1024 * 1024 / text.len();
    fs::write(project.lines(), text.repeat(often)).expect("a write");
    project.open().recover().await.expect("a start");
    let after = fs::read_to_string(project.lines()).expect("lines");
    assert_eq!(after.len(), text.len());
    // A daemon that runs for long does not wait for its next start.
    fs::write(project.lines(), text.repeat(often)).expect("a write");
    let store = project.open();
    let gate = store.open_gate(&project.id, &sample::id(1)).await.expect("the gate opens");
    let state = gate.stored().state.clone().expect("a state");
    let change = sample::change(&state, "page 001");
    store.commit(&gate.witness(), change).await.expect("a commit works");
    drop((gate, store));
    assert!(fs::read(project.lines()).expect("lines").len() < 2 * text.len());
    assert_eq!(before.len(), project.cold_list().await.len());
}

#[tokio::test]
async fn a_pipe_in_place_of_the_lines_keeps_nobody_waiting() {
    let project = Project::settled().await;
    let before = project.cold_list().await;
    fs::remove_file(project.lines()).expect("a removal");
    let made = std::process::Command::new("mkfifo").arg(project.lines()).status();
    assert!(made.expect("mkfifo starts").success());
    let store = project.open();
    let new = sample::new(&project.id, &sample::id(MANY + 1), "one more");
    store.create(new).await.expect("a create works");
    drop(store);
    assert_eq!(project.cold_list().await.len(), before.len() + 1);
}
