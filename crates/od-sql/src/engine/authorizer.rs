//! The allow-list of what a statement may do.
//!
//! Read-only is not a mode of the database file: `mode=ro` lets ATTACH with INSERT and VACUUM INTO
//! through (measured). SQLite asks an authorizer about every action while it compiles a statement;
//! what is not listed here is refused.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use od_core::query::{FunctionRule, function_rule};
use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

/// Tables that functions give, from JSON in their argument.
const TABLE_FUNCTIONS: [&str; 2] = ["json_each", "json_tree"];

/// The tables a statement may read.
#[derive(Clone, Debug)]
pub(crate) enum Readable {
    /// Those of a run, in lower case; the clock may not be read.
    Only(BTreeSet<String>),
    /// Every table of a database, but not the pragmas that look like tables.
    Database,
}

/// The questions that the authorizer was asked while the last statement was compiled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    shared: Arc<Mutex<Asked>>,
}

#[derive(Debug, Default)]
struct Asked {
    tables: BTreeSet<String>,
    refused: Option<Refusal>,
    /// The statement is the engine's own.
    is_ours: bool,
}

/// The first thing that was refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Refusal {
    /// A table outside those that may be read.
    Table(String),
    /// A function outside the list.
    Function(String),
    /// A function that reads the clock.
    Clock(String),
    /// Anything but reading.
    Action(&'static str),
}

impl Log {
    /// Forgets the last statement.
    pub(crate) fn clear(&self) {
        *self.asked() = Asked::default();
    }

    /// Returns the tables the last statement reads, by name.
    pub(crate) fn tables(&self) -> Vec<String> {
        self.asked().tables.iter().cloned().collect()
    }

    /// Returns what was refused first.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        self.asked().refused.clone()
    }

    /// Lets the engine's own statements through while `act` runs.
    pub(crate) fn unrestricted<T>(&self, act: impl FnOnce() -> T) -> T {
        self.asked().is_ours = true;
        let done = act();
        self.clear();
        done
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets a connection do nothing from here on but read.
pub(crate) fn restrict(
    connection: &mut Connection,
    readable: Readable,
    log: &Log,
) -> rusqlite::Result<()> {
    let log = log.clone();
    let modules = modules(connection)?;
    connection.authorizer(Some(move |context: AuthContext<'_>| {
        let mut asked = log.asked();
        if asked.is_ours {
            return Authorization::Allow;
        }
        match judge(&context, &readable, &modules) {
            Ok(Some(table)) => {
                asked.tables.insert(table);
                Authorization::Allow
            }
            Ok(None) => Authorization::Allow,
            Err(refusal) => {
                asked.refused.get_or_insert(refusal);
                Authorization::Deny
            }
        }
    }))
}

/// Returns the table that is read, if one is, or the refusal.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the actions are SQLite's; new ones are refused"
)]
fn judge(
    context: &AuthContext<'_>,
    readable: &Readable,
    modules: &BTreeSet<String>,
) -> Result<Option<String>, Refusal> {
    match context.action {
        AuthAction::Select | AuthAction::Recursive => Ok(None),
        // Of a name in FROM whose columns are not used, as in `SELECT count(*)`, SQLite asks without a
        // column, and of the name of a common table expression too. A name that is neither table nor
        // module can only be such an expression: else the statement does not compile.
        AuthAction::Read { table_name, column_name: "" }
            if !exists(&table_name.to_lowercase(), readable, modules) =>
        {
            Ok(None)
        }
        AuthAction::Read { table_name, .. } => judge_table(table_name, readable),
        AuthAction::Function { function_name } => match function_rule(function_name) {
            FunctionRule::Allowed | FunctionRule::Date => Ok(None),
            FunctionRule::Clock if matches!(readable, Readable::Database) => Ok(None),
            FunctionRule::Clock => Err(Refusal::Clock(function_name.to_owned())),
            FunctionRule::Refused => Err(Refusal::Function(function_name.to_owned())),
        },
        other => Err(Refusal::Action(action_name(&other))),
    }
}

fn exists(name: &str, readable: &Readable, modules: &BTreeSet<String>) -> bool {
    let is_given = match readable {
        Readable::Only(tables) => tables.contains(name),
        Readable::Database => false,
    };
    is_given || name.starts_with("sqlite_") || name.starts_with("pragma_") || modules.contains(name)
}

/// Lists the modules of tables that exist without being created.
fn modules(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    let mut statement = connection.prepare("SELECT lower(name) FROM pragma_module_list")?;
    let names = statement.query_map([], |row| row.get(0))?;
    names.collect()
}

