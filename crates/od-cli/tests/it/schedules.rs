//! `od artifacts schedule`: what a person changes, and nothing else.

use serde_json::Value;

use crate::bench::Bench;
use crate::projects::slugs::Other;

fn schedule(bench: &Bench, flags: &[&str]) -> Value {
    let mut words = vec!["artifacts", "schedule", "live"];
    words.extend(flags);
    bench.json(&words)["artifact"]["schedule"].clone()
}

#[test]
fn one_flag_changes_what_it_names_and_leaves_it_on_or_off() {
    let bench = Bench::with_project();
    bench.with_artifact();
    let set = schedule(&bench, &["--every", "15m", "--on-change"]);
    assert_eq!(set["state"], "active", "{set}");
    let changed = schedule(&bench, &["--max-age", "30m"]);
    let refresh = &changed["refresh"];
    assert_eq!(
        (&refresh["every"], &refresh["maxAge"]),
        (&"15m".into(), &"30m".into()),
        "{changed}"
    );
    assert_eq!(refresh["onChange"], true, "{changed}");
    assert_eq!((&changed["state"], &changed["since"]), (&"active".into(), &set["since"]));

    schedule(&bench, &["--off"]);
    let changed = schedule(&bench, &["--max-age", "1h"]);
    assert_eq!((&changed["state"], &changed["refresh"]["every"]), (&"off".into(), &"15m".into()));
    let set = schedule(&bench, &["--cron", "0 9 * * 1"]);
    assert_eq!((&set["state"], &set["refresh"]["cron"]), (&"active".into(), &"0 9 * * 1".into()));
    assert_eq!(set["refresh"]["every"], Value::Null, "{set}");
    let off = schedule(&bench, &["--every", "1h", "--off"]);
    assert_eq!((&off["state"], &off["refresh"]["every"]), (&"off".into(), &"1h".into()), "{off}");
}

#[test]
fn missed_slots_that_are_skipped_are_printed_and_on_and_off_do_not_go_together() {
    let bench = Bench::with_project();
    bench.with_artifact();
    let said = bench.good(&["artifacts", "schedule", "live", "--every", "1h", "--missed", "skip"]);
    assert!(said.contains("every 1h, missed slots are skipped"), "{said}");
    let output = bench.od(&["artifacts", "schedule", "live", "--on", "--off"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn a_schedule_that_only_has_an_age_is_due_at_no_time() {
    let bench = Bench::with_project();
    bench.with_artifact();
    let set = schedule(&bench, &["--max-age", "2h"]);
    assert_eq!(set["state"], "active", "{set}");
    let listed = bench.good(&["artifacts", "list"]);
    let row = listed.lines().find(|line| line.contains("Live")).unwrap();
    assert!(row.trim_end().ends_with(" -"), "{row}");
}

#[test]
fn switching_a_schedule_on_says_that_it_also_allows_refreshing() {
    let bench = Bench::with_project();
    bench.with_artifact();
    let said = bench.good(&["artifacts", "schedule", "live", "--every", "1h"]);
    assert!(!said.contains("also allows"), "it was allowed before: {said}");
    let other = Other::in_project(&bench);
    other.take_copy();
    let said = other.good(&["artifacts", "schedule", "live", "--on", "--dry-run"]);
    assert!(said.contains("this also allows refreshing from"), "{said}");
    let said = other.good(&["artifacts", "schedule", "live", "--on"]);
    assert!(said.contains("this also allows refreshing from"), "{said}");
    let said = other.good(&["artifacts", "schedule", "live", "--every", "2h"]);
    assert!(!said.contains("also allows"), "{said}");
}
