//! A template and, behind a NUL, its data: no panic, the same page twice, and no raw markup from data.
#![no_main]

use libfuzzer_sys::fuzz_target;
use od_core::format::{Context, Locale};
use od_core::template::{Grammar, InspectedPath, Inspection, Template};
use serde_json::{Value, json};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (html, rest) = text.split_once('\0').unwrap_or((text, "<x>"));
    for grammar in [Grammar::V1, Grammar::V2] {
        render_twice(html, rest, grammar);
    }
});

fn render_twice(html: &str, rest: &str, grammar: Grammar) {
    let Ok((template, _)) = Template::compile_as(html, grammar) else { return };
    let data: Value = serde_json::from_str(rest).unwrap_or_else(|_| {
        json!({
            "t": rest, "n": 1.5, "none": null, "at": "2026-11-17T08:05:00Z", "flag": true,
            "rows": [{ "t": rest, "u": "https://a.test/" }, {}], "list": [rest, 1, true],
            "days": [{ "day": "2026-01-01", "v": 1, "w": null }, { "day": "2026-01-02", "v": -2.5, "w": 1e12 }]
        })
    });
    let locale = Locale::ALL[rest.len() % Locale::ALL.len()];
    let context = Context { locale, ..Context::default() };
    let mut one = Vec::new();
    let mut two = Vec::new();
    let first = template.render_with(&data, &context, &mut one);
    let second = template.render_with(&data, &context, &mut two);
    assert_eq!(first.is_ok(), second.is_ok());
    assert_eq!(one, two);
    let check = template.check_with(&data, &context);
    // The check also knows what would go wrong behind conditions that do not hold now.
    assert!(first.is_ok() || !check.errors.is_empty());
    assert!(grammar == Grammar::V2 || first.is_ok() == check.errors.is_empty());
    if let Ok(report) = first {
        assert_eq!(report.bytes, one.len());
        assert!(std::str::from_utf8(&one).is_ok());
        let mut inspected = Vec::new();
        let origin = InspectedPath { path: "data".into(), source: "\"<".into(), time: "'>".into(), is_fixed: false };
        let inspection = Inspection { paths: &[origin] };
        template.render_inspect_with(&data, &context, inspection, &mut inspected).unwrap();
        template.chart_tables(&data, &context).unwrap();
    }
}
