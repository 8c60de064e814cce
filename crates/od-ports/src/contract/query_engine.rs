//! The contract of a query engine.

use std::future::Future as _;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use od_core::ids::Timestamp;
use od_core::intake::{InputTable, Intake};
use od_core::query::{QueryFaultKind, ResultSet, SqlText, SqlValue};
use serde_json::{Value, json};

use crate::query_engine::{QueryEngine, QueryResults, QueryRun};

/// Puts an engine through the contract of [`QueryEngine`], as far as `SELECT * FROM table` shows it.
///
/// # Panics
///
/// When the engine breaks the contract.
pub async fn check_query_engine(engine: &dyn QueryEngine) {
    check_values(engine).await;
    check_faults(engine).await;
    check_row_limit(engine).await;
    check_dropped(engine).await;
}

/// Makes a table of JSON rows.
///
/// # Panics
///
/// When the value is no table.
#[must_use]
pub fn table(name: &str, rows: &Value) -> InputTable {
    let intake = Intake::try_from(rows).expect("the rows are within the limits of an intake");
    InputTable::of_source(name, &Arc::new(intake), None).expect("the value has rows")
}

/// Runs queries over tables at a fixed time.
///
/// # Panics
///
/// When a query is no SQL text, or the tables cannot be loaded.
pub async fn run(
    engine: &dyn QueryEngine,
    tables: Vec<InputTable>,
    queries: &[&str],
) -> QueryResults {
    let queries = queries.iter().map(|sql| parse(sql)).collect();
    let refreshed_at = Timestamp::from_unix_ms(1_777_507_200_000);
    engine.run(QueryRun { tables, queries, refreshed_at }).await.expect("the tables are loaded")
}

fn parse(sql: &str) -> SqlText {
    sql.parse().expect("the text is a query")
}

async fn check_values(engine: &dyn QueryEngine) {
    let rows = json!([
        { "id": 1, "name": "é\n'", "share": 0.5, "open": true, "tags": ["a", { "b": 1 }] },
        { "id": 9_007_199_254_740_993i64, "open": false, "Name": null, "name": "" },
    ]);
    let tables = vec![table("issues", &rows), table("empty", &json!([{}]))];
    let sql = "SELECT * FROM issues";
    let results = run(engine, tables.clone(), &[sql, sql]).await;
    let text = |text: &str| SqlValue::Text(text.to_owned());
    let expected = ResultSet {
        columns: ["id", "name", "share", "open", "tags", "Name_2"].map(str::to_owned).to_vec(),
        rows: vec![
            vec![
                SqlValue::Integer(1),
                text("é\n'"),
                SqlValue::Real(0.5),
                SqlValue::Integer(1),
                text("[\"a\",{\"b\":1}]"),
                SqlValue::Null,
            ],
            vec![
                SqlValue::Integer(9_007_199_254_740_993),
                text(""),
                SqlValue::Null,
                SqlValue::Integer(0),
                SqlValue::Null,
                SqlValue::Null,
            ],
        ],
        tables: vec!["issues".to_owned()],
    };
    assert_eq!(results, [Ok(expected.clone()), Ok(expected)], "values, order, and twice the same");
    let again = run(engine, tables, &[sql, sql]).await;
    assert_eq!(results, again, "the same tables and queries give the same results");
}

async fn check_faults(engine: &dyn QueryEngine) {
    let tables = vec![table("issues", &json!([{ "id": 1 }]))];
    let queries = ["SELECT * FROM isues", "SELECT * FROM issues"];
    let results = run(engine, tables, &queries).await;
    let fault = results[0].as_ref().expect_err("there is no such table");
    assert_eq!(fault.kind, QueryFaultKind::UnknownTable);
    assert_eq!(fault.nearest.as_deref(), Some("issues"), "the nearest name is told");
    assert!(results[1].is_ok(), "a fault does not reach the next query");
    let results = run(engine, Vec::new(), &["SELECT * FROM issues"]).await;
    assert!(results[0].is_err(), "no table outlives its run");
}

async fn check_row_limit(engine: &dyn QueryEngine) {
    for (count, is_allowed) in [(500, true), (501, false)] {
        let rows: Vec<i32> = (0..count).collect();
        let results = run(engine, vec![table("n", &json!(rows))], &["SELECT * FROM n"]).await;
        match &results[0] {
            Ok(result) => assert!(is_allowed && result.rows.len() == 500, "{count}"),
            Err(fault) => {
                assert!(!is_allowed, "{fault}");
                assert_eq!(fault.kind, QueryFaultKind::TooManyRows);
            }
        }
    }
}

/// A run that is dropped leaves an engine that answers.
async fn check_dropped(engine: &dyn QueryEngine) {
    let run_once = || QueryRun {
        tables: vec![table("n", &json!([1, 2, 3]))],
        queries: vec![parse("SELECT * FROM n")],
        refreshed_at: Timestamp::from_unix_ms(0),
    };
    {
        let future = pin!(engine.run(run_once()));
        let _ = future.poll(&mut Context::from_waker(Waker::noop()));
    }
    assert!(engine.run(run_once()).await.expect("it answers")[0].is_ok(), "after a dropped run");
}
