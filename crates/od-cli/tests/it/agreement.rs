//! What a person is told is the same with and without a daemon. The agent's calls through every
//! door are compared in `tests/doors`.

use crate::bench::{Bench, refusal};

#[test]
fn a_refused_refresh_says_the_same_with_and_without_a_daemon() {
    let bench = Bench::with_project();
    bench.write(
        "artifact.json",
        r#"{ "title": "Still", "document": { "format": "html_template_v1", "dataJson": {} } }"#,
    );
    let run = bench.hold_run();
    let create = ["tools", "live-artifacts", "create", "--input", "artifact.json"];
    let made = bench.as_agent(&run, &create);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let refresh = || bench.od(&["artifacts", "refresh", "still", "--json"]);
    let with = refresh();
    run.end();
    bench.end_daemon();
    let without = refresh();
    assert_eq!(with.status.code(), without.status.code());
    let (mut with, without) = (refusal(&with), refusal(&without));
    // Only a daemon numbers its requests.
    with["error"].as_object_mut().unwrap().remove("requestId").unwrap();
    assert_eq!(with, without);
}

#[test]
fn a_refresh_says_the_same_with_and_without_a_daemon() {
    let bench = Bench::with_project();
    bench.with_artifact();
    let with = bench.json(&["artifacts", "refresh", "live"]);
    bench.end_daemon();
    bench.write("metrics.json", r#"{ "n": 2 }"#);
    let without = bench.json(&["artifacts", "refresh", "live"]);
    for field in ["status", "refreshedSourceCount", "changed", "changes"] {
        assert_eq!(with["refresh"][field], without["refresh"][field], "{field}");
    }
    assert_eq!(without["artifact"]["document"]["dataJson"]["n"], 2);
}
