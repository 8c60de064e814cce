//! Every known way round "read-only": each is refused, and the guard that refuses it is named.
//!
//! A view hides a call from the guards that read the text, so that each deeper guard is met alone.

use od_ports::connector_provider::ProviderError;

use super::{query, registered, role, shop};
use od_pgconn::cluster::{Cluster, PASSWORD};

/// Everything that a bypass could have changed.
fn state(cluster: &Cluster) -> String {
    cluster.execute(
        "SELECT string_agg(o::text, ';' ORDER BY id) FROM orders o \
         UNION ALL SELECT last_value::text || is_called FROM numbers \
         UNION ALL SELECT count(*)::text FROM pg_class \
         UNION ALL SELECT count(*)::text FROM pg_largeobject_metadata \
         UNION ALL SELECT count(*)::text FROM pg_proc",
    )
}

/// Grants so much that only the guards of the connector are left.
fn generous_shop() -> Cluster {
    let cluster = shop();
    cluster.execute(
        "GRANT ALL ON orders, numbers TO reader; GRANT CREATE ON SCHEMA public TO reader; \
         CREATE EXTENSION dblink; \
         CREATE FUNCTION write_order() RETURNS int LANGUAGE sql AS \
             $$ INSERT INTO orders VALUES (99, 'x', 1, NULL) RETURNING id $$; \
         CREATE FUNCTION effect(orders) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$; \
         CREATE VIEW writing AS SELECT write_order(); \
         CREATE VIEW counting AS SELECT nextval('numbers'); \
         CREATE VIEW notifying AS SELECT pg_notify('shop', 'x')::text; \
         CREATE VIEW storing AS SELECT lo_from_bytea(0, 'x'); \
         CREATE VIEW locking AS SELECT pg_advisory_lock(7)::text; \
         CREATE VIEW unlocking AS SELECT set_config('transaction_read_only', 'off', true), write_order(); \
         GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
    );
    cluster
}

#[tokio::test]
async fn no_statement_but_select_runs() {
    let cluster = generous_shop();
    let connector = registered(&cluster.url("reader")).await;
    let before = state(&cluster);
    for sql in [
        "INSERT INTO orders VALUES (7, 'x', 1, NULL)",
        "UPDATE orders SET total = 0",
        "DELETE FROM orders",
        "MERGE INTO orders USING (VALUES (1)) v(i) ON id = i WHEN MATCHED THEN DELETE",
        "TRUNCATE orders",
        "SELECT * INTO copied FROM orders",
        "CREATE TABLE made AS SELECT 1",
        "CREATE TEMP TABLE made (x int)",
        "DROP TABLE orders",
        "ALTER TABLE orders ADD COLUMN x int",
        "WITH gone AS (DELETE FROM orders RETURNING *) SELECT * FROM gone",
        "WITH new AS (INSERT INTO orders VALUES (8, 'x', 1, NULL) RETURNING *) SELECT * FROM new",
        "SELECT * FROM orders FOR UPDATE",
        "SELECT 1; DELETE FROM orders",
        "COMMIT; DELETE FROM orders",
        "COMMIT",
        "ROLLBACK",
        "BEGIN READ WRITE",
        "SET TRANSACTION READ WRITE",
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
        "SET statement_timeout = 0",
        "RESET ALL",
        "SET ROLE postgres",
        "DO $$ BEGIN DELETE FROM orders; END $$",
        "CALL something()",
        "EXPLAIN ANALYZE DELETE FROM orders",
        "PREPARE x AS DELETE FROM orders",
        "EXECUTE x",
        "COPY orders TO PROGRAM 'cat > /tmp/od-bypass'",
        "COPY orders TO '/tmp/od-bypass'",
        "COPY orders TO STDOUT",
        "COPY orders FROM PROGRAM 'echo 1'",
        "LISTEN shop",
        "NOTIFY shop",
        "LOCK TABLE orders",
        "VACUUM orders",
        "REFRESH MATERIALIZED VIEW x",
        "GRANT ALL ON orders TO PUBLIC",
        "IMPORT FOREIGN SCHEMA x FROM SERVER y INTO z",
        "DISCARD ALL",
        "LOAD 'x'",
    ] {
        let refused = query(&connector, sql).await.unwrap_err();
        let is_refused =
            matches!(refused, ProviderError::Forbidden { .. } | ProviderError::Input { .. });
        assert!(is_refused, "{sql}: {refused:?}");
    }
    assert_eq!(state(&cluster), before);
}

