//! Random rows and random queries give what the `sqlite3` program gives.

use std::process::Command;

use od_core::query::SqlValue;
use od_ports::contract::query_engine::{run, table};
use od_sql::SqliteEngine;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

/// Queries compared. Each starts a program of its own.
const CASES: u32 = 600;

/// Integers and halves, whose sums are exact in any order, and texts that compare in odd ways.
fn cell() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-5i64..6).prop_map(Value::from),
        (-9i64..9).prop_map(|halves| json!(halves as f64 / 2.0 + 0.25)),
        "(|a|B|b|10|9|1e2|-0| x|é|it''s|[a-c]{1,3})"
            .prop_map(|text| Value::from(text.replace("''", "'"))),
    ]
}

fn rows() -> impl Strategy<Value = Vec<Map<String, Value>>> {
    let row = (cell(), cell(), cell()).prop_map(|(a, b, c)| {
        [("a", a), ("b", b), ("c", c)].map(|(k, v)| (k.to_owned(), v)).into_iter().collect()
    });
    prop::collection::vec(row, 1..12)
}

fn column() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b"), Just("c")].prop_map(str::to_owned)
}

/// An expression over one row.
fn scalar() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => column(),
        1 => (-3i64..4).prop_map(|i| i.to_string()),
        1 => "(a|B|10|x)".prop_map(|text| format!("'{text}'")),
        1 => Just("NULL".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            (
                two.clone(),
                prop_oneof![
                    Just("+"),
                    Just("-"),
                    Just("*"),
                    Just("||"),
                    Just("="),
                    Just("<"),
                    Just("IS"),
                    Just("AND"),
                    Just("OR")
                ]
            )
                .prop_map(|((x, y), op)| format!("({x} {op} {y})")),
            (
                inner.clone(),
                prop_oneof![
                    Just("abs"),
                    Just("length"),
                    Just("lower"),
                    Just("upper"),
                    Just("typeof"),
                    Just("trim"),
                    Just("hex"),
                ]
            )
                .prop_map(|(x, f)| format!("{f}({x})")),
            two.clone().prop_map(|(x, y)| format!("coalesce({x}, {y})")),
            two.clone().prop_map(|(x, y)| format!("nullif({x}, {y})")),
            (inner.clone(), two.clone())
                .prop_map(|(c, (x, y))| format!("CASE WHEN {c} THEN {x} ELSE {y} END")),
            inner.clone().prop_map(|x| format!("substr({x}, 1, 2)")),
            inner.clone().prop_map(|x| format!("({x} IN (1, 'a', '10', NULL))")),
            inner.clone().prop_map(|x| format!("({x} BETWEEN 0 AND 5)")),
            inner.clone().prop_map(|x| format!("({x} LIKE '%a%')")),
            inner.prop_map(|x| format!("CAST({x} AS INTEGER)")),
        ]
    })
}

fn aggregate() -> impl Strategy<Value = String> {
    (
        scalar(),
        prop_oneof![
            Just("count"),
            Just("sum"),
            Just("total"),
            Just("min"),
            Just("max"),
            Just("avg")
        ],
    )
        .prop_map(|(x, f)| format!("{f}({x})"))
}

/// One query whose rows have one order: every one is sorted by all its columns.
fn query() -> impl Strategy<Value = String> {
    let filter = prop_oneof![Just(String::new()), scalar().prop_map(|x| format!(" WHERE {x}"))];
    let plain = (prop::collection::vec(scalar(), 1..4), filter.clone(), any::<bool>()).prop_map(
        |(columns, filter, distinct)| {
            let distinct = if distinct { "DISTINCT " } else { "" };
            format!("SELECT {distinct}{} FROM t{filter}", columns.join(", "))
        },
    );
    let grouped = (scalar(), prop::collection::vec(aggregate(), 1..3), filter.clone()).prop_map(
        |(key, aggregates, filter)| {
            format!("SELECT {key}, {} FROM t{filter} GROUP BY 1", aggregates.join(", "))
        },
    );
    let joined = (column(), column(), scalar()).prop_map(|(x, y, on)| {
        format!(
            "SELECT t.{x}, u.{y} FROM t LEFT JOIN u ON t.{x} = u.{y} WHERE ({})",
            on.replace(['a', 'b', 'c'], "t.a")
        )
    });
    let windowed = (column(), column()).prop_map(|(x, y)| {
        format!(
            "SELECT {x}, {y}, sum({x}) OVER (ORDER BY {x}, {y}), rank() OVER (ORDER BY {y}) FROM t"
        )
    });
    let compound = (
        scalar(),
        scalar(),
        prop_oneof![Just("UNION"), Just("EXCEPT"), Just("INTERSECT"), Just("UNION ALL")],
    )
        .prop_map(|(x, y, op)| format!("SELECT {x} FROM t {op} SELECT {y} FROM u"));
    let nested = (scalar(), aggregate()).prop_map(|(x, f)| {
        format!(
            "WITH n AS (SELECT a, b, c, {x} AS d FROM t) SELECT {f}, count(d), min(typeof(d)) FROM n"
        )
    });
    prop_oneof![3 => plain, 3 => grouped, 1 => windowed, 1 => compound, 1 => nested, 1 => joined.prop_filter("valid", |sql| !sql.contains("t.at."))]
}

