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

#[path = "../../examples/static_renderer.rs"]
mod static_renderer;

#[test]
fn a_template_and_its_data_are_a_page_or_refused_with_their_place() {
    static_renderer::main().unwrap();
    let page = |html: &str| static_renderer::render(html, br#"{ "n": 1234 }"#);
    let html = "<!doctype html><p>{{data.n | number}}</p>";
    assert_eq!(page(html).unwrap(), b"<!doctype html><p>1,234</p>");
    let refused = page("<p>{{data.n}}</p>\n<script>x()</script>").unwrap_err().to_string();
    assert!(refused.starts_with("2:"), "{refused}");
    assert!(static_renderer::render(html, b"{ \"n\": 1, \"n\": 2 }").is_err());
}

/// An example of each module runs as a test of the documentation.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test reads the repository; the core does not")]
fn every_public_module_has_an_example() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let text = std::fs::read_to_string(source.join("lib.rs")).unwrap();
    let (mut documentation, mut modules) = (String::new(), 0);
    for line in text.lines() {
        let name = line.strip_prefix("pub mod ").and_then(|rest| rest.split([' ', ';']).next());
        let Some(name) = name else {
            match line.starts_with("///") || line.starts_with("#[") {
                true => documentation.push_str(line),
                false => documentation.clear(),
            }
            continue;
        };
        if line.ends_with(';') {
            let file = [format!("{name}.rs"), format!("{name}/mod.rs")]
                .into_iter()
                .find_map(|file| std::fs::read_to_string(source.join(file)).ok())
                .unwrap();
            let header = file.lines().take_while(|line| line.starts_with("//!"));
            documentation.extend(header.map(str::to_owned));
        }
        assert!(documentation.contains("```"), "{name} has no example");
        documentation.clear();
        modules += 1;
    }
    assert!(modules > 20, "{modules}");
}