#[tokio::test]
async fn no_function_with_effects_runs() {
    let cluster = generous_shop();
    let connector = registered(&cluster.url("reader")).await;
    let before = state(&cluster);
    let elsewhere = cluster.url("reader");
    let dblink = format!("SELECT dblink_exec('{elsewhere}', 'DELETE FROM orders')");
    for sql in [
        "SELECT write_order()",
        "SELECT o.effect FROM orders o",
        "SELECT (o).effect FROM orders o",
        "SELECT nextval('numbers')",
        "SELECT setval('numbers', 50)",
        "SELECT lo_import('/etc/passwd')",
        "SELECT lo_export(1, '/tmp/od-bypass')",
        "SELECT lo_create(0)",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity",
        "SELECT pg_catalog.\"pg_cancel_backend\" /* x */ (pid) FROM pg_stat_activity",
        "SELECT pg_logical_emit_message(false, 'x', 'y')",
        "SELECT pg_advisory_lock(7)",
        "SELECT pg_notify('shop', 'x')",
        "SELECT pg_sleep(60)",
        "SELECT set_config('transaction_read_only', 'off', true), write_order()",
        "SELECT set_config('role', 'postgres', false)",
        "SELECT query_to_xml('DELETE FROM orders', true, true, '')",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT pg_ls_dir('/')",
        "SELECT U&\"pg_\\0073leep\"(60)",
        dblink.as_str(),
    ] {
        let refused = query(&connector, sql).await.unwrap_err();
        assert!(matches!(refused, ProviderError::Forbidden { .. }), "{sql}: {refused:?}");
    }
    assert_eq!(state(&cluster), before);
    for sql in ["SELECT random() >= 0 AS x", "SELECT pg_database_size('shop') > 0 AS x"] {
        assert_eq!(query(&connector, sql).await.unwrap()["rows"][0]["x"], true, "{sql}");
    }
}

#[tokio::test]
async fn a_write_that_a_view_hides_meets_the_read_only_transaction() {
    let cluster = generous_shop();
    let connector = registered(&cluster.url("reader")).await;
    let before = state(&cluster);
    for view in ["writing", "counting", "unlocking"] {
        let refused = query(&connector, &format!("SELECT * FROM {view}")).await.unwrap_err();
        let is_refused =
            matches!(refused, ProviderError::Forbidden { .. } | ProviderError::Input { .. });
        assert!(is_refused || refused.to_string().contains("25001"), "{view}: {refused:?}");
        assert_eq!(state(&cluster), before, "{view}");
    }
}

#[tokio::test]
async fn an_effect_that_read_only_lets_through_is_rolled_back() {
    let cluster = generous_shop();
    let connector = registered(&cluster.url("reader")).await;
    let before = state(&cluster);
    for view in ["notifying", "storing", "locking"] {
        // Newer servers refuse some of these; none may leave anything behind.
        let _ = query(&connector, &format!("SELECT * FROM {view}")).await;
        assert_eq!(state(&cluster), before, "{view}");
    }
    let locks = || cluster.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'");
    // The server notices the end of a connection in its own time.
    while locks() != "0" {
        tokio::task::yield_now().await;
    }
    let pending = cluster.execute("SELECT pg_notification_queue_usage()");
    assert_eq!(pending, "0", "a notification was sent");
}

#[tokio::test]
async fn a_login_with_power_over_the_server_is_refused() {
    let cluster = shop();
    for power in
        ["pg_execute_server_program", "pg_write_server_files", "pg_read_server_files", "postgres"]
    {
        let name = format!("with_{power}");
        role(&cluster, &name);
        cluster.execute(&format!("GRANT {power} TO {name}"));
        let refused = query(&registered(&cluster.url(&name)).await, "SELECT 1").await.unwrap_err();
        assert!(matches!(refused, ProviderError::Forbidden { .. }), "{power}: {refused:?}");
    }
    cluster.execute(&format!("CREATE ROLE through LOGIN PASSWORD '{PASSWORD}' NOINHERIT"));
    cluster.execute("GRANT with_pg_execute_server_program TO through");
    for name in ["postgres", "through"] {
        let refused = query(&registered(&cluster.url(name)).await, "SELECT 1").await.unwrap_err();
        assert!(refused.to_string().contains("role that may only read"), "{name}: {refused:?}");
    }
    cluster.execute("GRANT pg_read_all_data TO reader");
    query(&registered(&cluster.url("reader")).await, "SELECT 1").await.unwrap();
}
