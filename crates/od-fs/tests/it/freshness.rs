//! What another process or a person changes is seen by the next call; damage stays where it is.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use od_core::artifact::{HealthReason, HealthState, RefreshStatus};
use od_core::ids::{ArtifactId, ProjectId};
use od_core::ledger::{CommitKind, RefreshStart};
use od_core::refresh::{RecordStatus, RecordStep, RefreshRecord};
use od_fs::{FileArtifactStore, SystemClock};
use od_ports::contract::sample;
use od_ports::project_registry::ProjectRegistry as _;
use od_ports::store::{
    ArtifactStore, Change, RefreshLog as _, RepairMode, SourceFile, StoreError,
    StoreMaintenance as _,
};

use crate::contract::{place_copies, project};

struct Store {
    home: tempfile::TempDir,
    project: ProjectId,
    store: FileArtifactStore,
}

impl Store {
    async fn with(titles: &[&str]) -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let (data_dir, project) = project(home.path()).await;
        let clock = Arc::new(SystemClock);
        let store = FileArtifactStore::open_inline(data_dir, clock).expect("a store");
        for (number, title) in (1..).zip(titles) {
            let new = sample::new(&project, &sample::id(number), title);
            store.create(new, sample::note(CommitKind::Create)).await.expect("a create works");
        }
        Self { home, project, store }
    }

    fn file(&self, number: u32, name: &str) -> PathBuf {
        let live = Path::new("projects").join(self.project.as_str()).join(".live-artifacts");
        self.home.path().join(live).join(sample::id(number).as_str()).join(name)
    }

    /// Opens the same directory as another process would.
    fn another(&self) -> FileArtifactStore {
        another(self.home.path())
    }

    async fn title(&self, number: u32) -> String {
        let stored = self.store.load(&self.project, &sample::id(number)).await.expect("it loads");
        let state = stored.state.as_ref().expect("a state");
        state.data.value()["title"].as_str().expect("a title").to_owned()
    }
}

fn another(home: &Path) -> FileArtifactStore {
    let data_dir = od_fs::DataDir::open(home).expect("a data directory");
    FileArtifactStore::open_inline(data_dir, Arc::new(SystemClock)).expect("a store")
}

async fn rename(store: &dyn ArtifactStore, project: &ProjectId, id: &ArtifactId, title: &str) {
    let gate = store.open_gate(project, id).await.expect("the gate opens");
    let state = gate.stored().state.clone().expect("a state");
    let change = sample::change(&state, title);
    store.commit(&gate.witness(), change).await.expect("a commit works");
}

#[tokio::test]
async fn a_commit_of_another_process_is_seen_by_the_next_call() {
    let one = Store::with(&["first", "second"]).await;
    // Places what was committed, so that the lock is free.
    assert_eq!(one.store.list(&one.project).await.expect("a list").len(), 2);
    place_copies(&one.store, &one.project).await;
    assert_eq!(one.title(1).await, "first");
    let two = one.another();
    rename(&two, &one.project, &sample::id(1), "changed elsewhere").await;
    assert_eq!(one.title(1).await, "changed elsewhere");
    place_copies(&two, &one.project).await;
    two.create(
        sample::new(&one.project, &sample::id(3), "third"),
        sample::note(CommitKind::Create),
    )
    .await
    .expect("a create works");
    let list = one.store.list(&one.project).await.expect("a list");
    assert_eq!(list.len(), 3, "a new artifact is listed");
    assert_eq!(list.iter().filter(|line| line.heading.title == "changed elsewhere").count(), 1);
    drop(two);
    od_ports::Trash::delete(&one.another(), &one.project, &sample::id(3), None)
        .await
        .expect("a delete works");
    assert_eq!(one.store.list(&one.project).await.expect("a list").len(), 2);
    assert_eq!(one.store.locate(&sample::id(3)).await.expect("a search"), None);
}

