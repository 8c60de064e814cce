//! Connections that break at COMMIT, servers that crash, holders that stop: acknowledged is there, once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use od_core::artifact::RefreshStatus;
use od_core::ids::RefreshId;
use od_core::ledger::{CommitKind, RefreshStart};
use od_core::refresh::{RecordStatus, RecordStep, RefreshRecord};
use od_ports::contract::sample;
use od_ports::store::{
    ArtifactStore, Outcome, Reach, RefreshLog as _, RevisionStore as _, StoreError,
    StoreMaintenance as _, StorePlace, Trash as _,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::hostile::commit;
use crate::team::Team;

/// What the way to the server does with the next COMMIT.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fate {
    /// The server gets it, and its answer is lost.
    SwallowAnswer = 1,
    /// The server never gets it.
    SwallowQuestion = 2,
}

/// A way to the server on which answers get lost.
pub(crate) struct Wire {
    pub(crate) port: u16,
    next: Arc<AtomicU8>,
}

impl Wire {
    pub(crate) async fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own = listener.local_addr().unwrap().port();
        let next = Arc::new(AtomicU8::new(0));
        let fate = Arc::clone(&next);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                // A server that is down takes nobody: the connection ends as it would.
                if let Ok(server) = TcpStream::connect(("127.0.0.1", port)).await {
                    tokio::spawn(carry(client, server, Arc::clone(&fate)));
                }
            }
        });
        Self { port: own, next }
    }

    pub(crate) fn at_next_commit(&self, fate: Fate) {
        self.next.store(fate as u8, Ordering::SeqCst);
    }
}

async fn carry(mut client: TcpStream, mut server: TcpStream, fate: Arc<AtomicU8>) {
    let (mut question, mut answer) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = client.read(&mut question) => {
                let Ok(length @ 1..) = read else { return };
                let bytes = &question[..length];
                let is_commit = bytes.windows(7).any(|window| window == b"COMMIT\0");
                let now = if is_commit { fate.swap(0, Ordering::SeqCst) } else { 0 };
                if now == Fate::SwallowQuestion as u8 {
                    return;
                }
                if server.write_all(bytes).await.is_err() { return }
                if now == Fate::SwallowAnswer as u8 {
                    // The server is done once it has answered; nobody gets to know.
                    let _ = server.read(&mut answer).await;
                    return;
                }
            }
            read = server.read(&mut answer) => {
                let Ok(length @ 1..) = read else { return };
                if client.write_all(&answer[..length]).await.is_err() { return }
            }
        }
    }
}

