//! `od demo --once`: three artifacts, refreshed for real, nothing left behind.

use crate::bench::Bench;

#[test]
fn the_demo_follows_its_sources_and_leaves_nothing() {
    let bench = Bench::new();
    let story = bench.json(&["demo", "--once"]);
    assert_eq!(story["artifacts"], 3);
    let steps = story["steps"].as_array().unwrap();
    let said = |word: &str| steps.iter().filter(|step| step["step"] == word).count();
    assert_eq!((said("created"), said("refreshed")), (3, 7));
    let last = steps.last().unwrap();
    assert_eq!(last["what"], "nothing changed at the source");
    assert!(!bench.root().join("home").exists(), "the demo wrote into the person's home");
}
