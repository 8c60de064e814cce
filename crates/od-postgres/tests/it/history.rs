//! A history of what was acknowledged, against what is there in the end: three machines, lost answers, a
//! server that crashes. Faults that are planted on purpose have to be found by the same check.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use od_core::ids::{ArtifactId, ProjectId, RefreshId, Timestamp};
use od_core::ledger::{CommitKind, IfNewest, RefreshStart};
use od_core::refresh::{RecordStatus, RecordStep, RefreshRecord};
use od_core::schedule::{SlotRun, Trigger};
use od_pgconn::cluster::Cluster;
use od_ports::contract::sample;
use od_ports::store::{
    ArtifactStore, Outcome, RefreshLog as _, RevisionStore as _, StoreError, StoreMaintenance as _,
    Trash as _,
};
use od_postgres::{PgStore, Planted};

use crate::lost_answers::{Fate, Wire};
use crate::team::Team;

const MACHINES: u64 = 3;
const ARTIFACTS: u64 = 4;
/// Steps of each machine: so many that every artifact is written by all, and no revision is dropped.
const STEPS: u64 = 60;

/// What the store said it did, or did not do.
#[derive(Debug, Default)]
struct Said {
    /// Title by artifact and revision.
    committed: Vec<(ArtifactId, u64, String)>,
    /// Titles that were refused as not done.
    refused: Vec<(ArtifactId, String)>,
    /// Refreshes that began.
    begun: Vec<(ArtifactId, RefreshId)>,
}

/// A sequence of numbers that one seed decides.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: u64) -> u64 {
        // The step of splitmix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}

struct Machine {
    number: u64,
    store: PgStore,
    wire: Wire,
    project: ProjectId,
    said: Arc<Mutex<Said>>,
    dice: Dice,
    /// Refreshes that stand still, each with what it will bring.
    paused: Vec<(ArtifactId, RefreshId, String)>,
}

impl Machine {
    async fn work(&mut self, steps_done: &AtomicUsize) {
        for step in 0..STEPS {
            let id = sample::id(u32::try_from(self.dice.throw(ARTIFACTS)).unwrap());
            let title = format!("machine {} step {step}", self.number);
            match self.dice.throw(8) {
                0 => self.wire.at_next_commit(Fate::SwallowAnswer),
                1 => self.wire.at_next_commit(Fate::SwallowQuestion),
                _ => {}
            }
            // Long after others have closed it, a refresh that stood still comes back.
            if self.paused.len() > 3 || step + 1 == STEPS {
                for (id, refresh, title) in std::mem::take(&mut self.paused) {
                    self.commit(&id, &title, Some(&refresh)).await;
                }
            }
            match self.dice.throw(10) {
                0..5 => self.commit(&id, &title, None).await,
                5..8 => self.refresh(&id, &title).await,
                8 => drop(self.store.delete(&self.project, &id, None).await),
                _ => drop(self.store.restore(&self.project, &id).await),
            }
            steps_done.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
        }
    }

    async fn commit(&self, id: &ArtifactId, title: &str, refresh: Option<&RefreshId>) {
        let Ok(gate) = self.store.open_gate(&self.project, id).await else { return };
        let state = gate.stored().state.clone().unwrap();
        let mut change = sample::change(&state, title);
        if let Some(refresh) = refresh {
            let (step, status) = (RecordStep::Committed, RecordStatus::Succeeded);
            let last = RefreshRecord::new(refresh.clone(), step, status, sample::now());
            change.refresh = Some(last);
            change.note.kind = CommitKind::Refresh;
        }
        let result = self.store.commit(&gate.witness(), change).await;
        let mut said = self.said.lock().unwrap();
        match result {
            Ok(stored) => {
                let revision = stored.revision().unwrap().get();
                said.committed.push((id.clone(), revision, title.to_owned()));
            }
            Err(StoreError::Unavailable { outcome: Outcome::NotDone, .. }) => {
                said.refused.push((id.clone(), title.to_owned()));
            }
            Err(_) => {}
        }
    }

