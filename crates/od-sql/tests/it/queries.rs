//! What queries give, and what their faults tell.

use od_core::query::{Position, QueryFault, QueryFaultKind, ResultSet, SqlValue};
use od_ports::contract::check_query_engine;
use od_ports::contract::query_engine::{run, table};
use od_sql::SqliteEngine;
use serde_json::{Value, json};

fn issues() -> Value {
    json!([
        { "id": 1, "assignee": "ada", "state": "open", "points": 3, "at": "2026-04-01T10:00:00Z" },
        { "id": 2, "assignee": "bob", "state": "closed", "points": 5, "at": "2026-04-07T10:00:00Z" },
        { "id": 3, "assignee": "ada", "state": "closed", "points": 2, "at": "2026-04-08T10:00:00Z" },
        { "id": 4, "assignee": null, "state": "open", "points": null, "labels": ["x", "y"] },
    ])
}

async fn ask(sql: &str) -> Result<ResultSet, QueryFault> {
    let people =
        json!({ "rows": [{ "login": "ada", "team": "core" }, { "login": "bob", "team": "web" }] });
    let tables = vec![table("issues", &issues()), table("people", &people)];
    run(&SqliteEngine, tables, &[sql]).await.remove(0)
}

#[track_caller]
fn rows(result: Result<ResultSet, QueryFault>) -> Value {
    let result = result.expect("the query is answered");
    let cell = |value: &SqlValue| match value {
        SqlValue::Null => Value::Null,
        SqlValue::Integer(integer) => json!(integer),
        SqlValue::Real(real) => json!(real),
        SqlValue::Text(text) => json!(text),
        SqlValue::Blob => json!("blob"),
    };
    result.rows.iter().map(|row| row.iter().map(cell).collect::<Value>()).collect()
}

#[tokio::test]
async fn the_engine_keeps_the_contract() {
    check_query_engine(&SqliteEngine).await;
}

