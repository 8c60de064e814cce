//! Measures the store beside bare transactions that write the same bytes, on a server of its own that syncs.
//!
//! `cargo run --release -p od-postgres --features real-postgres --example figures`

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement stops and prints")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use od_core::ids::ProjectId;
use od_core::ledger::{CommitKind, RefreshStart};
use od_core::refresh::{RecordStatus, RecordStep, RefreshRecord};
use od_pgconn::cluster::{Cluster, PASSWORD};
use od_ports::contract::sample;
use od_ports::fakes::StillClock;
use od_ports::store::{ArtifactStore, RefreshLog as _};
use od_postgres::{PasswordSources, PgStore};

const ROUNDS: u32 = 300;

#[tokio::main]
async fn main() {
    let templates = std::env::temp_dir();
    let cluster = Cluster::start_durable(templates);
    let address = format!("postgres://postgres@127.0.0.1:{}/shop", cluster.port());
    let passwords = PasswordSources { password: Some(PASSWORD.to_owned()), file: None };
    let clock = Arc::new(StillClock::at(sample::now()));
    let store = PgStore::new(address.parse().unwrap(), passwords, clock, [1; 16]);
    store.migrate().await.unwrap();
    cluster.execute(
        "INSERT INTO od.project(id, name, created_at) VALUES ('p1', 'p1', 0); \
         CREATE TABLE bare(id bigint GENERATED ALWAYS AS IDENTITY, bytes bytea)",
    );
    let project: ProjectId = "p1".parse().unwrap();
    let bare = bare(&cluster).await;
    let mut creates = Vec::new();
    for number in 0..1_000 {
        let new = sample::new(&project, &sample::id(number), "measured");
        let started = Instant::now();
        store.create(new, sample::note(CommitKind::Create)).await.unwrap();
        creates.push(started.elapsed());
    }
    let mut refreshes = Vec::new();
    for number in 0..ROUNDS {
        refreshes.push(refresh(&store, &project, number % 100).await);
    }
    let cold = Instant::now();
    assert_eq!(store.list(&project).await.unwrap().len(), 1_000);
    let cold = cold.elapsed();
    let (mut lists, mut loads) = (Vec::new(), Vec::new());
    for number in 0..ROUNDS {
        let started = Instant::now();
        assert_eq!(store.list(&project).await.unwrap().len(), 1_000);
        lists.push(started.elapsed());
        let started = Instant::now();
        store.load(&project, &sample::id(number % 100)).await.unwrap();
        loads.push(started.elapsed());
    }
    let floor = median(bare);
    println!("bare transaction, same bytes   {}", shown(floor));
    beside("create", median(creates), floor, 1);
    beside("refresh (begin and commit)", median(refreshes), floor, 2);
    println!("list of 1,000, first           {}", shown(cold));
    println!("list of 1,000, nothing new     {}", shown(median(lists)));
    println!("load, nothing new              {}", shown(median(loads)));
}

/// One transaction with one row of as many bytes as a create writes.
async fn bare(cluster: &Cluster) -> Vec<Duration> {
    let mut config = tokio_postgres::Config::new();
    config.user("postgres").password(PASSWORD).dbname("shop");
    let stream = tokio::net::TcpStream::connect(("127.0.0.1", cluster.port())).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut client, driver) = config.connect_raw(stream, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(driver);
    let bytes = vec![b'x'; 4_000];
    let mut taken = Vec::new();
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let transaction = client.transaction().await.unwrap();
        transaction.execute("INSERT INTO bare(bytes) VALUES ($1)", &[&bytes]).await.unwrap();
        transaction.commit().await.unwrap();
        taken.push(started.elapsed());
    }
    taken
}

async fn refresh(store: &PgStore, project: &ProjectId, number: u32) -> Duration {
    let id = sample::id(number);
    let started = Instant::now();
    let start = RefreshStart::manual(sample::now());
    let running = store.begin_refresh(project, &id, start).await.unwrap();
    let gate = store.open_gate(project, &id).await.unwrap();
    let state = gate.stored().state.clone().unwrap();
    let mut change = sample::change(&state, &format!("refreshed {}", running.id));
    let (step, status) = (RecordStep::Committed, RecordStatus::Succeeded);
    change.refresh = Some(RefreshRecord::new(running.id.clone(), step, status, sample::now()));
    store.commit(&gate.witness(), change).await.unwrap();
    started.elapsed()
}

fn median(mut taken: Vec<Duration>) -> Duration {
    taken.sort_unstable();
    taken[taken.len() / 2]
}

fn shown(taken: Duration) -> String {
    format!("{:.2} ms", taken.as_secs_f64() * 1000.0)
}

fn beside(name: &str, taken: Duration, floor: Duration, transactions: u32) {
    let times = taken.as_secs_f64() / (floor.as_secs_f64() * f64::from(transactions));
    println!("{name:<30} {} = {times:.1} x {transactions} bare", shown(taken));
}