    /// Runs a slot that every machine has worked out from the same log.
    async fn refresh(&mut self, id: &ArtifactId, title: &str) {
        let Ok(history) = self.store.history(&self.project, id).await else { return };
        let newest = history.records.iter().map(|record| record.refresh_id.clone()).max();
        let slot = newest.as_ref().map_or(0, RefreshId::number) + 1;
        let slot = Timestamp::from_unix_ms(i64::try_from(slot).unwrap());
        let start = RefreshStart {
            at: sample::now(),
            trigger: Trigger::Schedule,
            actor: None,
            slot: Some(SlotRun { slot, missed: 0 }),
            if_newest: IfNewest::Is(newest),
        };
        let Ok(running) = self.store.begin_refresh(&self.project, id, start).await else { return };
        self.said.lock().unwrap().begun.push((id.clone(), running.id.clone()));
        if let Some(left) = &running.abandoned {
            self.close(id, &left.refresh_id, RecordStatus::Abandoned).await;
        }
        match self.dice.throw(4) {
            0 => self.close(id, &running.id, RecordStatus::Failed).await,
            // Stopped in the middle: somebody else will close it, and then it comes back.
            1 => {
                drop(running.lock);
                self.paused.push((id.clone(), running.id, title.to_owned()));
            }
            _ => self.commit(id, title, Some(&running.id)).await,
        }
    }

    async fn close(&self, id: &ArtifactId, refresh: &RefreshId, status: RecordStatus) {
        let last = RefreshRecord::new(refresh.clone(), RecordStep::Failed, status, sample::now());
        drop(self.store.append_record(&self.project, id, last).await);
    }
}

/// Plays one history and returns what is wrong with how it ended.
#[expect(clippy::print_stdout, reason = "a history is played again by its seed")]
async fn play(seed: u64, planted: Option<Planted>, crashes: usize) -> Vec<String> {
    let team = Team::on(Cluster::start_durable(env!("CARGO_TARGET_TMPDIR"))).await;
    let project = team.project("p1");
    let maker = team.machine();
    for number in 0..ARTIFACTS {
        let id = sample::id(u32::try_from(number).unwrap());
        let new = sample::new(&project, &id, "made");
        maker.create(new, sample::note(CommitKind::Create)).await.unwrap();
    }
    if planted.is_some() {
        // The second line of defence, which would hide that the first is gone.
        team.cluster.execute(
            "ALTER TABLE od.record DROP CONSTRAINT record_pkey; ALTER TABLE od.revision DROP CONSTRAINT revision_pkey",
        );
    }
    let said = Arc::new(Mutex::new(Said::default()));
    let steps = Arc::new(AtomicUsize::new(0));
    let mut workers = Vec::new();
    for number in 0..MACHINES {
        let wire = Wire::to(team.cluster.port()).await;
        let store = team.machine_at(wire.port, "postgres").planting(planted);
        let (project, said, steps) = (project.clone(), Arc::clone(&said), Arc::clone(&steps));
        let dice = Dice(seed ^ (number << 32));
        let mut machine = Machine { number, store, wire, project, said, dice, paused: Vec::new() };
        workers.push(tokio::spawn(async move { machine.work(&steps).await }));
    }
    let all = usize::try_from(MACHINES * STEPS).unwrap();
    for crash in 1..=crashes {
        while steps.load(Ordering::SeqCst) < all * crash / (crashes + 1) {
            tokio::task::yield_now().await;
        }
        team.cluster.crash();
        team.cluster.resume();
    }
    for worker in workers {
        worker.await.unwrap();
    }
    let said = std::mem::take(&mut *said.lock().unwrap());
    assert!(!said.committed.is_empty() && !said.begun.is_empty(), "nothing happened");
    let mut faults = duplicates(&said);
    for number in 0..ARTIFACTS {
        let id = sample::id(u32::try_from(number).unwrap());
        let store = team.machine();
        // It may lie in the trash.
        drop(store.restore(&project, &id).await);
        faults.extend(check(&store, &project, &id, &said).await);
    }
    println!(
        "seed {seed}: {} commits and {} refreshes acknowledged, {} refused, {crashes} crashes, {} faults",
        said.committed.len(),
        said.begun.len(),
        said.refused.len(),
        faults.len()
    );
    faults
}