fn judge_table(name: &str, readable: &Readable) -> Result<Option<String>, Refusal> {
    let lower = name.to_lowercase();
    let is_readable = match readable {
        Readable::Only(tables) => tables.contains(&lower),
        Readable::Database => !lower.starts_with("pragma_"),
    };
    if TABLE_FUNCTIONS.contains(&lower.as_str()) {
        Ok(None)
    } else if is_readable {
        Ok(Some(name.to_owned()))
    } else {
        Err(Refusal::Table(name.to_owned()))
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the actions are SQLite's; new ones are refused"
)]
fn action_name(action: &AuthAction<'_>) -> &'static str {
    match action {
        AuthAction::Attach { .. } => "ATTACH",
        AuthAction::Detach { .. } => "DETACH",
        AuthAction::Pragma { .. } => "PRAGMA",
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => "a transaction",
        AuthAction::Insert { .. } => "INSERT",
        AuthAction::Update { .. } => "UPDATE",
        AuthAction::Delete { .. } => "DELETE",
        AuthAction::Analyze { .. } => "ANALYZE",
        AuthAction::Reindex { .. } => "REINDEX",
        AuthAction::AlterTable { .. } => "ALTER TABLE",
        // The kinds of CREATE and DROP, and whatever a later SQLite adds.
        _ => "a change of the schema",
    }
}

#[cfg(test)]
mod tests {
    use od_core::query::SqlText;

    use super::*;

    /// Every kind of statement that SQLite has but SELECT, from its grammar (lang.html).
    const STATEMENTS: &[&str] = &[
        "ALTER TABLE t RENAME TO u",
        "ALTER TABLE t ADD COLUMN c",
        "ALTER TABLE t DROP COLUMN a",
        "ALTER TABLE t RENAME COLUMN a TO b",
        "ANALYZE",
        "ATTACH 'x.db' AS x",
        "BEGIN",
        "COMMIT",
        "CREATE INDEX i ON t(a)",
        "CREATE TABLE u(a)",
        "CREATE TABLE u AS SELECT 1",
        "CREATE TEMP TABLE u(a)",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END",
        "CREATE TEMP TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TEMP VIEW v AS SELECT 1",
        "CREATE VIRTUAL TABLE f USING fts5(a)",
        "DELETE FROM t",
        "DETACH x",
        "DROP INDEX i",
        "DROP TABLE t",
        "DROP TRIGGER g",
        "DROP VIEW v",
        "END",
        "EXPLAIN SELECT 1",
        "EXPLAIN QUERY PLAN SELECT 1",
        "INSERT INTO t VALUES (1)",
        "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING",
        "INSERT INTO t VALUES (1) RETURNING a",
        "PRAGMA user_version",
        "PRAGMA user_version = 1",
        "REINDEX",
        "RELEASE s",
        "REPLACE INTO t VALUES (1)",
        "ROLLBACK",
        "SAVEPOINT s",
        "UPDATE t SET a = 1",
        "VACUUM",
        "VACUUM INTO 'copy.db'",
        "VALUES (1)",
    ];

    /// Compiles a statement under the authorizer and returns what was refused.
    fn refusal(sql: &str) -> Option<Refusal> {
        let mut connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE t(a); CREATE INDEX i ON t(a); CREATE VIEW v AS SELECT 1; \
                 CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END; ATTACH ':memory:' AS x;",
            )
            .unwrap();
        let log = Log::default();
        restrict(&mut connection, Readable::Only(BTreeSet::from(["t".to_owned()])), &log).unwrap();
        // VACUUM and EXPLAIN ask nothing while they are compiled; what they run is asked about then.
        if let Ok(mut statement) = connection.prepare(sql)
            && statement.readonly()
            && statement.is_explain() == 0
        {
            let _ = statement.query([]).map(|mut rows| rows.next().map(drop));
            return log.refusal();
        }
        Some(log.refusal().unwrap_or(Refusal::Action("not read-only")))
    }

    #[test]
    fn every_statement_but_select_is_refused_by_its_first_word_and_by_what_it_does() {
        for sql in STATEMENTS {
            assert!(sql.parse::<SqlText>().is_err(), "{sql} is taken for a query");
            if !sql.starts_with("VALUES") {
                assert!(refusal(sql).is_some(), "{sql} is let through");
            }
        }
        assert_eq!(refusal("SELECT a FROM t"), None);
    }
}
