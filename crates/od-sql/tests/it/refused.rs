//! Every way out of the tables of a run is refused.

use od_core::query::QueryFaultKind;
use od_ports::contract::query_engine::{run, table};
use od_sql::SqliteEngine;
use serde_json::json;

/// Statements that begin like a query.
const DISGUISED: &[&str] = &[
    "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x",
    "WITH x AS (SELECT 1) UPDATE t SET a = (SELECT * FROM x)",
    "WITH x AS (SELECT 1) DELETE FROM t WHERE a IN x",
    "WITH x AS (SELECT 1) REPLACE INTO t SELECT * FROM x",
    "SELECT load_extension('/tmp/x.so')",
    "SELECT random()",
    "SELECT randomblob(8)",
    "SELECT a FROM t ORDER BY random()",
    "SELECT sqlite_version()",
    "SELECT changes()",
    "SELECT last_insert_rowid()",
    "SELECT sqlite_compileoption_get(1)",
    "SELECT zeroblob(1000000000)",
    "SELECT fts3_tokenizer('simple')",
    "SELECT * FROM sqlite_schema",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM sqlite_temp_schema",
    "SELECT * FROM pragma_table_info('t')",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM pragma_user_version",
    "SELECT * FROM pragma_hard_heap_limit",
    "SELECT * FROM dbstat",
    "SELECT count(*) FROM dbstat",
    "SELECT count(*) FROM sqlite_schema",
    "SELECT count(*) FROM main.sqlite_master",
    "SELECT count(*) FROM pragma_database_list",
    "SELECT 1 FROM t, pragma_user_version",
    "SELECT * FROM t WHERE a = (SELECT file FROM pragma_database_list)",
];

#[tokio::test]
async fn what_begins_like_a_query_may_only_read_its_tables() {
    let engine = SqliteEngine;
    let results = run(&engine, vec![table("t", &json!([{ "a": 1 }]))], DISGUISED).await;
    for (sql, result) in DISGUISED.iter().zip(results) {
        let fault = result.expect_err(sql);
        assert!(
            matches!(fault.kind, QueryFaultKind::Refused | QueryFaultKind::UnknownTable),
            "{sql}: {fault}"
        );
    }
}
