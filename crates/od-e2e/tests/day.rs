//! A day of scheduled artifacts over real files: two processes' worth of use cases on one data directory,
//! sources that fail, kills in the middle of runs, a clock that is set.
//!
//! The short form is part of the tests. The long one is run by hand:
//! `OD_DAY_ARTIFACTS=1000 cargo nextest run -p od-e2e --test day --no-capture`; `OD_DAY_SEED` repeats a day.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use od_app::artifacts::{self, Address, CreateArtifact, Reading};
use od_app::projects::{CreateProject, create as create_project};
use od_app::schedule::{self, ChangeSchedule, DueRun, SlotOutcome};
use od_app::{App, Caller, Mode, refresh};
use od_core::decide::ScheduleChange;
use od_core::ids::{ArtifactId, ProjectId, Timestamp};
use od_core::refresh::{RecordStatus, RecordStep};
use od_core::schedule::Trigger;
use od_daemon::{ComposeOptions, compose};
use od_ports::system::Clock;
use serde_json::json;
use tokio::task::JoinSet;

const MINUTE: i64 = 60_000;
const TICK: i64 = 5 * MINUTE;
const DAY: i64 = 24 * 60 * MINUTE;
/// Refreshes that run at once, as in a daemon.
const AT_ONCE: usize = 4;

/// A clock whose time the test sets; waiting takes the time it takes.
#[derive(Debug)]
struct DayClock(AtomicI64);

#[async_trait]
impl Clock for DayClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.0.load(Ordering::Relaxed))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

struct World {
    place: tempfile::TempDir,
    clock: Arc<DayClock>,
    processes: [Arc<App>; 2],
}

/// An artifact, and the file that it reads.
struct Scheduled {
    id: ArtifactId,
    file: PathBuf,
    every_minutes: i64,
}

fn project() -> ProjectId {
    "web".parse().unwrap()
}

fn process(place: &Path, clock: &Arc<DayClock>) -> Arc<App> {
    let clock: Arc<dyn Clock> = Arc::clone(clock) as _;
    let options = ComposeOptions { clock: Some(clock), ..ComposeOptions::default() };
    Arc::new(compose(&place.join("home"), &place.join("data"), options).unwrap())
}

impl World {
    async fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("root")).unwrap();
        let clock = Arc::new(DayClock(AtomicI64::new(1_777_507_200_000)));
        let processes = [process(place.path(), &clock), process(place.path(), &clock)];
        let root = Some(place.path().join("root"));
        let request = CreateProject { id: Some(project()), name: "Web".to_owned(), root };
        create_project(&processes[0], &Caller::Person, request).await.unwrap();
        Self { place, clock, processes }
    }

    async fn schedule(&self, number: usize) -> Scheduled {
        let every_minutes = match number % 10 {
            0 => 15,
            1..=5 => 60,
            _ => 240,
        };
        let name = format!("s{number}.json");
        let file = self.place.path().join("root").join(&name);
        std::fs::write(&file, r#"{"title":"0"}"#).unwrap();
        let body = json!({
            "input": { "title": format!("Scheduled {number}"), "document": {
                "dataJson": { "title": "before" },
                "sourceJson": { "type": "local_file", "input": { "path": name } },
                "refresh": { "every": format!("{every_minutes}m") },
                "checks": [{ "id": "zero", "path": "title", "op": "eq", "value": "0" }],
            } },
            "templateHtml": "<!doctype html><title>T</title><h1>{{data.title}}</h1>",
        });
        let request =
            CreateArtifact { project: project(), body: body.into(), reading: Reading::Offline };
        let app = &self.processes[0];
        let created = artifacts::create(app, &Caller::Person, request, Mode::Commit).await;
        let id = created.unwrap().stored.id.clone();
        let address = Address { project: Some(project()), artifact: id.clone() };
        let request = ChangeSchedule { address, change: ScheduleChange::On, if_revision: None };
        schedule::change(app, &Caller::Person, request, Mode::Commit).await.unwrap();
        Scheduled { id, file, every_minutes }
    }

    /// Ends a process in the middle of a run, and starts another in its place, as a daemon starts.
    async fn kill(&mut self, which: usize, due: &DueRun, after_polls: u64) {
        {
            let app = Arc::clone(&self.processes[which]);
            let mut run = std::pin::pin!(schedule::run_slot(&app, due, Trigger::Schedule));
            for _ in 0..after_polls {
                tokio::select! {
                    biased;
                    _ = &mut run => break,
                    () = tokio::task::yield_now() => {}
                }
            }
        }
        self.processes[which] = process(self.place.path(), &self.clock);
        refresh::recover(&self.processes[which]).await.unwrap();
    }
}

/// Lets both processes race for each of some slots; returns how many runs there were.
async fn race(processes: &[Arc<App>; 2], due: Vec<DueRun>) -> usize {
    let (mut runs, mut ran) = (JoinSet::new(), 0);
    let take = |ended: Option<Result<usize, _>>| match ended {
        Some(Ok(ran)) => ran,
        Some(Err(error)) => panic!("{error}"),
        None => 0,
    };
    for slot in due {
        if runs.len() >= AT_ONCE {
            ran += take(runs.join_next().await);
        }
        let [one, other] = processes.clone();
        runs.spawn(async move {
            let (a, b) = tokio::join!(
                schedule::run_slot(&one, &slot, Trigger::Schedule),
                schedule::run_slot(&other, &slot, Trigger::Command),
            );
            let is_run = |outcome| match outcome {
                SlotOutcome::Refreshed(_) | SlotOutcome::Failed(_) => 1,
                SlotOutcome::Elsewhere => 0,
                SlotOutcome::Refused(failure) => panic!("{failure:?}"),
            };
            is_run(a) + is_run(b)
        });
    }
    while !runs.is_empty() {
        ran += take(runs.join_next().await);
    }
    ran
}

