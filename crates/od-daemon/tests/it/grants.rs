//! Grants hold where they were given: a data directory that came from elsewhere runs nothing by itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use od_app::artifacts::{self, Address, CreateArtifact, Reading, UpdateArtifact};
use od_app::projects::{CreateProject, allow_schedules, create};
use od_app::refresh::run::{Cause, RunRefresh};
use od_app::schedule::{self, ChangeSchedule};
use od_app::{App, Caller, Mode, refresh};
use od_core::artifact::ArtifactSummary;
use od_core::decide::ScheduleChange;
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, ProjectId, RunId};
use od_core::ledger::Door;
use od_core::schedule::ScheduleState;
use od_daemon::{ComposeOptions, compose};
use od_ports::system::Clock;
use serde_json::json;
use tempfile::TempDir;

use crate::schedule::SetClock;

/// A machine: a home, and a clock that its test moves.
struct Machine {
    home: PathBuf,
    clock: Arc<SetClock>,
}

impl Machine {
    fn new(place: &Path, name: &str) -> Self {
        Self { home: place.join(name), clock: SetClock::new() }
    }

    fn open(&self, data_dir: &Path) -> App {
        let clock = Some(self.clock.clone() as Arc<dyn Clock>);
        let options = ComposeOptions { clock, ..ComposeOptions::default() };
        compose(&self.home, data_dir, options).unwrap()
    }
}

fn web() -> ProjectId {
    "web".parse().unwrap()
}

fn agent() -> Caller {
    let run: RunId = "run-1".parse().unwrap();
    Caller::Agent { run, project: web(), door: Door::Mcp }
}

/// Makes a project over its own directory, with an artifact that may be refreshed and runs every hour.
async fn make(app: &App, root: &Path) -> ArtifactId {
    fs::create_dir_all(root).unwrap();
    fs::write(root.join("n.json"), r#"{"n":1}"#).unwrap();
    let request =
        CreateProject { id: Some(web()), name: "Web".to_owned(), root: Some(root.to_owned()) };
    create(app, &Caller::Person, request).await.unwrap();
    let body = json!({ "input": { "title": "N", "document": { "dataJson": { "n": 0 },
        "sourceJson": { "type": "local_file", "input": { "path": "n.json" },
            "refreshPermission": "manual_refresh_granted_for_read_only" },
        "refresh": { "every": "1h" } } } });
    let request = CreateArtifact { project: web(), body: body.into(), reading: Reading::Now };
    let made = artifacts::create(app, &agent(), request, Mode::Commit).await.unwrap();
    let artifact = made.stored.id.clone();
    let request =
        ChangeSchedule { address: at(&artifact), change: ScheduleChange::On, if_revision: None };
    schedule::change(app, &Caller::Person, request, Mode::Commit).await.unwrap();
    artifact
}

fn at(artifact: &ArtifactId) -> Address {
    Address { project: Some(web()), artifact: artifact.clone() }
}

async fn summary(app: &App, artifact: &ArtifactId) -> ArtifactSummary {
    let list = app.ports.artifacts.list(&web()).await.unwrap();
    let listed = list.iter().find(|line| line.id == *artifact).unwrap();
    let loaded = app.ports.artifacts.load(&web(), artifact).await.unwrap();
    assert_eq!(**listed, *loaded.summary, "a list says what the artifact says");
    (**listed).clone()
}

fn state(line: &ArtifactSummary) -> ScheduleState {
    line.schedule.as_ref().unwrap().state
}

async fn due(machine: &Machine, app: &App) -> usize {
    machine.clock.advance_minutes(3 * 60);
    schedule::agenda(app, None).await.unwrap().due.len()
}

async fn refresh_by_hand(app: &App, artifact: &ArtifactId) -> Result<(), Failure> {
    let request = RunRefresh {
        caller: Caller::Person,
        project: web(),
        artifact: artifact.clone(),
        accept_drift: false,
        cause: Cause::Asked,
    };
    refresh::run(app, request, Mode::Commit).await.map(|_| ()).map_err(Failure::from)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

/// Takes the seals out of the files of a data directory, as a version before them left it.
fn unseal(dir: &Path) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            unseal(&path);
        } else if path.file_name().is_some_and(|name| name == "artifact.json") {
            let mut value: serde_json::Value =
                serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            assert!(value["store"].as_object_mut().unwrap().remove("grants").is_some());
            value.as_object_mut().unwrap().remove("checksum");
            let mut bytes = od_core::json::pretty_bytes(&value);
            bytes.truncate(bytes.len() - 3);
            let checksum = od_core::ids::Digest::of_bytes(&bytes);
            bytes.extend(format!(",\n  \"checksum\": \"{checksum}\"\n}}\n").into_bytes());
            fs::write(&path, bytes).unwrap();
        }
    }
}

