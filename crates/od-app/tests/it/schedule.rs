//! Schedules over ports in memory and a clock that tests move.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use od_app::artifacts::{self, Address, CreateArtifact, Reading, UpdateArtifact};
use od_app::refresh::run::{Cause, RunRefresh};
use od_app::schedule::{self, ChangeSchedule, SlotOutcome};
use od_app::{App, Caller, Mode, projects, refresh};
use od_core::decide::ScheduleChange;
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, Timestamp};
use od_core::ledger::{CommitKind, IfNewest, RefreshStart};
use od_core::refresh::{RecordStatus, RecordStep, RefreshRecord};
use od_core::schedule::{ScheduleState, Trigger};
use od_ports::connector_provider::ProviderError;
use od_ports::fakes::Act;
use od_ports::store::{RefreshLog as _, RevisionStore as _};
use serde_json::{Value, json};

use crate::world::{World, agent, body, id};

const MINUTE: Duration = Duration::from_secs(60);

/// An artifact of the scripted connector whose schedule a person switched on.
async fn scheduled(world: &World, refresh: &Value) -> ArtifactId {
    let artifact = world.create_artifact("scheduled").await;
    switch(&world.app, &artifact, refresh).await.unwrap();
    artifact
}

async fn switch(app: &App, artifact: &ArtifactId, refresh: &Value) -> Result<(), Failure> {
    let refresh = serde_json::from_value(refresh.clone()).unwrap();
    let change = ScheduleChange::Set(refresh);
    change_schedule(app, &Caller::Person, artifact, change).await
}

async fn change_schedule(
    app: &App,
    caller: &Caller,
    artifact: &ArtifactId,
    change: ScheduleChange,
) -> Result<(), Failure> {
    let address = Address { project: Some(id("web")), artifact: artifact.clone() };
    let request = ChangeSchedule { address, change, if_revision: None };
    schedule::change(app, caller, request, Mode::Commit).await.map(|_| ()).map_err(Failure::from)
}

async fn state(world: &World, artifact: &ArtifactId) -> ScheduleState {
    let stored = world.app.ports.artifacts.load(&id("web"), artifact).await.unwrap();
    stored.summary.schedule.as_ref().unwrap().state
}

async fn records(world: &World, artifact: &ArtifactId) -> Vec<RefreshRecord> {
    world.artifacts.history(&id("web"), artifact).await.unwrap().records.to_vec()
}

async fn starts(world: &World, artifact: &ArtifactId) -> Vec<RefreshRecord> {
    let records = records(world, artifact).await;
    records.into_iter().rev().filter(|record| record.step == RecordStep::Started).collect()
}

/// Looks once and runs what is due; returns how many refreshes ran here.
async fn look(app: &App) -> usize {
    let mut ran = 0;
    for due in schedule::agenda(app, None).await.unwrap().due {
        match schedule::run_slot(app, &due, Trigger::Schedule).await {
            SlotOutcome::Refreshed(_) | SlotOutcome::Failed(_) => ran += 1,
            SlotOutcome::Elsewhere => {}
            SlotOutcome::Refused(failure) => panic!("{failure:?}"),
        }
    }
    ran
}

#[tokio::test]
async fn an_agent_proposes_and_only_a_person_switches_on() {
    let world = World::new().await;
    let mut proposed = body("proposed");
    proposed["input"]["document"]["refresh"] = json!({ "every": "15m" });
    let request =
        CreateArtifact { project: id("web"), body: proposed.into(), reading: Reading::Now };
    let valid = artifacts::validate(&world.app, &agent("web"), request.clone()).await.unwrap();
    let mut warnings = valid.decision.warnings.iter();
    let warning = warnings.find(|issue| issue.code == "schedule_proposed").unwrap();
    let fix = warning.fix.as_deref().unwrap();
    assert!(fix.contains("od artifacts schedule ID --on"), "it will have another id: {fix}");
    let created = artifacts::create(&world.app, &agent("web"), request, Mode::Commit).await;
    let created = created.unwrap();
    let artifact = created.stored.id.clone();
    let warning = created.warnings.iter().find(|issue| issue.code == "schedule_proposed").unwrap();
    let fix = warning.fix.as_deref().unwrap();
    assert!(fix.contains(&format!("od artifacts schedule {artifact} --on")), "{fix}");
    world.clock.advance(MINUTE * 60);
    assert_eq!(look(&world.app).await, 0, "nothing runs");
    let refused = change_schedule(&world.app, &agent("web"), &artifact, ScheduleChange::On).await;
    assert_eq!(refused.unwrap_err().code, ErrorCode::Forbidden);
    change_schedule(&world.app, &Caller::Person, &artifact, ScheduleChange::On).await.unwrap();
    assert_eq!(look(&world.app).await, 0, "switching on starts from now");
    world.clock.advance(MINUTE * 15);
    assert_eq!(look(&world.app).await, 1);
    assert_eq!(look(&world.app).await, 0, "one run a slot");
    let start = &starts(&world, &artifact).await[0];
    assert_eq!((start.trigger, start.missed), (Some(Trigger::Schedule), None));
    assert_eq!(start.slot, Some(start.at));
    let timeline = world.artifacts.timeline(&id("web"), &artifact).await.unwrap().commits;
    let kinds: Vec<CommitKind> = timeline.iter().rev().map(|commit| commit.kind).collect();
    assert_eq!(kinds[..2], [CommitKind::Create, CommitKind::Schedule]);
}

