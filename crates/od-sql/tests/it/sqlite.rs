//! SQLite databases of a project as sources.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use od_core::credential::Scrubber;
use od_core::ids::{ProjectId, Timestamp};
use od_core::json::Value;
use od_fs::{DataDir, DiskProjectFiles, FileProjectRegistry};
use od_ports::connector_provider::{ConnectorProvider as _, ProviderError, ToolCall};
use od_ports::contract::query_engine::run;
use od_ports::contract::{ConnectorTrial, check_connector_provider};
use od_ports::project_registry::{Project, ProjectRegistry as _};
use od_sql::{SqliteConnector, SqliteEngine};
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

struct Scene {
    _home: TempDir,
    root: TempDir,
    connector: SqliteConnector,
}

fn project() -> ProjectId {
    "web".parse().expect("a good id")
}

async fn scene() -> Scene {
    let (home, root) = (TempDir::new().expect("a home"), TempDir::new().expect("a root"));
    let data = DataDir::open(&home.path().join("data")).expect("a data directory");
    let registry = Arc::new(FileProjectRegistry::new(data.clone()));
    let project = Project {
        id: project(),
        name: "Web".to_owned(),
        root: Some(root.path().to_path_buf()),
        created_at: Timestamp::from_unix_ms(0),
        allow_schedules: false,
    };
    registry.create(project).await.expect("a project");
    let files = DiskProjectFiles::new(registry, data);
    Scene { _home: home, root, connector: SqliteConnector::new(Arc::new(files)) }
}

impl Scene {
    fn database(&self, name: &str) -> Connection {
        let connection = Connection::open(self.root.path().join(name)).expect("a database");
        connection
            .execute_batch(
                "CREATE TABLE orders(id INTEGER PRIMARY KEY, customer TEXT NOT NULL, total REAL, at TEXT, raw_bytes BLOB);
                 CREATE VIEW large AS SELECT * FROM orders WHERE total > 10;
                 INSERT INTO orders VALUES (1, 'ada', 10.5, '2026-04-01', x'0102'), (2, 'bob', 20, '2026-04-02', NULL),
                     (9007199254740993, 'ada', NULL, NULL, NULL);",
            )
            .expect("a schema");
        connection
    }

    async fn call(&self, tool: &str, input: Value) -> Result<Value, ProviderError> {
        let call = ToolCall {
            project: project(),
            tool: tool.parse().expect("a name"),
            input: input.as_object().expect("an object").clone(),
            secret: None,
            scrubber: Arc::new(Scrubber::new([""; 0])),
        };
        self.connector.execute(call).await.map(|raw| raw.output.to_value())
    }

    async fn query(&self, path: &str, sql: &str) -> Result<Value, ProviderError> {
        self.call("sqlite.query", json!({ "path": path, "sql": sql })).await
    }

    /// Every file with its bytes and times, and the directory's own time.
    fn state(&self) -> Vec<(String, i64, i64, Vec<u8>)> {
        let mut found: Vec<_> = fs::read_dir(self.root.path())
            .expect("a directory")
            .map(|entry| {
                let path = entry.expect("an entry").path();
                let metadata = fs::symlink_metadata(&path).expect("metadata");
                let bytes = fs::read(&path).unwrap_or_default();
                (path.display().to_string(), metadata.mtime(), metadata.mtime_nsec(), bytes)
            })
            .collect();
        let own = fs::metadata(self.root.path()).expect("metadata");
        found.push((String::new(), own.mtime(), own.mtime_nsec(), Vec::new()));
        found.sort();
        found
    }
}

#[tokio::test]
async fn the_connector_keeps_the_contract() {
    let scene = scene().await;
    drop(scene.database("shop.db"));
    let input =
        json!({ "path": "shop.db", "sql": "SELECT id FROM orders WHERE id < ?", "params": [5] });
    let trial = ConnectorTrial {
        project: project(),
        tool: "sqlite.query".parse().expect("a name"),
        input: input.as_object().expect("an object").clone(),
        secret: None,
    };
    check_connector_provider(&scene.connector, &trial).await;
}