fn is_not_done<T: std::fmt::Debug>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Unavailable { outcome: Outcome::NotDone, .. }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_answer_is_lost_is_asked_for_and_not_repeated() {
    let team = Team::start().await;
    let wire = Wire::to(team.cluster.port()).await;
    let (project, id) = (team.project("p1"), sample::id(1));
    let store = team.machine_at(wire.port, "postgres");
    wire.at_next_commit(Fate::SwallowAnswer);
    let new = || sample::new(&project, &id, "made");
    store.create(new(), sample::note(CommitKind::Create)).await.expect("it is there");
    wire.at_next_commit(Fate::SwallowAnswer);
    commit(&store, &project, &id, "changed").await.expect("it is there");
    wire.at_next_commit(Fate::SwallowAnswer);
    let start = || RefreshStart::manual(sample::now());
    let running = store.begin_refresh(&project, &id, start()).await.expect("it has begun");
    assert_eq!(running.id, RefreshId::from_number(1));
    wire.at_next_commit(Fate::SwallowAnswer);
    let failed = |id: &RefreshId| {
        let (step, status) = (RecordStep::Failed, RecordStatus::Failed);
        RefreshRecord::new(id.clone(), step, status, sample::now())
    };
    store.append_record(&project, &id, failed(&running.id)).await.expect("it is there");
    wire.at_next_commit(Fate::SwallowAnswer);
    store.delete(&project, &id, None).await.expect("it is in the trash");
    wire.at_next_commit(Fate::SwallowAnswer);
    store.restore(&project, &id).await.expect("it is back");
    let other = team.machine();
    let timeline = other.timeline(&project, &id).await.unwrap();
    assert_eq!(timeline.commits.len(), 2, "each commit once");
    assert_eq!(other.history(&project, &id).await.unwrap().records.len(), 2, "each record once");
    assert!(other.inspect(&project, &id).await.unwrap().log_fault.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_never_arrived_is_told_to_be_none() {
    let team = Team::start().await;
    let wire = Wire::to(team.cluster.port()).await;
    let (project, id) = (team.project("p1"), sample::id(1));
    let store = team.machine_at(wire.port, "postgres");
    wire.at_next_commit(Fate::SwallowQuestion);
    let new = || sample::new(&project, &id, "made");
    let lost = store.create(new(), sample::note(CommitKind::Create)).await;
    assert!(is_not_done(&lost), "{lost:?}");
    store.create(new(), sample::note(CommitKind::Create)).await.unwrap();
    wire.at_next_commit(Fate::SwallowQuestion);
    let lost = commit(&store, &project, &id, "changed").await;
    assert!(is_not_done(&lost), "{lost:?}");
    wire.at_next_commit(Fate::SwallowQuestion);
    let lost = store.begin_refresh(&project, &id, RefreshStart::manual(sample::now())).await;
    assert!(is_not_done(&lost), "{lost:?}");
    wire.at_next_commit(Fate::SwallowQuestion);
    assert!(is_not_done(&store.delete(&project, &id, None).await));
    let other = team.machine();
    assert_eq!(other.timeline(&project, &id).await.unwrap().commits.len(), 1);
    assert!(other.history(&project, &id).await.unwrap().records.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_server_is_down_reads_come_from_memory_and_writes_are_refused() {
    let team =
        Team::on(od_pgconn::cluster::Cluster::start_durable(env!("CARGO_TARGET_TMPDIR"))).await;
    let (project, id, store) = (team.project("p1"), sample::id(1), team.machine());
    store
        .create(sample::new(&project, &id, "made"), sample::note(CommitKind::Create))
        .await
        .unwrap();
    ArtifactStore::list(&store, &project).await.unwrap();
    team.cluster.crash();
    let served = store.load(&project, &id).await.expect("memory has it");
    assert_eq!(served.artifact().unwrap().heading.title, "made");
    assert_eq!(ArtifactStore::list(&store, &project).await.unwrap().len(), 1);
    assert_eq!(store.locate(&id).await.unwrap(), Some(project.clone()));
    let place = |reach| StorePlace::Postgres {
        address: format!("127.0.0.1:{}/shop", team.cluster.port()),
        reach,
    };
    assert_eq!(store.place(), place(Reach::Unreachable));
    assert!(is_not_done(&commit(&store, &project, &id, "lost").await));
    team.cluster.resume();
    // Each try that fails makes the next one wait; the first one after the pause finds the server.
    let again = loop {
        match commit(&store, &project, &id, "after the crash").await {
            Err(StoreError::Unavailable { .. }) => tokio::task::yield_now().await,
            other => break other,
        }
    };
    again.unwrap();
    assert_eq!(store.place(), place(Reach::Reachable));
    let found = store.load(&project, &id).await.unwrap();
    assert_eq!(found.artifact().unwrap().heading.title, "after the crash");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_lapses_by_the_servers_clock_and_its_holder_is_fenced() {
    let team = Team::start().await;
    let (project, id) = (team.project("p1"), sample::id(1));
    let (paused, other) = (team.machine(), team.machine());
    paused
        .create(sample::new(&project, &id, "made"), sample::note(CommitKind::Create))
        .await
        .unwrap();
    let start = || RefreshStart::manual(sample::now());
    let running = paused.begin_refresh(&project, &id, start()).await.unwrap();
    let locked = other.begin_refresh(&project, &id, start()).await;
    assert!(matches!(locked, Err(StoreError::RefreshLocked { .. })), "{locked:?}");
    let seconds = team
        .cluster
        .execute("SELECT extract(epoch FROM until - clock_timestamp())::int FROM od.lease");
    assert!((140..=150).contains(&seconds.parse::<i32>().unwrap()), "{seconds} seconds");
    assert_eq!(
        other.load(&project, &id).await.unwrap().summary.refresh_status,
        RefreshStatus::Running
    );
    // As if so much time had gone by.
    team.cluster.execute("UPDATE od.lease SET until = clock_timestamp() - interval '1 second'");
    let unfinished = other.unfinished_refreshes().await.unwrap();
    assert!(matches!(&unfinished[..], [one] if !one.lock_held));
    let next = other.begin_refresh(&project, &id, start()).await.unwrap();
    assert_eq!(next.abandoned.as_ref().map(|begun| &begun.refresh_id), Some(&running.id));
    let gate = paused.open_gate(&project, &id).await.unwrap();
    let state = gate.stored().state.clone().unwrap();
    let mut change = sample::change(&state, "by the paused holder");
    let (step, status) = (RecordStep::Committed, RecordStatus::Succeeded);
    change.refresh = Some(RefreshRecord::new(running.id.clone(), step, status, sample::now()));
    let late = paused.commit(&gate.witness(), change).await;
    assert!(matches!(late, Err(StoreError::RefreshClosed { .. })), "{late:?}");
    drop(gate);
    // Nor does the paused holder take the other one's lease along as it goes.
    drop(running);
    let locked = paused.begin_refresh(&project, &id, start()).await;
    assert!(matches!(locked, Err(StoreError::RefreshLocked { .. })), "{locked:?}");
    drop(next);
}
