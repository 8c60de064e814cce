//! Hostile inputs through whole artifacts: a page that was good, then a source turned bad. The refresh
//! ends with a typed failure within 64 MiB more, the last good page stays byte for byte, a new artifact
//! of the same source is refused or warned of, and nothing beside the project's files was touched.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use od_app::artifacts::{CreateArtifact, Reading};
use od_app::{Caller, Mode};
use od_core::connector::{RegisteredService, ServiceName};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, Timestamp};
use od_core::json::{Message, Value};
use od_core::refresh::RecordStatus;
use serde_json::json;

use crate::http_server::{Answer, TestServer};
use crate::providers::github::peak_mib;
use crate::world::{World, project};

const MIB_MAX: u64 = 64;
const GRANTED: &str = "manual_refresh_granted_for_read_only";

fn body(source: &Value, sql: &str) -> Value {
    let mut source = source.clone();
    source["id"] = json!("t");
    json!({ "input": { "title": "T", "document": {
        "dataJson": { "n": 0 },
        "sources": [source],
        "queries": [{ "to": "n", "sql": sql, "shape": "value" }],
        "refreshPermission": GRANTED } },
        "templateHtml": "<!doctype html><title>T</title><p>{{data.n}}</p>" })
}

fn file(path: &str) -> Value {
    json!({ "type": "local_file", "input": { "path": path } })
}

fn http(path: &str) -> Value {
    json!({
        "type": "connector_tool",
        "connector": { "connectorId": "http", "toolName": "http.get_text" },
        "input": { "source": "demo", "path": path },
    })
}

fn sqlite(sql: &str) -> Value {
    json!({
        "type": "daemon_tool", "toolName": "sqlite.query",
        "input": { "path": "data.db", "sql": sql },
    })
}

/// Creates an artifact, and returns the codes of the warnings with it.
async fn create(world: &World, body: &Value) -> Result<(ArtifactId, Vec<String>), Failure> {
    let body = Message::read(body.to_string().as_bytes()).unwrap();
    let request = CreateArtifact { project: project(), body, reading: Reading::Now };
    let created = od_app::artifacts::create(&world.app, &Caller::Person, request, Mode::Commit);
    let created = created.await.map_err(Failure::from)?;
    Ok((created.stored.id.clone(), created.warnings.into_iter().map(|it| it.code).collect()))
}

/// Name, length, times and, of small files, the bytes of everything in the project but the store, which
/// these worlds keep below the root.
fn project_state(root: &Path) -> Vec<(String, u64, i64, i64, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).unwrap().map(Result::unwrap) {
        let (path, metadata) = (entry.path(), entry.metadata().unwrap());
        if path.ends_with("store") {
            continue;
        }
        let is_small = metadata.is_file() && metadata.len() < 4_000_000;
        let bytes = if is_small { fs::read(&path).unwrap() } else { Vec::new() };
        let name = path.display().to_string();
        found.push((name, metadata.len(), metadata.mtime(), metadata.mtime_nsec(), bytes));
    }
    found.sort();
    let root = fs::metadata(root).unwrap();
    found.push((String::new(), 0, root.mtime(), root.mtime_nsec(), Vec::new()));
    found
}

/// Makes a page of a good source, turns the source bad, and checks everything that must hold.
async fn check(world: &World, body: Value, spoil: impl FnOnce(&Path), codes: &[ErrorCode]) {
    let (artifact, warnings) = create(world, &body).await.unwrap();
    assert_eq!(warnings, [""; 0]);
    world.clock.advance_ms(60_000);
    world.refresh(&artifact).await.unwrap();
    let good = world.generation(&artifact).await;
    let shown = world.data(&artifact).await;
    assert_eq!(shown["n"], 2, "the page was good");

    spoil(&world.root());
    let (files, peak) = (project_state(&world.root()), peak_mib());
    world.clock.advance_ms(60_000);
    let failure = Failure::from(world.refresh(&artifact).await.unwrap_err());
    assert!(codes.contains(&failure.code), "{failure:?}");
    assert!(!failure.suggestion.is_empty(), "{failure:?}");
    let created = create(world, &body).await;
    let grown = peak_mib() - peak;
    assert!(grown <= MIB_MAX, "memory grew by {grown} MiB: {failure:?}");
    assert_eq!(project_state(&world.root()), files, "the project's files stay as they are");

    assert_eq!(world.generation(&artifact).await, good, "the last good page stays");
    assert_eq!(world.data(&artifact).await, shown);
    let last = world.terminal_records(&artifact).await.remove(0);
    assert_eq!(last.status, RecordStatus::Failed);
    assert_eq!(last.error.unwrap().code, failure.code);
    // A source that cannot be read now may be read later, a query that fails on its rows cannot.
    match created {
        Ok((_, warnings)) => assert!(!warnings.is_empty(), "create says nothing of {failure:?}"),
        Err(refused) => assert_eq!(refused.code, failure.code),
    }
}

const COUNT: &str = "SELECT count(*) FROM t";