#[tokio::test]
async fn rows_and_schema_are_read_and_the_directory_stays_as_it_is() {
    let scene = scene().await;
    drop(scene.database("shop.db"));
    let before = scene.state();
    let sql = "SELECT customer, count(*) AS n, sum(total) AS total FROM orders GROUP BY customer ORDER BY customer";
    assert_eq!(
        scene.query("shop.db", sql).await.expect("rows"),
        json!({ "columns": ["customer", "n", "total"], "count": 2, "rows": [
            { "customer": "ada", "n": 2, "total": 10.5 }, { "customer": "bob", "n": 1, "total": 20 },
        ]})
    );
    let rows = scene
        .query("shop.db", "SELECT id, raw_bytes AS bytes FROM orders ORDER BY id")
        .await
        .expect("rows");
    assert_eq!(rows["rows"][0], json!({ "id": 1, "bytes": "blob (2 bytes)" }));
    assert_eq!(rows["rows"][2]["id"], json!("9007199254740993"), "never rounded");
    let input = json!({ "path": "shop.db", "sql": "SELECT id FROM large WHERE customer = ? AND total > ?", "params": ["bob", 1.5] });
    assert_eq!(
        scene.call("sqlite.query", input).await.expect("rows")["rows"],
        json!([{ "id": 2 }])
    );
    let schema = scene.call("sqlite.schema", json!({ "path": "shop.db" })).await.expect("a schema");
    assert_eq!(
        schema["rows"][5],
        json!({ "table": "orders", "kind": "table", "column": "id", "type": "INTEGER", "required": 0, "key": 1 })
    );
    assert_eq!(scene.state(), before);
}

#[tokio::test]
async fn every_way_to_write_is_refused() {
    let scene = scene().await;
    drop(scene.database("shop.db"));
    let before = scene.state();
    for sql in [
        "INSERT INTO orders(id) VALUES (5)",
        "ATTACH 'other.db' AS o",
        "VACUUM INTO 'copy.db'",
        "PRAGMA journal_mode = WAL",
        "WITH x AS (SELECT 7) INSERT INTO orders(id) SELECT * FROM x",
        "WITH x AS (SELECT 7) DELETE FROM orders WHERE id IN x",
        "SELECT load_extension('x')",
        "SELECT writefile('x', 'y')",
        "SELECT * FROM pragma_journal_mode",
        "SELECT * FROM pragma_table_info('orders')",
        "SELECT 1; DROP TABLE orders",
        "EXPLAIN SELECT 1",
    ] {
        let fault = scene.query("shop.db", sql).await.expect_err(sql);
        assert!(
            matches!(fault, ProviderError::Input { .. } | ProviderError::Forbidden { .. }),
            "{sql}: {fault:?}"
        );
    }
    assert_eq!(scene.state(), before);
    let fault = scene.query("shop.db", "SELECT custmer FROM orders").await.expect_err("unknown");
    assert!(fault.to_string().contains("`customer` is the nearest name"), "{fault}");
    let fault = scene.query("shop.db", "SELECT ?").await.expect_err("no value");
    assert!(matches!(fault, ProviderError::Input { .. }), "{fault}");
}

