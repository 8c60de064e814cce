//! Every limit of bounded JSON at one below, at, and one above, parsed and checked.

use od_core::artifact::CreateRequest;
use od_core::error::Issue;
use od_core::json::{BoundedJson, FaultKind, Value, canonical_bytes};
use od_core::limits::{
    JSON_DEPTH, JSON_DOCUMENT, JSON_INTEGER, JSON_ITEMS, JSON_KEYS, JSON_STRING, RENDERED_PREVIEW,
    TEMPLATE,
};
use od_core::template::Template;

#[track_caller]
fn check(text: &str, want: Option<FaultKind>) {
    let kinds = |found: Result<BoundedJson, od_core::json::JsonFaults>| match found {
        Ok(_) => Vec::new(),
        Err(faults) => faults.faults().iter().map(|fault| fault.kind).collect(),
    };
    let want: Vec<FaultKind> = want.into_iter().collect();
    let start: String = text.chars().take(60).collect();
    assert_eq!(kinds(BoundedJson::parse(text.as_bytes())), want, "parsing {start}");
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        assert_eq!(kinds(BoundedJson::check(value)), want, "checking {start}");
    }
}

/// Checks a family of documents around its limit.
#[track_caller]
fn around(limit: usize, kind: FaultKind, make: impl Fn(usize) -> String) {
    check(&make(limit - 1), None);
    check(&make(limit), None);
    check(&make(limit + 1), Some(kind));
}

#[test]
fn depth() {
    around(JSON_DEPTH.max(), FaultKind::TooDeep, |n| "[".repeat(n) + &"]".repeat(n));
    around(JSON_DEPTH.max(), FaultKind::TooDeep, |n| {
        "{\"a\":".repeat(n - 1) + "{}" + &"}".repeat(n - 1)
    });
    around(JSON_DEPTH.max(), FaultKind::TooDeep, |n| {
        "[".repeat(n) + "\"scalars do not count\"" + &"]".repeat(n)
    });
}

#[test]
fn keys_and_items() {
    around(JSON_KEYS.max(), FaultKind::TooManyKeys, |n| {
        let members: Vec<String> = (0..n).map(|i| format!("\"k{i}\":{i}")).collect();
        format!("{{{}}}", members.join(","))
    });
    around(JSON_ITEMS.max(), FaultKind::TooManyItems, |n| format!("[{}]", vec!["0"; n].join(",")));
}

#[test]
fn strings_in_utf16_units() {
    let max = JSON_STRING.max();
    around(max, FaultKind::StringTooLong, |n| format!("\"{}\"", "a".repeat(n)));
    around(max, FaultKind::StringTooLong, |n| format!("\"{}\"", "é".repeat(n)));
    // Two units each: the astral character that would not fit is the one that is refused.
    around(max / 2, FaultKind::StringTooLong, |n| format!("\"{}\"", "😀".repeat(n)));
    around(max / 2, FaultKind::StringTooLong, |n| format!("\"{}\"", "\\ud83d\\ude00".repeat(n)));
    around(max, FaultKind::StringTooLong, |n| format!("\"{}\"", "\\n".repeat(n)));
    around(max, FaultKind::StringTooLong, |n| format!("{{\"{}\":1}}", "k".repeat(n)));
    check(&format!("\"{}a\"", "😀".repeat(max / 2)), Some(FaultKind::StringTooLong));
}

#[test]
fn documents_in_canonical_bytes() {
    // 16 strings and one that fills up: brackets 2, quotes 2 and a comma each.
    let filled = |n: usize, pad: &str, pad_size: usize| {
        let one = format!("\"{}\"", pad.repeat(16_000 / pad_size));
        let used = 2 + 16 * (16_000 / pad_size * pad_size + 3);
        format!("[{},\"{}\"]", vec![one; 16].join(","), "x".repeat(n - used - 2))
    };
    let max = JSON_DOCUMENT.max();
    around(max, FaultKind::DocumentTooLarge, |n| filled(n, "a", 1));
    // An escape counts as its canonical spelling, not as it was sent.
    around(max, FaultKind::DocumentTooLarge, |n| filled(n, "\\u000a", 2));
    around(max, FaultKind::DocumentTooLarge, |n| filled(n, "é", 2));
    // Space between tokens does not count.
    let spaced = filled(max, "a", 1).replace(',', " ,\n ");
    check(&spaced, None);
    let json = BoundedJson::parse(spaced.as_bytes()).unwrap();
    assert_eq!(json.canonical_size(), max);
    assert_eq!(canonical_bytes(json.value()).len(), max);
}