#[tokio::test]
async fn an_agent_that_changes_schedule_or_source_leaves_nothing_switched_on() {
    let world = World::new().await;
    let artifact = scheduled(&world, &json!({ "every": "1h" })).await;
    assert_eq!(state(&world, &artifact).await, ScheduleState::Active);
    let target = Address { project: Some(id("web")), artifact: artifact.clone() };
    let input = json!({ "input": { "document": { "refresh": { "every": "5m" } } } });
    let request =
        UpdateArtifact { target: target.into(), body: input.into(), reading: Reading::Now };
    let updated = artifacts::update(&world.app, &agent("web"), request, Mode::Commit).await;
    assert!(updated.unwrap().warnings.iter().any(|issue| issue.code == "schedule_changed"));
    assert_eq!(state(&world, &artifact).await, ScheduleState::Changed);
    world.clock.advance(MINUTE * 60 * 5);
    assert_eq!(look(&world.app).await, 0);
}

#[tokio::test]
async fn a_project_lets_no_agent_switch_on_what_reads_beyond_the_machine() {
    let world = World::new().await;
    let refused = projects::allow_schedules(&world.app, &agent("web"), &id("web"), true).await;
    assert!(refused.is_err(), "an agent allows itself nothing");
    projects::allow_schedules(&world.app, &Caller::Person, &id("web"), true).await.unwrap();
    let mut proposed = body("far");
    proposed["input"]["document"]["refresh"] = json!({ "every": "15m" });
    let request =
        CreateArtifact { project: id("web"), body: proposed.into(), reading: Reading::Now };
    let created = artifacts::create(&world.app, &agent("web"), request, Mode::Commit).await;
    let artifact = created.unwrap().stored.id.clone();
    assert_eq!(state(&world, &artifact).await, ScheduleState::Proposed);
}

#[tokio::test]
async fn two_processes_run_each_of_a_thousand_slots_once() {
    let world = World::new().await;
    let other = world.another_process();
    let artifact = scheduled(&world, &json!({ "every": "5m" })).await;
    let mut ran = 0;
    for turn in 0..1_000 {
        world.clock.advance(MINUTE * 5);
        world.script.set(if turn % 7 == 3 {
            Act::Give(json!({ "title": format!("{turn}") }))
        } else {
            Act::Give(json!({ "title": "same" }))
        });
        // Both work the slot out from the same log, and then both try to run it.
        let mine = schedule::agenda(&world.app, None).await.unwrap().due;
        let others = schedule::agenda(&other, None).await.unwrap().due;
        assert_eq!((mine.len(), &mine), (1, &others));
        let (first, second) =
            if turn % 2 == 0 { (&world.app, &other) } else { (&other, &world.app) };
        for app in [first, second] {
            match schedule::run_slot(app, &mine[0], Trigger::Schedule).await {
                SlotOutcome::Refreshed(_) => ran += 1,
                SlotOutcome::Elsewhere => {}
                outcome @ (SlotOutcome::Failed(_) | SlotOutcome::Refused(_)) => {
                    panic!("{outcome:?}")
                }
            }
        }
    }
    assert_eq!(ran, 1_000);
    let slots: Vec<Timestamp> =
        starts(&world, &artifact).await.iter().map(|start| start.slot.unwrap()).collect();
    let distinct: HashSet<Timestamp> = slots.iter().copied().collect();
    assert_eq!((slots.len(), distinct.len()), (1_000, 1_000), "exactly once, none twice");
}

#[tokio::test]
async fn a_process_that_stands_still_over_three_slots_runs_one() {
    let world = World::new().await;
    let artifact = scheduled(&world, &json!({ "every": "15m" })).await;
    world.clock.advance(MINUTE * 15);
    assert_eq!(look(&world.app).await, 1);
    world.clock.advance(MINUTE * 46);
    assert_eq!(look(&world.app).await, 1);
    assert_eq!(look(&world.app).await, 0);
    let starts = starts(&world, &artifact).await;
    assert_eq!(starts[1].missed, Some(2), "the record says what became of the others");
}

