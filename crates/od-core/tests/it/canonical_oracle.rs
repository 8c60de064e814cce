//! The canonical form against two other implementations, on random documents.

use od_core::json::{
    BoundedJson, Value, canonical_bytes, canonical_size, parse_message, pretty_bytes,
};
use proptest::prelude::*;

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |double| {
            serde_json::Number::from_f64(double).map(Value::Number)
        }),
        (-1e6..1e6_f64).prop_map(Value::from),
        (0_i32..10_000, 0_i32..9).prop_map(|(n, e)| Value::from(f64::from(n) / 10_f64.powi(e))),
    ]
}

fn document() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["\\PC{0,12}", "[\"\\\\/\u{1}-\u{1f}é\u{fb33}😀a]{0,8}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_canonical_form_is_that_of_the_oracles(value in document()) {
        let ours = canonical_bytes(&value);
        prop_assert_eq!(&ours, &serde_json_canonicalizer::to_vec(&value).unwrap());
        prop_assert_eq!(&ours, &serde_jcs::to_vec(&value).unwrap());
        prop_assert_eq!(canonical_size(&value), ours.len());
    }

    #[test]
    fn what_is_accepted_reads_back_the_same(value in document()) {
        if let Ok(json) = BoundedJson::check(value.clone()) {
            prop_assert_eq!(json.canonical_size(), canonical_bytes(json.value()).len());
            for bytes in [canonical_bytes(json.value()), pretty_bytes(json.value())] {
                let again = BoundedJson::parse(&bytes).unwrap();
                prop_assert_eq!(&again, &json);
            }
        }
    }

    #[test]
    fn parsing_and_checking_agree(value in document()) {
        let text = serde_json::to_vec(&value).unwrap();
        // What serde_json prints of a large integer double has an exponent or a point; the value
        // decides, not its spelling.
        let parsed = BoundedJson::parse(&text);
        let checked = BoundedJson::check(value);
        match (parsed, checked) {
            (Ok(parsed), Ok(checked)) => prop_assert_eq!(parsed, checked),
            (Err(parsed), Err(checked)) => prop_assert_eq!(parsed.faults().len(), checked.faults().len()),
            (parsed, checked) => prop_assert!(false, "{parsed:?} {checked:?}"),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let ours = parse_message(&bytes);
        // What we accept, serde_json accepts; it also accepts what we refuse.
        if ours.is_ok() {
            prop_assert!(serde_json::from_slice::<Value>(&bytes).is_ok());
        }
    }

    #[test]
    fn json_like_text_is_judged_as_serde_json_judges_it(
        text in "([\\[\\]{},:]|\"a\"|\"\\\\u00e9\"|1|-0.5|1e2|true|null| ){0,12}"
    ) {
        let ours = parse_message(text.as_bytes());
        let theirs = serde_json::from_str::<Value>(&text);
        match (&ours, &theirs) {
            (Ok(_), Ok(_)) => {}
            (Err(faults), Err(_)) => prop_assert!(faults.is_syntax()),
            // Only a repeated key makes us stricter here.
            (Err(faults), Ok(_)) => prop_assert!(!faults.is_syntax()),
            (Ok(_), Err(error)) => prop_assert!(false, "{text}: {error}"),
        }
    }
}