/// Wraps a query so that every value is printed exactly and in one order.
fn quoted(sql: &str, width: usize) -> String {
    let names: Vec<String> = (1..=width).map(|i| format!("x{i}")).collect();
    // The programs of some years print the last digits of a double in other ways.
    let exact = |name: &String| {
        format!(
            "CASE typeof({name}) WHEN 'real' THEN printf('%.12g', {name}) ELSE quote({name}) END"
        )
    };
    let quotes: Vec<String> = names.iter().map(exact).collect();
    format!(
        "WITH q({}) AS ({sql}) SELECT {} AS line FROM q ORDER BY line",
        names.join(", "),
        quotes.join(" || '|' || ")
    )
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(bool) => i32::from(*bool).to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Array(_) | Value::Object(_) => unreachable!("cells are scalars"),
    }
}

fn program(tables: &[(&str, &[Map<String, Value>])], sql: &str) -> Result<Vec<String>, String> {
    let mut script = String::new();
    for (name, rows) in tables {
        script.push_str(&format!("CREATE TABLE {name}(a, b, c);\n"));
        for row in *rows {
            let cells: Vec<String> = row.values().map(literal).collect();
            script.push_str(&format!("INSERT INTO {name} VALUES ({});\n", cells.join(", ")));
        }
    }
    script.push_str(sql);
    script.push_str(";\n");
    let output = Command::new("sqlite3")
        .args(["-batch", "-bail", "-init", "/dev/null", ":memory:", &script])
        .output()
        .expect("the sqlite3 program runs; the test command installs it");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

#[test]
fn random_queries_give_what_the_sqlite3_program_gives() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let engine = SqliteEngine;
    let answered = std::cell::Cell::new(0);
    let mut runner =
        TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
    runner
        .run(&(rows(), rows(), query()), |(t, u, sql)| {
            let tables = || vec![table("t", &json!(t)), table("u", &json!(u))];
            // The number of columns is what the engine says it is.
            let plain = runtime.block_on(run(&engine, tables(), &[&sql])).remove(0);
            let width = plain.as_ref().map_or(1, |result| result.columns.len());
            let sql = quoted(&sql, width);
            let ours = runtime.block_on(run(&engine, tables(), &[&sql, &sql]));
            prop_assert_eq!(&ours[0], &ours[1], "twice the same");
            let theirs = program(&[("t", &t), ("u", &u)], &sql);
            match (&ours[0], theirs) {
                (Ok(result), Ok(lines)) => {
                    answered.set(answered.get() + 1);
                    let texts: Vec<String> = result
                        .rows
                        .iter()
                        .map(|row| match &row[0] {
                            SqlValue::Text(text) => text.clone(),
                            other @ (SqlValue::Null
                            | SqlValue::Integer(_)
                            | SqlValue::Real(_)
                            | SqlValue::Blob) => format!("{other:?}"),
                        })
                        .collect();
                    prop_assert_eq!(texts, lines, "{}", sql);
                }
                (Err(_), Err(_)) => {}
                (ours, theirs) => prop_assert!(false, "{sql}\nours: {ours:?}\ntheirs: {theirs:?}"),
            }
            Ok(())
        })
        .unwrap_or_else(|err| panic!("{err}"));
    let answered = answered.get();
    assert!(answered > CASES * 3 / 4, "only {answered} queries were answered");
}