/// The program holds the database open in WAL mode; what it has committed is in the log alone.
#[tokio::test]
async fn a_database_in_use_by_another_process_is_read_and_nothing_appears_beside_it() {
    let scene = scene().await;
    let mut program = Command::new("sqlite3")
        .args(["-batch", "live.db"])
        .current_dir(scene.root.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the sqlite3 program runs; the test command installs it");
    let mut stdin = program.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(program.stdout.take().expect("a pipe")).lines();
    let mut say = |text: &str| {
        writeln!(stdin, "{text}\nSELECT 'done';").expect("it listens");
        stdin.flush().expect("it listens");
        while lines.next().expect("it answers").expect("text") != "done" {}
    };
    say(
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t(a); INSERT INTO t VALUES (1);",
    );
    assert!(fs::metadata(scene.root.path().join("live.db-wal")).expect("a log").len() > 0);
    let before = scene.state();
    assert_eq!(
        scene.query("live.db", "SELECT sum(a) AS s FROM t").await.expect("rows")["rows"],
        json!([{ "s": 1 }])
    );
    assert_eq!(scene.state(), before, "nothing appears, nothing changes");
    say("INSERT INTO t VALUES (41); BEGIN; INSERT INTO t VALUES (1000);");
    let before = scene.state();
    assert_eq!(
        scene.query("live.db", "SELECT sum(a) AS s FROM t").await.expect("rows")["rows"],
        json!([{ "s": 42 }])
    );
    assert_eq!(scene.state(), before);
    say("COMMIT; PRAGMA wal_checkpoint(TRUNCATE);");
    assert_eq!(
        scene.query("live.db", "SELECT sum(a) AS s FROM t").await.expect("rows")["rows"],
        json!([{ "s": 1042 }])
    );
    drop(stdin);
    program.wait().expect("it ends");
}

#[tokio::test]
async fn links_and_other_files_are_not_databases() {
    let scene = scene().await;
    let outside = TempDir::new().expect("a directory");
    let elsewhere = outside.path().join("secret.db");
    Connection::open(&elsewhere)
        .expect("a database")
        .execute_batch("CREATE TABLE t(a)")
        .expect("a table");
    let link =
        |from: &Path, name: &str| symlink(from, scene.root.path().join(name)).expect("a link");
    link(&elsewhere, "link.db");
    link(outside.path(), "folder");
    drop(scene.database("shop.db"));
    link(&elsewhere, "shop.db-wal");
    fs::write(scene.root.path().join("text.db"), "not a database").expect("a file");
    fs::write(scene.root.path().join("empty.db"), "").expect("a file");
    let mut torn = fs::read(scene.root.path().join("shop.db")).expect("bytes");
    torn.truncate(5_000);
    torn[100..300].fill(0xff);
    fs::write(scene.root.path().join("torn.db"), torn).expect("a file");
    for path in [
        "link.db",
        "folder/secret.db",
        "shop.db",
        "text.db",
        "empty.db",
        "torn.db",
        "none.db",
        ".env",
    ] {
        let fault = scene.query(path, "SELECT * FROM t").await.expect_err(path);
        assert!(
            matches!(
                fault,
                ProviderError::Forbidden { .. }
                    | ProviderError::Malformed { .. }
                    | ProviderError::Missing { .. }
            ),
            "{path}: {fault:?}"
        );
    }
}

#[tokio::test]
async fn the_example_of_the_documentation_runs() {
    let scene = scene().await;
    fs::create_dir(scene.root.path().join("data")).expect("a folder");
    drop(scene.database("data/shop.db"));
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/connectors.md");
    let docs = fs::read_to_string(docs).expect("the documentation");
    let mut examples = 0;
    for block in docs.split("```json\n").skip(1) {
        let text = block.split("```").next().expect("a block");
        let example: Value = serde_json::from_str(text).expect("JSON");
        let tool = example["tool"].as_str().expect("a tool");
        if tool.starts_with("sqlite.") {
            let rows = scene.call(tool, example["input"].clone()).await.expect("rows");
            assert_eq!(rows["rows"][0], json!({ "customer": "bob", "total": 20 }));
            examples += 1;
        }
    }
    assert_eq!(examples, 1);
}

#[tokio::test]
async fn functions_of_long_texts_end_in_time() {
    let scene = scene().await;
    // SQLite's own `instr` compares 4 MiB with 2 MiB place by place: an hour a row.
    scene
        .database("shop.db")
        .execute_batch(
            "CREATE TABLE long(a TEXT, b TEXT);
             INSERT INTO long SELECT replace(hex(zeroblob(2097152)), '0', 'a') || 'b',
                 replace(hex(zeroblob(1048576)), '0', 'a') || 'c';",
        )
        .expect("long texts");
    let sql = "SELECT instr(a, b) AS i, length(trim(a, b)) AS t, length(replace(a, b, 'x')) AS r FROM long";
    let rows = scene.query("shop.db", sql).await.expect("rows");
    assert_eq!(rows["rows"][0], json!({ "i": 0, "t": 1, "r": 4_194_305 }));
}

#[tokio::test]
async fn a_large_query_of_a_database_leaves_the_heap_to_the_queries_of_artifacts() {
    // Each holds some 95 MB at once: within the heap alone, and beyond it two at a time.
    const LARGE: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 24000) \
         SELECT count(DISTINCT printf('%02000d', i)) AS texts FROM n";
    let scene = scene().await;
    scene.database("shop.db");
    let of_artifacts = || run(&SqliteEngine, Vec::new(), &[LARGE]);
    let (one, two, three, four) = tokio::join!(
        of_artifacts(),
        scene.query("shop.db", LARGE),
        of_artifacts(),
        scene.query("shop.db", LARGE)
    );
    for results in [one, three] {
        assert!(results[0].is_ok(), "{results:?}");
    }
    for rows in [two, four] {
        assert_eq!(rows.expect("rows")["rows"], json!([{ "texts": 24_000 }]));
    }
}

