//! Any bytes as a template: no panic, no hang, the same answer twice, and fixes that can be applied.
#![no_main]

use libfuzzer_sys::fuzz_target;
use od_core::template::{Fix, Template};

fuzz_target!(|bytes: &[u8]| {
    let Ok(html) = std::str::from_utf8(bytes) else { return };
    match (Template::compile(html), Template::compile(html)) {
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
            let _ = Template::compile(&Fix::apply(html, issues.iter().map(|issue| &issue.fix)));
        }
        _ => panic!("two answers"),
    }
});
