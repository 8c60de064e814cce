//! Any bytes as a template: no panic, no hang, the same answer twice, and fixes that can be applied.
#![no_main]

use libfuzzer_sys::fuzz_target;
use od_core::template::{Fix, Grammar, Template};

fuzz_target!(|bytes: &[u8]| {
    let Ok(html) = std::str::from_utf8(bytes) else { return };
    for grammar in [Grammar::V1, Grammar::V2] {
        compile_twice(html, grammar);
    }
});

fn compile_twice(html: &str, grammar: Grammar) {
    match (Template::compile_as(html, grammar), Template::compile_as(html, grammar)) {
        (Ok((one, warnings)), Ok((two, again))) => {
            assert_eq!(one.bindings(), two.bindings());
            assert_eq!(warnings, again);
        }
        (Err(issues), Err(again)) => {
            assert_eq!(issues, again);
            assert!(!issues.is_empty());
            for issue in &issues {
                assert!(!issue.fix.edits.is_empty(), "{issue}");
                for edit in &issue.fix.edits {
                    assert!(html.is_char_boundary(edit.start) && html.is_char_boundary(edit.end), "{issue}");
                }
            }
            let _ = Template::compile_as(&Fix::apply(html, issues.iter().map(|issue| &issue.fix)), grammar);
        }
        _ => panic!("two answers"),
    }
}