async fn check_file(spoil: impl FnOnce(&Path)) {
    let world = World::new().await;
    fs::write(world.root().join("in.csv"), "a,b\n1,2\n3,4\n").unwrap();
    let codes = [ErrorCode::ConnectorOutputTooLarge, ErrorCode::SourceUnreadable];
    let spoil = |root: &Path| spoil(&root.join("in.csv"));
    check(&world, body(&file("in.csv"), COUNT), spoil, &codes).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_csv_file_of_ten_gigabytes() {
    // Sparse: it takes no room on the disk.
    check_file(|path| File::create(path).unwrap().set_len(10 << 30).unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_csv_file_of_a_million_columns() {
    check_file(|path| fs::write(path, vec![b','; 1_000_000]).unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_csv_file_that_is_not_utf_8() {
    check_file(|path| fs::write(path, b"a,b\n\xff\xfe,1\n").unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_csv_file_that_became_a_gzip_bomb() {
    // The head of a gzip stream and then whatever a bomb has: no file is ever unpacked.
    let mut bomb = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03".to_vec();
    bomb.resize(30 << 20, 0x55);
    check_file(move |path| fs::write(path, &bomb).unwrap()).await;
}

async fn check_service(bad: Answer) {
    let is_bad = Arc::new(AtomicBool::new(false));
    let served = Arc::clone(&is_bad);
    let server = TestServer::start(move |_| {
        if served.load(Ordering::Relaxed) {
            return bad.clone();
        }
        Answer::text(200, "a,b\n1,2\n3,4\n").with("content-type", "text/csv")
    })
    .await;
    let world = World::new().await;
    let name: ServiceName = "demo".parse().unwrap();
    let service = RegisteredService {
        name,
        url: server.url().parse().unwrap(),
        header: None,
        registered_at: Timestamp::from_unix_ms(0),
    };
    world.app.ports.services.put(service).await.unwrap();
    let codes = [ErrorCode::ConnectorOutputTooLarge, ErrorCode::SourceUnreadable];
    let spoil = |_: &Path| is_bad.store(true, Ordering::Relaxed);
    check(&world, body(&http("in.csv"), COUNT), spoil, &codes).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_end() {
    check_service(Answer::Flood { bytes: 1 << 40 }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_a_gzip_bomb() {
    let bomb = Answer::text(200, "\u{1f}as small as it likes").with("content-encoding", "gzip");
    check_service(bomb).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_a_million_columns() {
    let wide = Answer::text(200, &",".repeat(1_000_000)).with("content-type", "text/csv");
    check_service(wide).await;
}

/// The rows decide how far it counts: with the first ones it ends at once.
const RECURSIVE: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < (SELECT max(b) FROM t)) \
    SELECT count(*) FROM n";

#[tokio::test(flavor = "multi_thread")]
async fn a_query_whose_recursion_became_endless() {
    let world = World::new().await;
    fs::write(world.root().join("in.csv"), "a,b\n1,2\n").unwrap();
    let spoil = |root: &Path| fs::write(root.join("in.csv"), "a,b\n1,9000000000000000\n").unwrap();
    check(&world, body(&file("in.csv"), RECURSIVE), spoil, &[ErrorCode::QueryFailed]).await;
}

fn database(root: &Path, sql: &str) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(root.join("data.db")).unwrap();
    connection.execute_batch(sql).unwrap();
    connection
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_became_a_link() {
    let world = World::new().await;
    drop(database(&world.root(), "CREATE TABLE t(b); INSERT INTO t VALUES (1), (2)"));
    let outside = tempfile::TempDir::new().unwrap();
    let spoil = |root: &Path| {
        fs::rename(root.join("data.db"), outside.path().join("data.db")).unwrap();
        symlink(outside.path().join("data.db"), root.join("data.db")).unwrap();
    };
    let codes = [ErrorCode::ConnectorSafetyDenied];
    check(&world, body(&sqlite("SELECT b FROM t"), COUNT), spoil, &codes).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_in_use_is_read_as_committed_and_left_alone() {
    let world = World::new().await;
    let writer = database(
        &world.root(),
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t(b); INSERT INTO t VALUES (1), (2)",
    );
    let body = body(&sqlite("SELECT b FROM t"), COUNT);
    let (artifact, _) = create(&world, &body).await.unwrap();
    // One row is committed to the log alone, another is being written while the refresh reads.
    writer
        .execute_batch("INSERT INTO t VALUES (3); BEGIN IMMEDIATE; INSERT INTO t VALUES (4)")
        .unwrap();
    let (files, peak) = (project_state(&world.root()), peak_mib());
    world.clock.advance_ms(60_000);
    world.refresh(&artifact).await.unwrap();
    assert!(peak_mib() - peak <= MIB_MAX);
    assert_eq!(project_state(&world.root()), files, "nothing appears beside it or changes");
    assert_eq!(world.data(&artifact).await["n"], 3);
    writer.execute_batch("COMMIT").unwrap();
    world.clock.advance_ms(60_000);
    world.refresh(&artifact).await.unwrap();
    assert_eq!(world.data(&artifact).await["n"], 4);
}
