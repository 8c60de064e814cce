//! The pure rules: bounded parsing, digests, classification, tokens.

use std::hint::black_box;
use std::time::Duration;

use od_core::connector::{ToolFacts, classify};
use od_core::ids::{Digest, Timestamp};
use od_core::json::{BoundedJson, Value, canonical_bytes, canonical_size};
use od_core::token::{Claims, Endpoint, Keyring, Operation, ToolClaims, encode, verify};
use serde_json::json;

use crate::measure;
use crate::row::{Row, Target};

/// Measures every row of the area.
pub(crate) fn measure() -> Vec<Row> {
    let documents = [
        ("rows", rows()),
        ("rows with decimals", decimals()),
        ("nested", nested()),
        ("escaped text", escaped()),
    ];
    let mut table = Vec::new();
    for (name, document) in documents {
        // The bytes as an agent sends them: compact, in the document's own order.
        let bytes = document.to_string().into_bytes();
        table.push(parse_row(name, &bytes));
        table.push(digest_row(name, &document));
        table.push(size_row(name, &document));
    }
    table.extend([classify_row(), verify_row()]);
    table
}

fn parse_row(name: &str, bytes: &[u8]) -> Row {
    let pair = measure::in_turns(
        200,
        || drop(black_box(BoundedJson::parse(black_box(bytes)))),
        || drop(black_box(serde_json::from_slice::<Value>(black_box(bytes)))),
    );
    Row::against_peer(
        format!("parse and check {} KiB of {name}", bytes.len() / 1024),
        &pair,
        "serde_json alone",
        Target::AtMost(2.0),
    )
}

fn digest_row(name: &str, document: &Value) -> Row {
    let pair = measure::in_turns(
        100,
        || drop(black_box(Digest::of_json(black_box(document)))),
        || {
            let canonical = serde_jcs::to_vec(black_box(document)).unwrap_or_default();
            drop(black_box(Digest::of_bytes(&canonical)));
        },
    );
    Row::against_peer(
        format!("digest of {name}"),
        &pair,
        "serde_jcs and SHA-256",
        Target::AtMost(1.0),
    )
}

fn size_row(name: &str, document: &Value) -> Row {
    let pair = measure::in_turns(
        100,
        || {
            black_box(canonical_size(black_box(document)));
        },
        || drop(black_box(canonical_bytes(black_box(document)))),
    );
    Row::against_peer(
        format!("canonical size of {name}, counted"),
        &pair,
        "made",
        Target::AtMost(1.0),
    )
}

fn classify_row() -> Row {
    let facts = ToolFacts {
        name: "acme.frobnicate_the_widgets",
        title: "Frobnicate the widgets of a workspace",
        description: "Looks through every widget of the workspace, in the order they were made, and returns for each its name, its owner, its colour and the time of its last change.",
        scopes: &["widgets:all", "workspace:widgets"],
    };
    absolute("classify a tool whose description decides", || {
        drop(black_box(classify(black_box(&facts))));
    })
}

fn verify_row() -> Row {
    let claims = Claims::Tool(ToolClaims {
        token_id: od_core::ids::TokenId::generate([1; 16]),
        run_id: od_core::ids::RunId::generate([2; 16]),
        project_id: od_core::ids::ProjectId::generate(
            &od_core::ids::Slug::from_title("bench"),
            [3; 6],
        ),
        endpoints: Endpoint::ALL.to_vec(),
        operations: Operation::ALL.to_vec(),
        issued_at: Timestamp::from_unix_ms(0),
        expires_at: Timestamp::from_unix_ms(60_000),
    });
    // Signed with the previous key: the slower of the two ways.
    let token = encode(&claims, &Keyring::new([8; 32], None));
    let ring = Keyring::new([7; 32], Some([8; 32]));
    absolute("verify a tool token signed with the previous key", || {
        drop(black_box(verify(black_box(&token), &ring, Timestamp::from_unix_ms(1))));
    })
}

/// Measures work too short for one reading.
fn absolute(what: &str, mut work: impl FnMut()) -> Row {
    const TIMES: u32 = 200;
    let mut readings: Vec<Duration> =
        (0..100).map(|_| measure::once(&mut || (0..TIMES).for_each(|_| work())) / TIMES).collect();
    let median = measure::median(&mut readings);
    Row::alone(
        what.to_owned(),
        format!("{median:.1?}"),
        (median.as_secs_f64() * 1e6, "µs"),
        Target::AtMost(20.0),
    )
}

/// A table of the size a document may have.
fn rows() -> Value {
    let tables: Vec<Value> = (0..4)
        .map(|table| {
            let rows = (0..500).map(|i| {
                json!({
                    "id": table * 1000 + i,
                    "name": format!("release {i}"),
                    "author": "someone with a name",
                    "state": if i % 3 == 0 { "open" } else { "closed" },
                    "draft": i % 2 == 0,
                    "comments": i % 17,
                })
            });
            Value::Array(rows.collect())
        })
        .collect();
    json!({ "tables": tables })
}

fn decimals() -> Value {
    let lists: Vec<Value> = (0..26)
        .map(|list| {
            let numbers = (0..500).map(|i| f64::from(list * 500 + i) * 1.37 / 8.0);
            Value::Array(numbers.map(Value::from).collect())
        })
        .collect();
    json!({ "series": lists })
}

/// As deep as a document may be, over and over.
fn nested() -> Value {
    let branch = json!({ "a": { "b": [{ "c": { "d": [1, "x", true, null] } }] } });
    let list = || Value::Array(vec![branch.clone(); 125]);
    let members = (0..48).map(|i| (format!("part{i}"), list()));
    Value::Object(members.collect())
}

fn escaped() -> Value {
    let text = "a \"quoted\" line\nwith a tab\tand é\u{1}😀 ".repeat(20);
    Value::Array(vec![Value::from(text); 200])
}