#[test]
fn numbers() {
    let max = JSON_INTEGER.allowed;
    for sign in ["", "-"] {
        check(&format!("{sign}{}", max - 1), None);
        check(&format!("{sign}{max}"), None);
        check(&format!("{sign}{}", max + 1), Some(FaultKind::InexactNumber));
        check(&format!("{sign}{max}.0"), None);
        check(&format!("{sign}9007199254740993e0"), Some(FaultKind::InexactNumber));
        check(&format!("{sign}1e20"), Some(FaultKind::InexactNumber));
        // From 1e21 on the canonical form has an exponent and reads back as it was.
        check(&format!("{sign}1e21"), None);
        check(&format!("{sign}1.7976931348623157e308"), None);
    }
    // Only the literal tells these apart, and serde_json cannot: they are parsed, not checked.
    for refused in ["1000000000000000000000", "18446744073709551616", "1e400", "-1e400"] {
        let faults = BoundedJson::parse(refused.as_bytes()).unwrap_err();
        assert_eq!(faults.faults()[0].kind, FaultKind::InexactNumber, "{refused}");
    }
    for zero in ["-0", "-0.0", "0e9", "-0e-9"] {
        assert_eq!(BoundedJson::parse(zero.as_bytes()).unwrap().into_value(), 0, "{zero}");
    }
}

#[test]
fn what_json_may_not_hold() {
    let kind = |text: &str| BoundedJson::parse(text.as_bytes()).unwrap_err().faults()[0].kind;
    assert_eq!(kind(r#"{"a":1,"\u0061":2}"#), FaultKind::DuplicateKey);
    assert_eq!(kind(r#"{"a":"\u0000"}"#), FaultKind::NulCharacter);
    assert_eq!(kind(r#"{"\u0000":1}"#), FaultKind::NulCharacter);
    for lone in [r#""\ud800""#, r#""\udc00""#, r#""\ud800x""#, r#""\ud800\ud800\udc00""#] {
        assert_eq!(kind(lone), FaultKind::LoneSurrogate, "{lone}");
    }
    assert_eq!(kind(r#"[{"To-Ken":1}]"#), FaultKind::DeniedKey);
}

#[test]
fn data_that_is_too_deep_is_told_its_own_limit_in_a_request_too() {
    let deep = "[".repeat(18) + &"]".repeat(18);
    let request = format!(
        r#"{{"input":{{"title":"T","document":{{"format":"html_template_v1","dataJson":{{"a":{deep}}}}}}}}}"#
    );
    let request = od_core::json::parse_message(request.as_bytes()).unwrap();
    let issues = CreateRequest::parse(&request).unwrap_err();
    let issue = issues.iter().find(|issue| issue.code == "too_deep").unwrap();
    assert!(issue.want.as_deref().unwrap().starts_with("at most 8 levels"), "{issue:?}");
}

#[test]
fn what_a_template_is_refused_for_names_the_limits_of_the_table() {
    let long = " ".repeat(TEMPLATE.max() + 1);
    let issue = Issue::from(&Template::compile(&long).unwrap_err()[0]);
    let said: String = issue.want.unwrap().chars().filter(|c| *c != ',').collect();
    assert!(said.contains(&TEMPLATE.allowed.to_string()), "{said}");
    assert!(issue.message.contains(&long.len().to_string()), "{}", issue.message);

    let page = "<body><p data-od-repeat=\"r in data.rows\">{{data.text}}</p>";
    let (template, _) = Template::compile(page).unwrap();
    let data = serde_json::json!({ "rows": vec![1; 500], "text": "x".repeat(20_000) });
    let issue = Issue::from(&template.render(&data, &mut std::io::sink()).unwrap_err());
    assert_eq!(issue.want, Some(RENDERED_PREVIEW.want()));
    let measured: usize = issue.got.unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(measured > RENDERED_PREVIEW.max(), "{measured}");
}