#[tokio::test]
async fn a_copied_data_directory_runs_nothing_by_itself() {
    let place = TempDir::new().unwrap();
    let (here, there) = (Machine::new(place.path(), "here"), Machine::new(place.path(), "there"));
    let root = place.path().join("work");
    let app = here.open(&root.join(".od"));
    let artifact = make(&app, &root).await;
    assert_eq!(state(&summary(&app, &artifact).await), ScheduleState::Active);
    assert_eq!(due(&here, &app).await, 1, "it runs where it was switched on");
    refresh_by_hand(&app, &artifact).await.unwrap();
    drop(app);
    let again = here.open(&root.join(".od"));
    assert_eq!(state(&summary(&again, &artifact).await), ScheduleState::Active, "after a restart");
    drop(again);
    let clone = place.path().join("clone");
    copy(&root, &clone);
    // Another machine, and another place on the same one.
    for machine in [&there, &here] {
        let app = machine.open(&clone.join(".od"));
        let line = summary(&app, &artifact).await;
        assert!(line.granted_elsewhere && !line.refreshable, "{line:?}");
        assert_eq!(state(&line), ScheduleState::Elsewhere);
        assert_eq!(due(machine, &app).await, 0);
        let refused = refresh_by_hand(&app, &artifact).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::LiveArtifactRefreshUnavailable);
        assert!(refused.suggestion.contains("od trust"), "{refused:?}");
    }
}

#[tokio::test]
async fn one_word_of_a_person_allows_a_copy_here_and_an_agent_has_none() {
    let place = TempDir::new().unwrap();
    let (here, there) = (Machine::new(place.path(), "here"), Machine::new(place.path(), "there"));
    let root = place.path().join("work");
    let app = here.open(&root.join(".od"));
    let artifact = make(&app, &root).await;
    drop(app);
    let clone = place.path().join("clone");
    copy(&root, &clone);
    let app = there.open(&clone.join(".od"));
    let refused = artifacts::trust(&app, &agent(), &at(&artifact), Mode::Commit).await;
    assert!(refused.is_err());
    let body = json!({ "input": { "document": { "sourceJson": {
        "refreshPermission": "manual_refresh_granted_for_read_only" } } } });
    let request =
        UpdateArtifact { target: at(&artifact).into(), body: body.into(), reading: Reading::Now };
    let given = artifacts::update(&app, &agent(), request, Mode::Commit).await;
    assert!(given.is_err(), "an agent gives back nothing that came with a copy");
    artifacts::trust(&app, &Caller::Person, &at(&artifact), Mode::DryRun).await.unwrap();
    assert!(summary(&app, &artifact).await.granted_elsewhere, "a dry run allows nothing");
    artifacts::trust(&app, &Caller::Person, &at(&artifact), Mode::Commit).await.unwrap();
    let line = summary(&app, &artifact).await;
    assert!(line.refreshable && !line.granted_elsewhere);
    assert_eq!(state(&line), ScheduleState::Active);
    drop(app);
    let app = there.open(&clone.join(".od"));
    assert_eq!(
        state(&summary(&app, &artifact).await),
        ScheduleState::Active,
        "and after a restart"
    );
    assert_eq!(due(&there, &app).await, 1);
}

#[tokio::test]
async fn what_a_pull_puts_into_a_directory_of_this_machine_is_not_believed() {
    let place = TempDir::new().unwrap();
    let here = Machine::new(place.path(), "here");
    let theirs = Machine::new(place.path(), "theirs");
    let root = place.path().join("work");
    drop(here.open(&root.join(".od")));
    let other = place.path().join("other");
    let app = theirs.open(&other.join(".od"));
    let artifact = make(&app, &other).await;
    drop(app);
    copy(&other.join(".od/projects"), &root.join(".od/projects"));
    let app = here.open(&root.join(".od"));
    let line = summary(&app, &artifact).await;
    assert!(line.granted_elsewhere && !line.refreshable);
    assert_eq!(due(&here, &app).await, 0);
}

#[tokio::test]
async fn what_an_earlier_version_allowed_holds_in_the_home_and_nowhere_else() {
    let place = TempDir::new().unwrap();
    let here = Machine::new(place.path(), "here");
    for (data_dir, holds) in
        [(here.home.join("data"), true), (place.path().join("work/.od"), false)]
    {
        let app = here.open(&data_dir);
        let root = data_dir.parent().unwrap().join("files");
        let artifact = make(&app, &root).await;
        drop(app);
        unseal(&data_dir.join("projects"));
        let app = here.open(&data_dir);
        let line = summary(&app, &artifact).await;
        assert_eq!(line.refreshable, holds, "{}", data_dir.display());
        assert_eq!(state(&line) == ScheduleState::Active, holds);
        assert_eq!(line.granted_elsewhere, !holds);
    }
}

#[tokio::test]
async fn a_clone_does_not_let_its_agents_switch_schedules_on() {
    let place = TempDir::new().unwrap();
    let (here, there) = (Machine::new(place.path(), "here"), Machine::new(place.path(), "there"));
    let root = place.path().join("work");
    let app = here.open(&root.join(".od"));
    make(&app, &root).await;
    allow_schedules(&app, &Caller::Person, &web(), true).await.unwrap();
    drop(app);
    let clone = place.path().join("clone");
    copy(&root, &clone);
    let allowed = |app: App| async move {
        let listed = app.ports.projects.list().await.unwrap()[0].allow_schedules;
        let got = app.ports.projects.get(&web()).await.unwrap().unwrap().allow_schedules;
        assert_eq!(listed, got);
        got
    };
    assert!(allowed(here.open(&root.join(".od"))).await);
    assert!(!allowed(there.open(&clone.join(".od"))).await);
    assert!(!allowed(here.open(&clone.join(".od"))).await);
}
