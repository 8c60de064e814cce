//! The example that `docs/embedding.md` shows does what it says.

use od_core::decide::Decision;
use od_core::ids::Timestamp;

#[path = "../../examples/embed.rs"]
mod embed;

#[test]
fn a_request_becomes_a_page_and_an_output_its_next_data() {
    let at = Timestamp::from_unix_ms;
    let first = embed::create(at(0)).unwrap();
    assert_eq!(first.state.artifact.id.as_str(), "la-open-issues-010203040506");
    assert_eq!(first.state.provenance.sources[0].label, "issues.json");
    let page = |decision: &Decision| String::from_utf8(decision.page.to_vec()).unwrap();
    assert!(page(&first).contains("<title>Open issues</title><ul></ul>"));
    let next = embed::refresh(&first.state, at(1)).unwrap().unwrap();
    assert!(page(&next).contains("<li>search &lt;b&gt;: 3</li>"));
    assert_eq!(next.state.provenance.generated_at, at(1));
}

#[test]
fn the_example_runs_and_its_refusal_is_whole() {
    embed::main().unwrap();
    let refused = embed::refused();
    let paths: Vec<_> = refused.iter().map(|issue| issue.path.as_str()).collect();
    assert_eq!(paths, ["/input/titel", "/input/title", "/input/document/dataJson/token"]);
}