#[tokio::test]
async fn an_edit_by_hand_is_served_as_drift_and_adopted_by_the_next_commit() {
    let one = Store::with(&["first"]).await;
    let id = sample::id(1);
    place_copies(&one.store, &one.project).await;
    assert_eq!(one.title(1).await, "first");
    fs::write(one.file(1, "data.json"), br#"{"title":"by hand"}"#).expect("a write");
    let stored = one.store.load(&one.project, &id).await.expect("it loads");
    assert_eq!(one.title(1).await, "by hand");
    assert!(stored.health.is_healthy());
    let files: Vec<SourceFile> = stored.drift.iter().map(|drift| drift.file).collect();
    assert_eq!(files, [SourceFile::Data]);
    // Another layout of the same JSON is no drift once it is adopted.
    let gate = one.store.open_gate(&one.project, &id).await.expect("the gate opens");
    let state = gate.stored().state.clone().expect("a state");
    let change = Change {
        expected: state.artifact.revision,
        state: state.as_ref().clone(),
        page: sample::page("by hand"),
        refresh: None,
        note: sample::note(CommitKind::Update),
    };
    one.store.commit(&gate.witness(), change).await.expect("a commit works");
    drop(gate);
    let adopted = one.store.load(&one.project, &id).await.expect("it loads");
    place_copies(&one.store, &one.project).await;
    let placed = one.store.load(&one.project, &id).await.expect("it loads");
    assert!(adopted.drift.is_empty() && placed.drift.is_empty());
    assert!(placed.kept_aside.is_empty(), "nothing was in the way: {:?}", placed.kept_aside);
    assert_eq!(one.title(1).await, "by hand");
}

#[tokio::test]
async fn an_edit_by_hand_that_create_would_refuse_makes_the_artifact_unsound() {
    let key = ["gh", "p_abcdefghij0123456789klmnopqrst"].concat();
    let data = format!(r#"{{"title":"{key}"}}"#);
    let provenance = format!(
        r#"{{"generatedAt":"2026-04-30T00:00:00.000Z","generatedBy":"agent","notes":"{key}","sources":[]}}"#
    );
    for (name, content, reason) in [
        ("data.json", data, HealthReason::DataInvalid),
        ("provenance.json", provenance, HealthReason::ProvenanceInvalid),
    ] {
        let one = Store::with(&["first"]).await;
        place_copies(&one.store, &one.project).await;
        fs::write(one.file(1, name), content).expect("a write");
        let stored = one.store.load(&one.project, &sample::id(1)).await.expect("it loads");
        assert_eq!(stored.health.reason, Some(reason), "{name}");
        assert_eq!(one.title(1).await, "first", "the last good state is served");
        let list = one.store.list(&one.project).await.expect("a list");
        assert_eq!(list[0].health.state, HealthState::CorruptHead, "and listed so");
    }
}

#[tokio::test]
async fn a_damaged_artifact_is_shown_served_and_repaired_and_hides_no_other() {
    let one = Store::with(&["first", "second"]).await;
    let id = sample::id(1);
    place_copies(&one.store, &one.project).await;
    assert_eq!(one.store.list(&one.project).await.expect("a list").len(), 2);
    fs::write(one.file(1, "data.json"), b"{ not json").expect("a write");
    let list = one.store.list(&one.project).await.expect("a list");
    let states: Vec<HealthState> = list.iter().map(|line| line.health.state).collect();
    assert_eq!(list.len(), 2);
    assert!(states.contains(&HealthState::CorruptHead) && states.contains(&HealthState::Healthy));
    let damaged = one.store.load(&one.project, &id).await.expect("it loads");
    assert_eq!(damaged.health.reason, Some(HealthReason::DataInvalid));
    assert_eq!(one.title(1).await, "first", "the last good state is served");
    assert_eq!(one.title(2).await, "second");
    let refused = one.store.open_gate(&one.project, &id).await;
    assert!(matches!(refused, Err(StoreError::NotHealthy { .. })));
    let plan = one.store.repair(&one.project, &id, RepairMode::Plan).await.expect("a plan");
    assert!(!plan.applied && !plan.drops.is_empty());
    let report = one.store.repair(&one.project, &id, RepairMode::Apply).await.expect("a repair");
    assert!(report.applied);
    assert_eq!((plan.keeps, plan.drops), (report.keeps, report.drops), "as it was said");
    let repaired = one.store.load(&one.project, &id).await.expect("it loads");
    assert!(repaired.health.is_healthy());
    assert_eq!(one.title(1).await, "first");
    let kept = repaired.kept_aside.iter().map(|kept| fs::read(one.file(1, &kept.path)));
    assert!(kept.flatten().any(|bytes| bytes == b"{ not json"), "nothing is thrown away");
    rename(&one.store, &one.project, &id, "writable").await;
    assert_eq!(one.title(1).await, "writable");
}

/// When a file changed; a missing one never did.
fn changed(file: &Path) -> (i64, i64) {
    fs::metadata(file).map_or((0, 0), |metadata| (metadata.ctime(), metadata.ctime_nsec()))
}

#[tokio::test]
async fn a_cold_list_sees_an_edit_of_the_same_length() {
    let one = Store::with(&["first"]).await;
    let (file, last) = (one.file(1, "data.json"), one.file(1, "last-good"));
    drop(one.store);
    let good = fs::read_to_string(&file).expect("the data");
    let edited = good.replace("first", "fi\\xt");
    assert_eq!(edited.len(), good.len());
    fs::write(&file, edited).expect("a write");
    // What a `chmod -R` comes to last, a tick of the clock later.
    while changed(&last) <= changed(&file) {
        fs::set_permissions(&last, fs::Permissions::from_mode(0o600)).expect("a change of mode");
    }
    let data_dir = od_fs::DataDir::open(one.home.path()).expect("a data directory");
    let cold = FileArtifactStore::open_inline(data_dir, Arc::new(SystemClock)).expect("a store");
    let list = cold.list(&one.project).await.expect("a list");
    assert_eq!(list[0].health.state, HealthState::CorruptHead);
}

#[tokio::test]
async fn a_project_renamed_by_hand_has_its_new_name_at_once() {
    let home = tempfile::tempdir().expect("a directory");
    let (data_dir, id) = project(home.path()).await;
    let registry = od_fs::FileProjectRegistry::new(data_dir);
    let file = home.path().join("projects").join(id.as_str()).join("project.json");
    for name in ["one", "two", "ten"] {
        let text = fs::read_to_string(&file).expect("a project's file");
        let mut json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        json["name"] = name.into();
        fs::write(&file, json.to_string()).expect("a write");
        for _ in 0..3 {
            let found = registry.get(&id).await.expect("it can be read").expect("a project");
            assert_eq!(found.name, name);
        }
    }
    fs::remove_file(&file).expect("a removal");
    assert_eq!(registry.get(&id).await.expect("a look"), None);
}

#[tokio::test]
async fn an_edit_of_the_same_length_before_an_artifact_is_settled_is_listed() {
    let one = Store::with(&["first"]).await;
    place_copies(&one.store, &one.project).await;
    let file = one.file(1, "data.json");
    let edited = fs::read_to_string(&file).expect("the data").replace("first", "fi\\xt");
    fs::write(&file, edited).expect("a write");
    while changed(&one.home.path().join("probe")) <= changed(&file) {
        fs::write(one.home.path().join("probe"), b"x").expect("a write");
    }
    let cold = one.another();
    drop(one.store);
    for store in [&cold, &another(one.home.path())] {
        let list = store.list(&one.project).await.expect("a list");
        assert_eq!(list[0].health.state, HealthState::CorruptHead);
    }
}

#[tokio::test]
async fn a_refresh_is_listed_as_succeeded_from_the_moment_it_is_acknowledged() {
    let one = Store::with(&["first"]).await;
    let id = sample::id(1);
    drop(one.store);
    let store = another(one.home.path());
    let running = store
        .begin_refresh(&one.project, &id, RefreshStart::manual(sample::now()))
        .await
        .expect("it begins");
    let gate = store.open_gate(&one.project, &id).await.expect("the gate opens");
    let state = gate.stored().state.clone().expect("a state");
    let status = RecordStatus::Succeeded;
    let record =
        RefreshRecord::new(running.id.clone(), RecordStep::last(status), status, sample::now());
    // Another title of the same length: nothing but the log tells that there was a refresh.
    let change = Change { refresh: Some(record), ..sample::change(&state, "again") };
    store.commit(&gate.witness(), change).await.expect("a commit works");
    drop((running, gate));
    let list = another(one.home.path()).list(&one.project).await.expect("a list");
    assert_eq!(list[0].refresh_status, RefreshStatus::Succeeded, "before its record is in the log");
}

/// Puts an edited copy where a directory was and keeps that, as someone who restores a backup does.
fn replace(dir: &Path, keep: &Path, edit: impl FnOnce(&Path)) {
    let copy = keep.with_extension("copy");
    let copied = std::process::Command::new("cp").arg("-a").arg(dir).arg(&copy).status();
    assert!(copied.expect("cp starts").success());
    edit(&copy);
    fs::rename(dir, keep).expect("a rename");
    fs::rename(&copy, dir).expect("a rename");
}

#[tokio::test]
async fn a_directory_that_another_took_the_place_of_is_read_anew_and_watched() {
    let one = Store::with(&["first", "second", "third"]).await;
    place_copies(&one.store, &one.project).await;
    let artifact = one.file(1, "");
    let live = artifact.parent().expect("a parent").to_owned();
    let project = live.parent().expect("a parent").to_owned();
    let projects = project.parent().expect("a parent").to_owned();
    let data = |dir: &Path, number: u32| {
        let end = format!("{}/data.json", sample::id(number));
        walk(dir).into_iter().find(|path| path.ends_with(&end)).expect("the data of an artifact")
    };
    for (step, dir) in [artifact, live, project, projects].iter().enumerate() {
        assert_eq!(one.store.list(&one.project).await.expect("a list").len(), 3);
        one.title(1).await;
        let title = format!("restored {step}");
        let text = format!("{{\"title\":\"{title}\"}}");
        let kept = one.home.path().join(format!("kept-{step}"));
        replace(dir, &kept, |copy| {
            let file = if step == 0 { copy.join("data.json") } else { data(copy, 1) };
            fs::write(file, &text).expect("a write");
        });
        assert_eq!(one.title(1).await, title, "{}", dir.display());
        let list = one.store.list(&one.project).await.expect("a list");
        assert_eq!(list.iter().filter(|line| line.edited.is_some()).count(), 1);
        let again = text.replace("restored", "repeated");
        fs::write(one.file(1, "data.json"), again).expect("a write");
        assert_eq!(one.title(1).await, format!("repeated {step}"), "the new one is watched");
    }
}

fn walk(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry"));
    entries
        .flat_map(|entry| {
            let path = entry.path();
            if path.is_dir() { walk(&path) } else { vec![path] }
        })
        .collect()
}

#[tokio::test]
async fn after_more_changes_than_the_kernel_keeps_everything_is_watched_anew() {
    let one = Store::with(&["first"]).await;
    assert_eq!(one.store.list(&one.project).await.expect("a list").len(), 1);
    assert_eq!(one.title(1).await, "first");
    let queued = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").expect("a limit");
    let queued: usize = queued.trim().parse().expect("a number");
    // Names change, so that the kernel cannot take two events for one.
    let (probe, other) = (one.file(1, "probe"), one.file(1, "other"));
    fs::write(&probe, b"x").expect("a write");
    for _ in 0..queued {
        fs::rename(&probe, &other).expect("a rename");
        fs::rename(&other, &probe).expect("a rename");
    }
    fs::remove_file(&probe).expect("a removal");
    // What was lost: another directory took the place of the artifact's.
    let dir = one.file(1, "artifact.json").parent().expect("a directory").to_owned();
    let copy = one.home.path().join("copy");
    fs::create_dir(&copy).expect("a directory");
    for file in walk(&dir) {
        let to = copy.join(file.strip_prefix(&dir).expect("below it"));
        fs::create_dir_all(to.parent().expect("a directory")).expect("a directory");
        fs::copy(&file, &to).expect("a copy");
    }
    fs::rename(&dir, one.home.path().join("old")).expect("a rename");
    fs::rename(&copy, &dir).expect("a rename");
    assert_eq!(one.title(1).await, "first");
    fs::write(one.file(1, "data.json"), "{\n  \"title\": \"edited\"\n}\n").expect("a write");
    assert_eq!(one.title(1).await, "edited");
}