#[tokio::test]
async fn an_endless_query_ends_at_the_rows_and_bytes_allowed_within_64_mib() {
    let peak_mib = || {
        let status = fs::read_to_string("/proc/self/status").expect("Linux");
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
        line.split_whitespace().nth(1).expect("a number").parse::<u64>().expect("a number") / 1024
    };
    let scene = scene().await;
    scene
        .database("shop.db")
        .execute_batch("CREATE TABLE long AS SELECT hex(zeroblob(500000)) AS x")
        .expect("a long text");
    let (state, before) = (scene.state(), peak_mib());
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
    for select in ["SELECT i FROM n", "SELECT x FROM n, long"] {
        let fault = scene.query("shop.db", &format!("{endless} {select}")).await.expect_err(select);
        assert!(matches!(fault, ProviderError::OutOfBounds { .. }), "{select}: {fault:?}");
    }
    let grown = peak_mib() - before;
    assert!(grown <= 64, "memory grew by {grown} MiB");
    assert_eq!(scene.state(), state);
}

#[tokio::test]
async fn a_query_without_an_end_ends_at_its_time_and_says_so() {
    let scene = scene().await;
    scene
        .database("shop.db")
        .execute_batch(
            "CREATE TABLE long AS SELECT replace(hex(zeroblob(131072)), '0', 'a') AS a;
             CREATE TABLE many AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000)
                 SELECT i FROM n;",
        )
        .expect("long texts");
    let state = scene.state();
    let allowed = od_core::limits::SQLITE_TIMEOUT.allowed;
    let message = format!("the query ran longer than {allowed} milliseconds");
    // Both at once: each takes the whole time.
    let recursion =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let functions = "SELECT sum(instr(a, substr(a, 5) || i)) + sum(length(trim(a, 'ab' || i))) + \
                     sum(a || i LIKE '%a%a%a%a%a%a%a%a%ab%') FROM long, many";
    let (one, other) =
        tokio::join!(scene.query("shop.db", recursion), scene.query("shop.db", functions));
    for fault in [one.expect_err(recursion), other.expect_err(functions)] {
        assert_eq!(fault, ProviderError::TimedOut { message: message.clone() });
    }
    assert_eq!(scene.state(), state);
}

#[tokio::test]
async fn a_value_that_is_too_long_names_the_limit_of_values() {
    let scene = scene().await;
    scene
        .database("shop.db")
        .execute_batch("CREATE TABLE long AS SELECT replace(hex(zeroblob(2097152)), '0', 'a') AS a")
        .expect("a long text");
    for large in [
        "SELECT replace(a, 'a', 'xyz') FROM long",
        "SELECT a || a || a FROM long",
        "SELECT group_concat(a) FROM long, (VALUES (1), (2), (3))",
    ] {
        let fault = scene.query("shop.db", large).await.expect_err(large);
        let ProviderError::OutOfBounds { message, limit } = fault else {
            panic!("{large}: {fault:?}")
        };
        assert_eq!(limit, od_core::limits::SQLITE_VALUE.want(), "{large}");
        assert!(message.contains("8388608 bytes"), "{message}");
    }
}
