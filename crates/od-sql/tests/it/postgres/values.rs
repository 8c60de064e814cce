//! What queries give, what errors say, who may log in and how.

use od_core::json::Value;
use od_ports::connector_provider::ProviderError;
use od_ports::contract::{ConnectorTrial, check_connector_provider};
use serde_json::json;

use super::{call, query, registered, role, shop};
use od_pgconn::cluster::{Cluster, PASSWORD};

#[tokio::test]
async fn a_query_gives_rows_and_keeps_the_contract() {
    let cluster = shop();
    let connector = registered(&cluster.url("reader")).await;
    let sql = "SELECT customer, count(*) AS n, sum(total) AS total FROM orders WHERE id >= $1 GROUP BY 1 ORDER BY 1";
    let input = json!({ "source": "shop", "sql": sql, "params": [1] });
    let rows = call(&connector, "postgres.query", input.clone()).await.unwrap();
    assert_eq!(
        rows["rows"],
        json!([
            { "customer": "ada", "n": 2, "total": 10.5 },
            { "customer": "bob", "n": 1, "total": 20 },
        ])
    );
    let Value::Object(input) = input else { unreachable!() };
    let (project, tool) = ("web".parse().unwrap(), "postgres.query".parse().unwrap());
    let trial = ConnectorTrial { project, tool, input, secret: None };
    check_connector_provider(&connector, &trial).await;
    let schema = call(&connector, "postgres.schema", json!({ "source": "shop" })).await.unwrap();
    let schema = schema["rows"].as_array().unwrap();
    assert_eq!(
        schema[0],
        json!({
            "schema": "public", "table": "orders", "kind": "table", "column": "id", "type": "integer",
            "required": true, "key": true,
        })
    );
    assert_eq!(schema.len(), 4, "a table that the role may not read is not listed: {schema:?}");
    let wide = "SELECT g AS n FROM generate_series(1, 2500) g";
    assert_eq!(query(&connector, wide).await.unwrap()["count"], 2500, "more than one batch");
}

#[tokio::test]
async fn the_example_of_the_documentation_runs() {
    let cluster = shop();
    let connector = registered(&cluster.url("reader")).await;
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/connectors.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let mut examples = 0;
    for block in docs.split("```json\n").skip(1) {
        let example: Value = serde_json::from_str(block.split("```").next().unwrap()).unwrap();
        let tool = example["tool"].as_str().unwrap();
        if tool.starts_with("postgres.") {
            let rows = call(&connector, tool, example["input"].clone()).await.unwrap();
            assert_eq!(rows["rows"][0], json!({ "customer": "bob", "total": 20 }));
            examples += 1;
        }
    }
    assert_eq!(examples, 1);
}