/// Names what two were told alike.
fn duplicates(said: &Said) -> Vec<String> {
    let (mut winners, mut begun) = (BTreeMap::new(), BTreeSet::new());
    let mut faults = Vec::new();
    for (id, revision, title) in &said.committed {
        if let Some(other) = winners.insert((id, revision), title) {
            faults.push(format!("{id}: revision {revision} is `{other}` and `{title}`"));
        }
    }
    for (id, refresh) in &said.begun {
        if !begun.insert((id, refresh)) {
            faults.push(format!("{id}: {refresh} began twice"));
        }
    }
    faults
}

/// Compares what is there of an artifact with what was said.
async fn check(store: &PgStore, project: &ProjectId, id: &ArtifactId, said: &Said) -> Vec<String> {
    let mut faults = Vec::new();
    let Ok(inspection) = store.inspect(project, id).await else {
        return vec![format!("{id}: it cannot be read")];
    };
    if !inspection.health.is_healthy() || inspection.log_fault.is_some() {
        faults.push(format!("{id}: {:?}, {:?}", inspection.health, inspection.log_fault));
    }
    let timeline = store.timeline(project, id).await.unwrap();
    let mut titles: BTreeMap<u64, String> = BTreeMap::new();
    for commit in &timeline.commits {
        let kept = store.revision(project, id, commit.revision).await;
        let title = kept.map(|kept| kept.data.value()["title"].as_str().unwrap_or("").to_owned());
        if titles.insert(commit.revision.get(), title.unwrap_or_default()).is_some() {
            faults.push(format!("{id}: two records of revision {}", commit.revision));
        }
    }
    for (_, revision, title) in said.committed.iter().filter(|(of, ..)| of == id) {
        if titles.get(revision) != Some(title) {
            faults.push(format!("{id}: `{title}` is not revision {revision}"));
        }
    }
    for (_, title) in said.refused.iter().filter(|(of, _)| of == id) {
        if titles.values().any(|there| there == title) {
            faults.push(format!("{id}: `{title}` was refused and is there"));
        }
    }
    let history = store.history(project, id).await.unwrap();
    let (mut closed, mut begun, mut slots) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for record in history.records.iter().rev() {
        let refresh = &record.refresh_id;
        if record.step == RecordStep::Started {
            if !begun.insert(refresh.clone()) {
                faults.push(format!("{id}: {refresh} begins twice"));
            }
            if !slots.insert(record.slot) {
                faults.push(format!("{id}: slot {:?} ran twice", record.slot));
            }
        }
        if closed.contains(refresh) {
            faults.push(format!("{id}: a record of {refresh} after its last one"));
        }
        if record.step.is_last() {
            closed.insert(refresh.clone());
        }
    }
    for (_, refresh) in said.begun.iter().filter(|(of, _)| of == id) {
        if !begun.contains(refresh) {
            faults.push(format!("{id}: {refresh} began and is not there"));
        }
    }
    faults
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_was_acknowledged_is_there_after_lost_answers_and_crashes() {
    let faults = play(1, None, 2).await;
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Plays histories until the check finds the fault that was planted.
async fn is_found(planted: Planted) {
    for seed in 1..=5 {
        if !play(seed, Some(planted), 0).await.is_empty() {
            return;
        }
    }
    panic!("{planted:?} was not found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_without_the_fence_is_found() {
    is_found(Planted::NoFence).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_that_does_not_lock_the_row_is_found() {
    is_found(Planted::NoRowLock).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_that_takes_a_lost_answer_for_a_refusal_is_found() {
    is_found(Planted::LostIsRefused).await;
}
