//! Queries made to take all the time or memory there is end with a typed fault.
//!
//! Without its bound each of them runs for hours or takes all memory, so a test that ends is the proof.

use od_core::query::QueryFaultKind;
use od_ports::contract::query_engine::{run, table};
use od_sql::SqliteEngine;
use serde_json::{Value, json};

async fn ends_with(kinds: &[QueryFaultKind], sql: &str) {
    let rows: Vec<Value> = (0..2_000).map(|i| json!({ "i": i, "s": "aaaaaaaaaa" })).collect();
    let result = run(&SqliteEngine, vec![table("t", &json!(rows))], &[sql]).await.remove(0);
    let fault = result.expect_err(sql);
    assert!(kinds.contains(&fault.kind), "{sql}: {fault}");
}

#[tokio::test]
async fn an_endless_recursion_times_out() {
    let sql =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    ends_with(&[QueryFaultKind::TimedOut], sql).await;
}

#[tokio::test]
async fn a_recursion_that_keeps_all_its_rows_runs_out_of_memory_or_time() {
    let sql = "WITH RECURSIVE n(i, s) AS (SELECT 1, 'x' UNION SELECT i + 1, printf('%d%.2000c', i, 'x') FROM n) \
               SELECT count(*) FROM n";
    ends_with(&[QueryFaultKind::OutOfMemory, QueryFaultKind::TimedOut], sql).await;
}

#[tokio::test]
async fn a_huge_heap_is_refused() {
    // On a busy machine its two seconds may be over before the heap is full; one row that is too much for
    // it alone is refused for its size in `long_texts_and_slow_functions_are_bounded`.
    let ends = [QueryFaultKind::OutOfMemory, QueryFaultKind::TimedOut];
    let sql = "SELECT length(group_concat(x, '')) FROM (SELECT printf('%.200000c', 'x') AS x FROM t, t AS u)";
    ends_with(&ends, sql).await;
    let sql = "SELECT a.i FROM t a, t b ORDER BY printf('%.1000c%d', 'x', a.i * b.i)";
    ends_with(&ends, sql).await;
}

#[tokio::test]
async fn a_huge_join_times_out() {
    let sql = "SELECT count(*) FROM t a, t b, t c, t d WHERE a.i + b.i + c.i + d.i = -1";
    ends_with(&[QueryFaultKind::TimedOut], sql).await;
}

#[tokio::test]
async fn long_texts_and_slow_functions_are_bounded() {
    ends_with(&[QueryFaultKind::OutOfMemory], "SELECT printf('%.1000000c', 'x')").await;
    ends_with(
        &[QueryFaultKind::OutOfMemory],
        "SELECT replace(printf('%.200000c', 'x'), 'x', 'yy')",
    )
    .await;
    for slow in [
        "SELECT sum(instr(printf('%.262000c', 'a'), printf('%.131000c', 'a') || 'b' || t.i)) FROM t, t AS u",
        "SELECT sum(length(trim(printf('%.131000c', 'a') || t.i, printf('%.131000c', 'b') || 'a'))) FROM t, t AS u",
        "SELECT sum(length(replace(printf('%.131000c', 'a') || t.i, printf('%.65000c', 'a') || 'b', ''))) FROM t, t AS u",
        "SELECT count(*) FROM t, t AS u WHERE printf('%.262000c', 'a') || t.i LIKE '%a%a%a%a%a%a%a%a%ab%'",
    ] {
        ends_with(&[QueryFaultKind::TimedOut], slow).await;
    }
    let pattern = "%a".repeat(200);
    let like = format!("SELECT count(*) FROM t WHERE s LIKE '{pattern}'");
    ends_with(&[QueryFaultKind::Failed], &like).await;
}

#[tokio::test]
async fn deep_and_wide_statements_are_bounded() {
    let deep = format!("SELECT {}1{}", "(".repeat(3_000), ")".repeat(3_000));
    let nested = format!("SELECT {}1", "-+".repeat(3_000));
    let compound = vec!["SELECT 1"; 300].join(" UNION ALL ");
    for sql in [deep, nested, compound] {
        let result = run(&SqliteEngine, Vec::new(), &[&sql]).await.remove(0);
        assert!(result.is_err(), "{}", &sql[..40]);
    }
    let columns: Vec<String> = (0..201).map(|i| i.to_string()).collect();
    let wide = format!("SELECT {}", columns.join(","));
    assert!(run(&SqliteEngine, Vec::new(), &[&wide]).await.remove(0).is_err());
}

#[tokio::test]
async fn a_query_that_nobody_waits_for_gives_its_turn_back() {
    use std::future::Future as _;
    let engine = SqliteEngine;
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    {
        let queries = [endless; 4];
        let waiting = run(&engine, Vec::new(), &queries);
        let mut waiting = std::pin::pin!(waiting);
        // Polled until the thread has begun, then dropped.
        for _ in 0..3 {
            let _ = waiting
                .as_mut()
                .poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
            tokio::task::yield_now().await;
        }
    }
    assert!(run(&engine, Vec::new(), &["SELECT 1"]).await.remove(0).is_ok());
}