#[tokio::test]
async fn every_type_becomes_what_the_documentation_says() {
    let cluster = shop();
    cluster.execute("CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE DOMAIN cents AS int8");
    let connector = registered(&cluster.url("reader")).await;
    for (expression, expected) in [
        ("true", json!(true)),
        ("1::int2", json!(1)),
        ("9007199254740993::int8", json!("9007199254740993")),
        ("7::cents", json!(7)),
        ("1.5::float4", json!(1.5)),
        ("'NaN'::float8", json!(null)),
        ("19.90::numeric", json!(19.9)),
        ("12345678901234567.5::numeric", json!("12345678901234567.5")),
        ("'NaN'::numeric", json!(null)),
        ("'12.50'::money", json!("$12.50")),
        ("'é'::text", json!("é")),
        ("'ab'::char(4)", json!("ab  ")),
        ("DATE '2026-05-01'", json!("2026-05-01")),
        ("TIMESTAMP '2026-05-01 10:00:00.25'", json!("2026-05-01T10:00:00.25")),
        ("TIMESTAMPTZ '2026-05-01 10:00:00+02'", json!("2026-05-01T08:00:00Z")),
        ("TIME '10:00'", json!("10:00:00")),
        ("INTERVAL '1 day 2 hours'", json!("P1DT2H")),
        ("'\\x0001ff'::bytea", json!("bytea (3 bytes)")),
        ("'{\"a\": [1]}'::jsonb", json!("{\"a\": [1]}")),
        ("ARRAY[1, 2]", json!("{1,2}")),
        ("to_json(ARRAY[1, 2])", json!("[1,2]")),
        (
            "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid",
            json!("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ),
        ("'10.0.0.1'::inet", json!("10.0.0.1")),
        ("'glad'::mood", json!("glad")),
        ("int4range(1, 3)", json!("[1,3)")),
        ("ROW(1, 'a')", json!("(1,a)")),
        ("NULL::int", json!(null)),
    ] {
        let rows = query(&connector, &format!("SELECT {expression} AS x")).await;
        assert_eq!(rows.unwrap()["rows"][0]["x"], expected, "{expression}");
    }
    for (param, kind) in
        [(json!(5), "int"), (json!("x"), "text"), (json!(true), "bool"), (json!(1.5), "numeric")]
    {
        let sql = format!("SELECT $1::{kind} AS x");
        let input = json!({ "source": "shop", "sql": sql, "params": [param] });
        let rows = call(&connector, "postgres.query", input).await.unwrap();
        assert_eq!(rows["rows"][0]["x"], param, "{kind}");
    }
}

#[tokio::test]
async fn an_error_names_the_place_and_the_nearest_name_and_repeats_no_data() {
    let cluster = shop();
    cluster.execute("INSERT INTO orders VALUES (9, 'row-canary', 1, NULL)");
    let connector = registered(&cluster.url("reader")).await;
    for (sql, want) in [
        (
            "SELECT custmer FROM orders",
            "no column `custmer` at character 8; did you mean `customer`?",
        ),
        ("SELECT id FROM ordres", "no table `ordres` at character 16; did you mean `orders`?"),
        (
            "SELECT id FORM orders",
            "a syntax error at character 16 near `orders`; one SELECT may run, without `;`",
        ),
        ("SELECT nothing(1)", "no function or operator `nothing` at character 8 for these types"),
        ("SELECT customer::int FROM orders WHERE id = 9", "a value does not fit (SQLSTATE 22P02)"),
    ] {
        let Err(ProviderError::Input { message, .. }) = query(&connector, sql).await else {
            panic!("{sql}")
        };
        assert_eq!(message, want, "{sql}");
    }
    let refused = query(&connector, "SELECT * FROM private").await.unwrap_err();
    assert!(matches!(refused, ProviderError::Forbidden { .. }), "{refused:?}");
    let unknown = json!({ "source": "shpo", "sql": "SELECT 1" });
    let unknown = call(&connector, "postgres.query", unknown).await.unwrap_err().to_string();
    assert!(unknown.contains("did you mean `shop`?"), "{unknown}");
    assert!(unknown.contains("od sources add postgres shpo"), "{unknown}");
}

#[tokio::test]
async fn rows_bytes_and_time_are_bounded() {
    let cluster = shop();
    let connector = registered(&cluster.url("reader")).await;
    let peak_mib = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    };
    let before = peak_mib();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    let rows = query(&connector, endless).await.unwrap_err();
    assert!(matches!(rows, ProviderError::OutOfBounds { .. }), "{rows:?}");
    for wide in [
        "SELECT repeat('x', 100000000) AS x",
        "SELECT repeat('x', 1000000) AS x FROM generate_series(1, 1000)",
    ] {
        let bytes = query(&connector, wide).await.unwrap_err();
        let is_bounded =
            matches!(bytes, ProviderError::TooLarge { .. } | ProviderError::OutOfBounds { .. });
        assert!(is_bounded, "{bytes:?}");
    }
    let grown = peak_mib() - before;
    assert!(grown <= 64, "memory grew by {grown} MiB");
    for (name, want) in [
        ("statement_timeout", "25s"),
        ("lock_timeout", "5s"),
        ("idle_in_transaction_session_timeout", "5s"),
        ("transaction_read_only", "on"),
    ] {
        let rows = query(&connector, &format!("SELECT current_setting('{name}') AS x")).await;
        assert_eq!(rows.unwrap()["rows"][0]["x"], want, "{name}");
    }
}

#[tokio::test]
async fn a_dropped_call_ends_its_query_on_the_server() {
    let cluster = shop();
    // A view hides the call, so that the query runs until it is cancelled.
    cluster
        .execute("CREATE VIEW slow AS SELECT pg_sleep(60)::text; GRANT SELECT ON slow TO reader");
    let connector = registered(&cluster.url("reader")).await;
    let running =
        "SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader' AND wait_event = 'PgSleep'";
    {
        let mut call = Box::pin(query(&connector, "SELECT * FROM slow"));
        while cluster.execute(running) != "1" {
            let turn = tokio::time::timeout(std::time::Duration::from_millis(20), &mut call).await;
            assert!(turn.is_err(), "the query ended early: {turn:?}");
        }
    }
    while cluster.execute(running) != "0" {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_wrong_password_and_a_missing_database_are_told_apart() {
    let cluster = shop();
    let wrong = cluster.url("reader").replace(PASSWORD, "another-password");
    let wrong = query(&registered(&wrong).await, "SELECT 1").await.unwrap_err();
    assert_eq!(wrong, ProviderError::CredentialRefused);
    let missing = cluster.url("reader").replace("/shop", "/shpo");
    let missing = query(&registered(&missing).await, "SELECT 1").await.unwrap_err();
    assert!(matches!(missing, ProviderError::Missing { .. }), "{missing:?}");
    let closed = "postgresql://reader:password@127.0.0.1:1/shop";
    let closed = query(&registered(closed).await, "SELECT 1").await.unwrap_err();
    assert!(matches!(closed, ProviderError::Unavailable { .. }), "{closed:?}");
    for told in [wrong.to_string(), missing.to_string(), closed.to_string()] {
        assert!(!told.contains("password@") && !told.contains(PASSWORD), "{told}");
    }
}

#[tokio::test]
async fn sslmode_is_respected() {
    let cluster = Cluster::start_with_tls(env!("CARGO_TARGET_TMPDIR"));
    role(&cluster, "reader");
    let url = cluster.url("reader");
    let plain = query(&registered(&url).await, "SELECT 1").await.unwrap_err();
    assert_eq!(plain, ProviderError::CredentialRefused, "the server takes TLS only");
    let sql = "SELECT ssl AS x FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let encrypted = query(&registered(&format!("{url}?sslmode=require")).await, sql).await;
    assert_eq!(encrypted.unwrap()["rows"][0]["x"], json!(true));
    let verified = query(&registered(&format!("{url}?sslmode=verify-full")).await, sql).await;
    let Err(ProviderError::Forbidden { message }) = verified else { panic!("{verified:?}") };
    assert!(message.contains("sslmode=require"), "{message}");
    let without = shop();
    let url = format!("{}?sslmode=require", without.url("reader"));
    let refused = query(&registered(&url).await, "SELECT 1").await.unwrap_err();
    assert!(matches!(refused, ProviderError::Unavailable { .. }), "{refused:?}");
}