/// Resident memory in KiB, and open descriptors.
fn held() -> (usize, usize) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kib = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    (kib, std::fs::read_dir("/proc/self/fd").unwrap().count())
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_of_failures_kills_and_clock_jumps_runs_every_slot_once() {
    let (count, seed) = (number("OD_DAY_ARTIFACTS", 30), number("OD_DAY_SEED", 11));
    println!("{count} artifacts, seed {seed}");
    let (mut dice, began) = (Dice(seed), Instant::now());
    let mut world = World::new().await;
    let mut all = Vec::new();
    for n in 0..usize::try_from(count).unwrap() {
        all.push(world.schedule(n).await);
    }
    let start = world.clock.now().unix_ms();
    let (mut passed, mut ran, mut kills, mut jumps, mut early) = (0, 0, 0, 0, None);
    while passed < DAY {
        passed += TICK;
        let jump = match dice.roll(40) {
            0 => -20 * MINUTE,
            1 => 35 * MINUTE,
            _ => 0,
        };
        jumps += u32::from(jump != 0);
        world.clock.0.fetch_add(TICK + jump, Ordering::Relaxed);
        let which = usize::try_from(dice.roll(2)).unwrap();
        let mut due = schedule::agenda(&world.processes[which], None).await.unwrap().due;
        for run in &due {
            let scheduled = all.iter().find(|one| one.id == run.artifact).unwrap();
            let text = match dice.roll(10) {
                0 => "{".to_owned(),
                _ => json!({ "title": dice.roll(3).to_string() }).to_string(),
            };
            std::fs::write(&scheduled.file, text).unwrap();
        }
        if !due.is_empty() && dice.roll(6) == 0 {
            kills += 1;
            let victim = due.swap_remove(usize::try_from(dice.roll(due.len() as u64)).unwrap());
            world.kill(which, &victim, dice.roll(400)).await;
            // It may have been killed before it began: then the slot is due still.
            due = schedule::agenda(&world.processes[which], None).await.unwrap().due;
        }
        ran += race(&world.processes, due).await;
        if passed >= DAY / 4 && early.is_none() {
            early = Some(held());
        }
    }
    let (early, late) = (early.unwrap(), held());
    println!(
        "{ran} runs, {kills} kills, {jumps} jumps in {:?}; at 6 h {} KiB and {} descriptors, at 24 h {} and {}",
        began.elapsed(),
        early.0,
        early.1,
        late.0,
        late.1
    );
    refresh::recover(&world.processes[0]).await.unwrap();
    let (mut slots, mut failed, mut abandoned) = (0, 0, 0);
    for scheduled in &all {
        let (runs, of) = check(&world.processes[0], scheduled, start).await;
        slots += runs;
        failed += of.0;
        abandoned += of.1;
    }
    println!(
        "{slots} slots run or counted, {failed} failed, {abandoned} abandoned; every chain holds"
    );
    assert!(failed > 0 && kills > 0 && jumps > 0, "it was no ordinary day");
    assert!(late.1 <= early.1 + 8, "descriptors: {early:?} {late:?}");
    // Caches have their own bounds, and are filled by then.
    assert!(late.0 <= early.0 + early.0 / 4 + 32 * 1024, "memory: {early:?} {late:?}");
}

/// Checks the records of one artifact: each slot was run once or is counted as missed by the next, every
/// refresh has one end, and the files are sound. Returns the slots, and how many failed or were abandoned.
async fn check(app: &App, scheduled: &Scheduled, start: i64) -> (u64, (usize, usize)) {
    let Scheduled { id, every_minutes, .. } = scheduled;
    let history = app.ports.refresh_log.history(&project(), id).await.unwrap();
    let records: Vec<_> = history.records.iter().rev().cloned().collect();
    let period = every_minutes * MINUTE;
    let (mut slots, mut last) = (0, start);
    for begun in records.iter().filter(|record| record.step == RecordStep::Started) {
        let slot = begun.slot.unwrap().unix_ms();
        let passed = 1 + begun.missed.unwrap_or_default();
        assert_eq!(
            slot - last,
            period * i64::try_from(passed).unwrap(),
            "{id}: the slots between are those that were missed: {begun:?}"
        );
        slots += passed;
        last = slot;
        let of = |record: &&od_core::refresh::RefreshRecord| {
            record.refresh_id == begun.refresh_id && record.step.is_last()
        };
        assert_eq!(records.iter().filter(of).count(), 1, "{id}: {} has one end", begun.refresh_id);
    }
    assert!(slots > 0, "{id}");
    let address = Address { project: Some(project()), artifact: id.clone() };
    let report = artifacts::verify(app, &Caller::Person, address).await.unwrap();
    assert!(report.ok, "{report:?}");
    let ended = |status| {
        records.iter().filter(|record| record.step.is_last() && record.status == status).count()
    };
    (slots, (ended(RecordStatus::Failed), ended(RecordStatus::Abandoned)))
}
