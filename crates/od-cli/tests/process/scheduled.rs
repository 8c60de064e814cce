//! Scheduled runs of real processes: killed at every step, stopped over slots, and many at once.
//!
//! Schedules are switched on in the past, by the use cases over a clock that is behind: what is due is
//! worked out from records alone, so the processes find it due as if they had been away since.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use od_app::artifacts::{self, Address, CreateArtifact, Reading};
use od_app::schedule::{self, ChangeSchedule, SlotOutcome};
use od_app::{App, Caller, Mode};
use od_core::decide::ScheduleChange;
use od_core::ids::{ArtifactId, Timestamp};
use od_core::refresh::{RecordStatus, RecordStep, RefreshRecord};
use od_core::schedule::Trigger;
use od_daemon::{ComposeOptions, compose};
use od_fs::SystemClock;
use od_ports::system::Clock;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::daemon::{Daemon, Place};

const NOBODY: &str = "http://127.0.0.1:9";
const MINUTE: u64 = 60_000;

/// The time of some minutes ago.
#[derive(Debug)]
struct LateClock {
    behind_ms: u64,
}

#[async_trait]
impl Clock for LateClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(SystemClock.now().unix_ms() - self.behind_ms.cast_signed())
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

fn app(place: &Place, behind_ms: u64) -> App {
    let clock: Arc<dyn Clock> = Arc::new(LateClock { behind_ms });
    let options = ComposeOptions { clock: Some(clock), ..ComposeOptions::default() };
    compose(&place.home(), &place.data(), options).unwrap()
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Creates an artifact over `in.json`.
async fn create(app: &App, title: &str) -> ArtifactId {
    let body = json!({
        "input": { "title": title, "document": {
            "dataJson": { "title": "before" },
            "sourceJson": { "type": "local_file", "input": { "path": "in.json" } },
            "refresh": { "every": "15m" },
        } },
        "templateHtml": "<!doctype html><title>T</title><h1>{{data.title}}</h1>",
    });
    let project = "web".parse().unwrap();
    let request = CreateArtifact { project, body: body.into(), reading: Reading::Offline };
    let created = artifacts::create(app, &Caller::Person, request, Mode::Commit).await;
    created.unwrap_or_else(|error| panic!("{error:?}")).stored.id.clone()
}

async fn switch_on(app: &App, artifact: &ArtifactId) {
    let address = Address { project: None, artifact: artifact.clone() };
    let request = ChangeSchedule { address, change: ScheduleChange::On, if_revision: None };
    schedule::change(app, &Caller::Person, request, Mode::Commit).await.unwrap();
}

fn records(place: &Place, artifact: &ArtifactId) -> Vec<RefreshRecord> {
    let app = app(place, 0);
    let project = "web".parse().unwrap();
    let history = run(app.ports.refresh_log.history(&project, artifact)).unwrap();
    history.records.iter().rev().cloned().collect()
}

fn starts(records: &[RefreshRecord]) -> Vec<&RefreshRecord> {
    records.iter().filter(|record| record.step == RecordStep::Started).collect()
}

fn od(place: &Place, mut command: Command) -> Command {
    command
        .args(["refresh", "--due", "--json"])
        .env("OD_HOME", place.home())
        .env("OD_DATA_DIR", place.data())
        .current_dir(place.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn plain() -> Command {
    Command::new(env!("CARGO_BIN_EXE_od"))
}

fn traced(arguments: &[&str]) -> Command {
    let mut command = Command::new("strace");
    command.args(["-f", "-qqq"]).args(arguments).arg(env!("CARGO_BIN_EXE_od"));
    command
}

/// A place in which one slot is due.
fn due_place() -> (Place, ArtifactId) {
    let place = Place::new();
    place.init();
    place.write("in.json", r#"{ "title": "after" }"#);
    let app = app(&place, 20 * MINUTE);
    let artifact = run(async {
        let artifact = create(&app, "Due").await;
        switch_on(&app, &artifact).await;
        artifact
    });
    (place, artifact)
}

/// The calls by which a step becomes durable, and how often a run makes each.
fn steps() -> Vec<(&'static str, usize)> {
    let (place, artifact) = due_place();
    let trace = tempfile::NamedTempFile::new().unwrap();
    let calls = ["fsync", "fdatasync", "rename", "renameat", "renameat2", "unlinkat", "write"];
    let output = trace.path().to_str().unwrap();
    let traced = traced(&["-o", output, "-e", &format!("trace={}", calls.join(","))]);
    let ran = od(&place, traced).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(starts(&records(&place, &artifact)).len(), 1, "it was due");
    let text = std::fs::read_to_string(trace.path()).unwrap();
    let of = |call: &str| {
        let named = |line: &&str| {
            line.split_whitespace().nth(1).is_some_and(|rest| rest.starts_with(&format!("{call}(")))
        };
        text.lines().filter(named).count()
    };
    calls.into_iter().map(|call| (call, of(call))).filter(|(_, count)| *count > 0).collect()
}

#[test]
fn killed_at_every_step_of_a_scheduled_run_its_slot_has_run_once_or_is_abandoned() {
    let steps = steps();
    let (mut killed, mut abandoned, mut afterwards) = (0, 0, 0);
    for (call, count) in &steps {
        // Writes come often and between the others; a third of them is tried.
        let stride = if *call == "write" { 3 } else { 1 };
        for nth in (1..=*count).step_by(stride) {
            let (place, artifact) = due_place();
            let inject = format!("inject={call}:signal=KILL:when={nth}");
            let trace = format!("trace={call}");
            let args = ["-o", "/dev/null", "-e", trace.as_str(), "-e", inject.as_str()];
            let ended = od(&place, traced(&args)).output().unwrap();
            killed += usize::from(!ended.status.success());
            let next = od(&place, plain()).output().unwrap();
            let said = String::from_utf8_lossy(&next.stdout).into_owned();
            assert!(next.status.code().is_some_and(|code| code <= 1), "{call} {nth}: {next:?}");
            assert_sound(&place, &artifact, &format!("{call} {nth}"));
            let records = records(&place, &artifact);
            let starts = starts(&records);
            assert_eq!(starts.len(), 1, "{call} {nth}: one run for one slot: {said} {records:?}");
            assert_eq!(starts[0].missed, None, "{call} {nth}");
            let ends: Vec<RecordStatus> = records
                .iter()
                .filter(|record| record.step.is_last())
                .map(|record| record.status)
                .collect();
            match ends.as_slice() {
                // By the dead, or by whoever looked next.
                [RecordStatus::Succeeded] => {
                    afterwards += usize::from(said.contains("\"succeeded\""));
                }
                [RecordStatus::Abandoned] => abandoned += 1,
                ends => panic!("{call} {nth}: {ends:?}"),
            }
        }
    }
    println!(
        "{steps:?}: {killed} killed, {abandoned} abandoned, {afterwards} run by the next look"
    );
    assert!(
        killed >= 10 && abandoned >= 1 && afterwards >= 1,
        "kills before, in and after the run"
    );
}

/// Recovers what the dead left, as a daemon does when it starts, and checks every digest and the chain.
fn assert_sound(place: &Place, artifact: &ArtifactId, at: &str) {
    let app = app(place, 0);
    let address = Address { project: None, artifact: artifact.clone() };
    let report = run(async {
        od_app::refresh::recover(&app).await.unwrap();
        artifacts::verify(&app, &Caller::Person, address).await.unwrap()
    });
    assert!(report.ok, "{at}: {report:?}");
}

#[test]
fn a_daemon_that_was_stopped_over_three_slots_runs_one() {
    let place = Place::new();
    place.init();
    place.write("in.json", r#"{ "title": "after" }"#);
    let other = run(create(&app(&place, 0), "Other"));
    let daemon = Daemon::start(&place, NOBODY);
    let events = daemon.send("GET", "/api/events", None);
    let pid = Pid::from_raw(i32::try_from(daemon.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    // What its disk would say if it had run the first slot and stood still ever since.
    let artifact = run(async {
        let before = app(&place, 61 * MINUTE);
        let artifact = create(&before, "Stopped").await;
        switch_on(&before, &artifact).await;
        let first = app(&place, 45 * MINUTE);
        let due = schedule::agenda(&first, None).await.unwrap().due.remove(0);
        let outcome = schedule::run_slot(&first, &due, Trigger::Schedule).await;
        assert!(matches!(outcome, SlotOutcome::Refreshed(_)), "{outcome:?}");
        artifact
    });
    kill_process(pid, Signal::CONT).unwrap();
    // It looks again by itself within 30 seconds; a changed schedule has it look at once.
    let target = format!("/api/live-artifacts/{other}/schedule");
    daemon.ok("POST", &target, Some(&json!({ "refresh": { "every": "2h" } })));
    read_until(events, &["\"succeeded\"", artifact.as_str()]);
    daemon.stop();
    let records = records(&place, &artifact);
    let starts = starts(&records);
    assert_eq!(starts.len(), 2, "{records:?}");
    assert_eq!((starts[1].missed, starts[1].trigger), (Some(2), Some(Trigger::Schedule)));
}

/// Reads a stream until it has said all of some words.
fn read_until(mut stream: impl std::io::Read, words: &[&str]) {
    let (mut said, mut chunk) = (String::new(), [0; 4096]);
    while !words.iter().all(|word| said.contains(word)) {
        let count = stream.read(&mut chunk).unwrap();
        assert!(count > 0, "it ended: {said}");
        said.push_str(&String::from_utf8_lossy(&chunk[..count]));
    }
}

/// How many artifacts are due at once; a long run sets 1000.
fn crowd() -> usize {
    std::env::var("OD_SCHEDULED").ok().and_then(|count| count.parse().ok()).unwrap_or(40)
}

/// Counts the artifacts whose last refresh succeeded, page by page.
fn refreshed(daemon: &Daemon) -> usize {
    let (mut count, mut cursor) = (0, String::new());
    loop {
        let page = format!("/api/live-artifacts?projectId=web{cursor}");
        let listed = daemon.ok("GET", &page, None);
        let lines = listed["artifacts"].as_array().unwrap();
        let done = |line: &&Value| line["refreshStatus"] == "succeeded";
        count += lines.iter().filter(done).count();
        let Some(next) = listed["nextCursor"].as_str() else { return count };
        cursor = format!("&cursor={next}");
    }
}

#[test]
fn everything_that_is_due_at_once_is_done_while_pages_are_served() {
    let place = Place::new();
    place.init();
    place.write("in.json", r#"{ "title": "after" }"#);
    let count = crowd();
    let all: Vec<ArtifactId> = run(async {
        let app = app(&place, 20 * MINUTE);
        let mut all = Vec::new();
        for n in 0..count {
            let artifact = create(&app, &format!("Due {n}")).await;
            switch_on(&app, &artifact).await;
            all.push(artifact);
        }
        all
    });
    let began = Instant::now();
    let daemon = Daemon::start(&place, NOBODY);
    let mut previews = Vec::new();
    let mut looked = Instant::now();
    loop {
        let page = format!("/api/live-artifacts/{}/preview", all[previews.len() % count]);
        let asked = Instant::now();
        assert_eq!(daemon.call("GET", &page, None).status, 200);
        previews.push(asked.elapsed());
        if previews.len() % 100 == 0 || looked.elapsed() > Duration::from_millis(500) {
            looked = Instant::now();
            if refreshed(&daemon) == count {
                break;
            }
        }
    }
    let took = began.elapsed();
    daemon.stop();
    previews.sort_unstable();
    let p99 = previews[previews.len() * 99 / 100];
    println!("{count} due at once done in {took:?}; {} previews, p99 {p99:?}", previews.len());
    let sample = all.iter().step_by(count.div_ceil(20));
    for artifact in sample {
        assert_eq!(starts(&records(&place, artifact)).len(), 1, "{artifact}");
    }
    assert!(Path::new(&place.artifact(all[0].as_str())).is_dir());
}