#[tokio::test]
async fn a_run_that_was_killed_has_had_its_slot_and_is_recorded_abandoned() {
    let world = World::new().await;
    let artifact = scheduled(&world, &json!({ "every": "15m" })).await;
    world.clock.advance(MINUTE * 15);
    let due = schedule::agenda(&world.app, None).await.unwrap().due.remove(0);
    let start = RefreshStart {
        at: world.app.ports.clock.now(),
        trigger: Trigger::Schedule,
        actor: None,
        slot: Some(due.run),
        if_newest: IfNewest::Is(due.newest.clone()),
    };
    // The process dies between its first record and everything else.
    drop(world.artifacts.begin_refresh(&id("web"), &artifact, start).await.unwrap());
    assert_eq!(look(&world.app).await, 0, "the slot is not run twice");
    world.clock.advance(MINUTE * 15);
    assert_eq!(look(&world.app).await, 1);
    let ends: Vec<RecordStatus> = records(&world, &artifact)
        .await
        .into_iter()
        .rev()
        .filter(|record| record.step.is_last())
        .map(|record| record.status)
        .collect();
    assert_eq!(ends, [RecordStatus::Abandoned, RecordStatus::Succeeded]);
}

#[tokio::test]
async fn a_refusal_before_the_first_record_leaves_the_slot_due() {
    let world = World::new().await;
    let artifact = scheduled(&world, &json!({ "every": "15m" })).await;
    world.clock.advance(MINUTE * 15);
    // Its calls of this minute are used up by hand.
    for _ in 0..10 {
        let request = RunRefresh {
            caller: Caller::Person,
            project: id("web"),
            artifact: artifact.clone(),
            accept_drift: false,
            cause: Cause::Asked,
        };
        refresh::run(&world.app, request, Mode::Commit).await.unwrap();
    }
    assert_eq!(schedule::agenda(&world.app, None).await.unwrap().due, [], "by hand covers it");
    world.clock.advance(MINUTE * 15);
    assert_eq!(look(&world.app).await, 1);
}

#[tokio::test]
async fn opening_a_page_refreshes_it_only_when_it_is_older_than_it_may_be() {
    let world = World::new().await;
    let artifact = scheduled(&world, &json!({ "every": "1d", "maxAge": "1h" })).await;
    let open = || async {
        let request = RunRefresh {
            caller: Caller::Person,
            project: id("web"),
            artifact: artifact.clone(),
            accept_drift: false,
            cause: Cause::Opened,
        };
        refresh::run(&world.app, request, Mode::Commit).await.map_err(Failure::from)
    };
    open().await.unwrap();
    assert_eq!(starts(&world, &artifact).await[0].trigger, Some(Trigger::Open));
    let fresh = open().await.unwrap_err();
    assert_eq!(fresh.code, ErrorCode::LiveArtifactRefreshUnavailable);
    world.clock.advance(MINUTE * 61);
    open().await.unwrap();
    change_schedule(&world.app, &Caller::Person, &artifact, ScheduleChange::Off).await.unwrap();
    world.clock.advance(MINUTE * 61);
    assert!(open().await.is_err(), "what is switched off starts nothing");
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[tokio::test]
async fn a_day_of_two_processes_failures_kills_and_clock_jumps_runs_no_slot_twice() {
    let world = World::new().await;
    let other = world.another_process();
    let mut dice = Dice(7);
    let mut all = Vec::new();
    for n in 0..40 {
        let every = ["5m", "15m", "1h"][n % 3];
        all.push(scheduled(&world, &json!({ "every": every })).await);
    }
    let mut day = 0;
    while day < 24 * 60 {
        day += 5;
        world.clock.advance(MINUTE * 5);
        match dice.roll(40) {
            0 => world.clock.set_back(MINUTE * 20),
            1 => world.clock.advance(MINUTE * 35),
            _ => {}
        }
        let app = if dice.roll(2) == 0 { &world.app } else { &other };
        for due in schedule::agenda(app, None).await.unwrap().due {
            world.script.set(match dice.roll(5) {
                0 => Act::Fail(ProviderError::CredentialRefused),
                _ => Act::Give(json!({ "title": format!("{}", dice.roll(3)) })),
            });
            if dice.roll(30) == 0 {
                let start = RefreshStart {
                    at: app.ports.clock.now(),
                    trigger: Trigger::Schedule,
                    actor: None,
                    slot: Some(due.run),
                    if_newest: IfNewest::Is(due.newest.clone()),
                };
                drop(world.artifacts.begin_refresh(&due.project, &due.artifact, start).await);
                continue;
            }
            for app in [app, &other] {
                let outcome = schedule::run_slot(app, &due, Trigger::Schedule).await;
                assert!(!matches!(outcome, SlotOutcome::Refused(_)), "{outcome:?}");
            }
        }
    }
    let mut runs = 0;
    for artifact in &all {
        let mut seen: HashMap<Timestamp, usize> = HashMap::new();
        for start in starts(&world, artifact).await {
            *seen.entry(start.slot.unwrap()).or_default() += 1;
        }
        assert!(seen.values().all(|times| *times == 1), "{artifact}: {seen:?}");
        runs += seen.len();
        // Every refresh that began has ended, but for one that was just killed.
        let records = records(&world, artifact).await;
        let ended = records.iter().filter(|record| record.step.is_last()).count();
        assert!(seen.len() - ended <= 1, "{artifact}");
    }
    assert!(runs > 1_000, "{runs}");
}