#[tokio::test]
async fn groups_joins_windows_and_json_need_no_agent() {
    let sql = "SELECT team, count(*) AS n, sum(points) AS points, \
               round(100.0 * sum(state = 'closed') / count(*), 1) AS done \
               FROM issues JOIN people ON login = assignee GROUP BY team ORDER BY team";
    let result = ask(sql).await;
    assert_eq!(result.as_ref().unwrap().tables, ["issues", "people"]);
    assert_eq!(rows(result), json!([["core", 2, 5, 50.0], ["web", 1, 5, 100.0]]));
    assert_eq!(
        rows(ask("SELECT id, sum(points) OVER (ORDER BY id) FROM issues WHERE points > 0").await),
        json!([[1, 3], [2, 8], [3, 10]])
    );
    assert_eq!(
        rows(ask("SELECT issues.id, label.value FROM issues, json_each(labels) AS label").await),
        json!([[4, "x"], [4, "y"]])
    );
    assert_eq!(
        rows(ask("SELECT strftime('%Y-W%W', at) AS week, count(*) FROM issues WHERE at IS NOT NULL GROUP BY week").await),
        json!([["2026-W13", 1], ["2026-W14", 2]])
    );
    assert_eq!(
        rows(ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n").await),
        json!([[1], [2], [3]])
    );
    assert_eq!(
        rows(
            ask("SELECT median(points), percentile(points, 95), percentile(points, 0) FROM issues")
                .await
        ),
        json!([[3.0, 4.8, 2.0]])
    );
    assert_eq!(
        rows(ask("SELECT ceil(1.2), floor(-1.2), sqrt(16), pow(2, 10), mod(7, 4), log2(8), trunc(7), sqrt(-1), ln('x')").await),
        json!([[2.0, -2.0, 4.0, 1024.0, 3.0, 3.0, 7, null, null]])
    );
}

#[tokio::test]
async fn the_time_of_the_refresh_is_the_only_time() {
    assert_eq!(rows(ask("SELECT :refreshed_at").await), json!([["2026-04-30T00:00:00.000Z"]]));
    assert_eq!(
        rows(
            ask("SELECT id FROM issues WHERE julianday(:refreshed_at) - julianday(at) < 24").await
        ),
        json!([[2], [3]])
    );
    for sql in [
        "SELECT current_timestamp",
        "SELECT CURRENT_DATE",
        "SELECT date('now')",
        "SELECT date('NoW', '-1 day')",
        "SELECT datetime()",
        "SELECT strftime('%s')",
        "SELECT time('subsec')",
        "SELECT timediff('2026-01-01', 'now')",
        "SELECT datetime(at, 'localtime') FROM issues",
        "SELECT unixepoch(at, 'utc') FROM issues",
        "SELECT date('n' || 'ow')",
    ] {
        let fault = ask(sql).await.unwrap_err();
        assert_eq!(fault.kind, QueryFaultKind::Refused, "{sql}: {fault}");
        assert!(fault.message.contains(":refreshed_at"), "{sql}: {fault}");
    }
    let fault = ask("SELECT :refreshedAt").await.unwrap_err();
    assert_eq!(fault.kind, QueryFaultKind::UnknownParameter);
    assert_eq!(fault.nearest.as_deref(), Some(":refreshed_at"));
}

#[tokio::test]
async fn a_fault_names_the_place_the_tables_and_the_nearest_name() {
    let fault = ask("SELECT id,\n  asignee FROM issues").await.unwrap_err();
    assert_eq!(fault.kind, QueryFaultKind::UnknownColumn);
    assert_eq!(fault.position, Some(Position { line: 2, column: 3 }));
    assert_eq!(
        fault.to_string(),
        "no column has the name `asignee`; the tables are \
         issues(id, assignee, state, points, at, labels), people(login, team) at line 2, column 3; \
         `assignee` is the nearest name"
    );
    let fault = ask("SELECT * FROM peple").await.unwrap_err();
    assert_eq!(fault.kind, QueryFaultKind::UnknownTable);
    assert_eq!(fault.nearest.as_deref(), Some("people"));
    let fault = ask("SELECT * FROM issues WHER id = 1").await.unwrap_err();
    assert_eq!((fault.kind, fault.position.is_some()), (QueryFaultKind::Syntax, true), "{fault}");
    let fault = ask("SELECT summ(id) FROM issues").await.unwrap_err();
    assert_eq!(fault.kind, QueryFaultKind::UnknownFunction, "{fault}");
    let fault = ask("SELECT i.id FROM issues i JOIN issues j WHERE id = 1").await.unwrap_err();
    assert!(fault.message.contains("more than one table"), "{fault}");
    let fault = ask("SELECT \"asignee\" FROM issues").await.unwrap_err();
    assert_eq!(fault.kind, QueryFaultKind::UnknownColumn, "a name in quotes is no text");
    assert_eq!(fault.nearest.as_deref(), Some("assignee"));
    let fault = ask("SELECT 1; SELECT 2").await.unwrap_err();
    assert_eq!(fault.kind, QueryFaultKind::Syntax, "{fault}");
    assert!(ask("SELECT 1; -- the end").await.is_ok());
}

#[tokio::test]
async fn a_source_that_has_nothing_today_has_every_column() {
    let sql = [
        "SELECT count(*) FROM issues WHERE state = 'open' AND issues.points > 1",
        "SELECT state, sum(points) FROM issues GROUP BY state",
        "SELECT p.team FROM issues i JOIN people p ON p.login = i.assignee",
        "SELECT x.absent FROM people p",
    ];
    let tables = vec![table("issues", &json!([])), table("people", &json!({ "items": [] }))];
    let results = run(&SqliteEngine, tables, &sql).await;
    let [count, groups, join, wrong] = <[_; 4]>::try_from(results).unwrap();
    assert_eq!(rows(count), json!([[0]]));
    assert_eq!(rows(groups), json!([]));
    assert_eq!(rows(join), json!([]));
    assert_eq!(wrong.unwrap_err().kind, QueryFaultKind::UnknownColumn);
}

#[tokio::test]
async fn the_history_of_a_path_is_a_table() {
    use od_core::intake::{CellRef, InputTable, TableBuilder};
    let mut builder = TableBuilder::new(vec!["at".to_owned(), "value".to_owned()]).unwrap();
    for (at, value) in [("2026-04-28", 10), ("2026-04-29", 12)] {
        builder.push(&CellRef::Text(at.into())).unwrap();
        builder.push(&CellRef::Integer(value)).unwrap();
        builder.end_row().unwrap();
    }
    let path = "kpi.total".parse().unwrap();
    let history = InputTable::of_table(&od_core::query::history_table(&path), builder.finish());
    let sql = "SELECT value - lag(value) OVER (ORDER BY at) AS change FROM history('kpi.total') \
               ORDER BY at DESC LIMIT 1";
    let results = run(&SqliteEngine, vec![history], &[sql, "SELECT * FROM history(other)"]).await;
    let [change, other] = <[_; 2]>::try_from(results).unwrap();
    assert_eq!(change.as_ref().unwrap().tables, ["history(kpi.total)"]);
    assert_eq!(rows(change), json!([[2]]));
    assert_eq!(other.unwrap_err().kind, QueryFaultKind::UnknownTable);
}

#[tokio::test]
async fn odd_names_are_names() {
    let odd = json!([{ "a b": 1, "select": 2, "quo\"te": 3, "": 4, "é": 5 }]);
    let results = run(
        &SqliteEngine,
        vec![table("odd", &odd)],
        &["SELECT \"a b\", \"select\", \"quo\"\"te\", column_4, é FROM odd"],
    )
    .await;
    assert_eq!(rows(results.into_iter().next().unwrap()), json!([[1, 2, 3, 4, 5]]));
}
