//! `fixtures/golden`: vectors made by another implementation.

use od_core::ids::{Digest, Timestamp};
use od_core::json::{BoundedJson, Value, canonical_bytes};
use od_core::token::{Keyring, encode, verify};

macro_rules! golden {
    ($path:literal) => {
        serde_json::from_str::<Value>(include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../fixtures/golden/",
            $path
        )))
        .unwrap()
    };
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap()
}

#[test]
fn canonical_forms_and_their_digests() {
    let file = golden!("canonical.json");
    for case in file["cases"].as_array().unwrap() {
        let json = BoundedJson::parse(text(case, "input").as_bytes()).unwrap();
        let bytes = canonical_bytes(json.value());
        assert_eq!(String::from_utf8(bytes.clone()).unwrap(), text(case, "canonical"));
        assert_eq!(json.canonical_size(), bytes.len());
        assert_eq!(Digest::of_json(json.value()).as_str(), text(case, "digest"));
    }
}

#[test]
fn digests_of_bytes() {
    let file = golden!("digests.json");
    for case in file["cases"].as_array().unwrap() {
        assert_eq!(Digest::of_bytes(text(case, "text").as_bytes()).as_str(), text(case, "digest"));
    }
}

fn key(hex: &str) -> [u8; 32] {
    let bytes: Vec<u8> = (0..hex.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap())
        .collect();
    bytes.try_into().unwrap()
}

#[test]
fn tokens_and_tickets() {
    let file = golden!("tokens.json");
    let now: Timestamp = text(&file, "now").parse().unwrap();
    let (current, previous) =
        (key(text(&file["keys"], "current")), key(text(&file["keys"], "previous")));
    let ring = Keyring::new(current, Some(previous));
    for case in file["cases"].as_array().unwrap() {
        let parts: Vec<&str> =
            case["parts"].as_array().unwrap().iter().map(|part| part.as_str().unwrap()).collect();
        let token = parts.join(".");
        let verified = verify(&token, &ring, now).unwrap();
        let signer = if text(case, "key") == "current" { current } else { previous };
        assert_eq!(encode(verified.claims(), &Keyring::new(signer, None)), token);
    }
}
