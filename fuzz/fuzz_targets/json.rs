//! Bytes into bounded JSON: never a panic; what is accepted reads back the same and counts right.
#![no_main]

use libfuzzer_sys::fuzz_target;
use od_core::json::{BoundedJson, Value, canonical_bytes, parse_message, pretty_bytes};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(value) = parse_message(bytes) {
        assert!(serde_json::from_slice::<Value>(bytes).is_ok(), "accepted what is not JSON");
        let canonical = canonical_bytes(&value);
        assert_eq!(parse_message(&canonical).as_ref(), Ok(&value));
        let _ = BoundedJson::check(value);
    }
    match BoundedJson::parse(bytes) {
        Ok(json) => {
            let canonical = canonical_bytes(json.value());
            assert_eq!(canonical.len(), json.canonical_size());
            assert_eq!(BoundedJson::parse(&canonical).as_ref(), Ok(&json));
            assert_eq!(BoundedJson::parse(&pretty_bytes(json.value())).as_ref(), Ok(&json));
            assert_eq!(BoundedJson::check(json.value().clone()).as_ref(), Ok(&json));
        }
        Err(faults) => {
            assert!(!faults.faults().is_empty() && faults.faults().len() <= 20);
            let _ = faults.issues("/x");
        }
    }
});
