//! Finding secrets that are known, in every encoding they may come back in.

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind};

use super::encoding::{decode_entities, decode_escapes, decode_percent, exact_forms, folded_forms};
use super::redact::REDACTED;
use crate::connector::ConnectionString;
use crate::json::{Map, Value};

/// A shorter password of a database is a word like others: `shop`, `test`.
const PASSWORD_MIN: usize = 8;

/// Takes known secrets out of texts, in time that grows with the text alone: plain, base64 and base32
/// at any alignment, hexadecimal, URL-encoded in any spelling, with `\u` and `\x` escapes, and as HTML
/// references.
pub struct Scrubber {
    /// The secrets themselves.
    secrets: Vec<String>,
    /// What is looked for; none if there are no secrets.
    needles: Option<Needles>,
}

struct Needles {
    /// The secrets, for texts that were decoded.
    plain: AhoCorasick,
    /// The secrets and their encodings that tell small letters from capitals.
    exact: AhoCorasick,
    /// The encodings that do not.
    folded: AhoCorasick,
}

impl Needles {
    fn new(secrets: &[String]) -> Self {
        let of = |forms: fn(&str) -> Vec<Vec<u8>>| secrets.iter().flat_map(move |s| forms(s));
        Self {
            plain: automaton(secrets.iter().map(|secret| secret.clone().into_bytes()), false),
            exact: automaton(of(exact_forms), false),
            folded: automaton(of(folded_forms), true),
        }
    }
}

fn automaton(needles: impl Iterator<Item = Vec<u8>>, ignores_case: bool) -> AhoCorasick {
    AhoCorasickBuilder::new()
        .ascii_case_insensitive(ignores_case)
        // One is built for every call of a tool: a table for every byte of every state costs more
        // to fill than a call reads.
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(needles)
        .expect("a few dozen forms of a few secrets of 4 KiB have fewer than 2^31 states")
}

impl Scrubber {
    /// Makes a scrubber of the given secrets; empty ones, and those that are a part of
    /// [`REDACTED`] itself, are ignored. Of a connection string the password is one more secret, unless
    /// it is so short that scrubbing it would tear holes into ordinary text.
    #[must_use]
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let secrets = secrets.into_iter().filter(|secret| !REDACTED.contains(secret));
        let mut secrets: Vec<String> = secrets.map(str::to_owned).collect();
        let passwords = secrets.iter().filter_map(|secret| {
            let connection = secret.parse::<ConnectionString>().ok()?;
            connection.expose_password().map(str::to_owned)
        });
        let passwords: Vec<String> =
            passwords.filter(|password| password.len() >= PASSWORD_MIN).collect();
        secrets.extend(passwords);
        let needles = (!secrets.is_empty()).then(|| Needles::new(&secrets));
        Self { secrets, needles }
    }

    /// Returns a text without the secrets, or nothing if none was in it.
    #[must_use]
    pub fn scrub_text(&self, text: &str) -> Option<String> {
        let needles = self.needles.as_ref()?;
        let mut scrubbed = scrub_once(needles, text)?;
        // The mark may form a secret with what stands beside it. Each round replaces something
        // the mark itself does not hold, and two were never needed; the bound is for safety.
        for _ in 0..4 {
            match scrub_once(needles, &scrubbed) {
                Some(again) => scrubbed = again,
                None => return Some(scrubbed),
            }
        }
        Some(REDACTED.to_owned())
    }

    /// Returns whether a number is a secret. A number that only holds its digits is another one.
    #[must_use]
    pub fn is_secret_number(&self, number: &str) -> bool {
        self.secrets.iter().any(|secret| secret == number)
    }

    /// Takes the secrets out of a value's strings and keys, and returns how many texts held one.
    pub fn scrub_json(&self, value: &mut Value) -> usize {
        if self.needles.is_none() {
            return 0;
        }
        match value {
            Value::Null | Value::Bool(_) => 0,
            Value::Number(number) => {
                // A secret of digits may come back as a number.
                if !self.is_secret_number(&number.to_string()) {
                    return 0;
                }
                *value = REDACTED.into();
                1
            }
            Value::String(text) => match self.scrub_text(text) {
                Some(scrubbed) => {
                    *text = scrubbed;
                    1
                }
                None => 0,
            },
            Value::Array(items) => items.iter_mut().map(|item| self.scrub_json(item)).sum(),
            Value::Object(map) => self.scrub_object(map),
        }
    }

    fn scrub_object(&self, map: &mut Map) -> usize {
        let mut count: usize = map.values_mut().map(|item| self.scrub_json(item)).sum();
        if map.keys().any(|key| self.scrub_text(key).is_some()) {
            *map = std::mem::take(map)
                .into_iter()
                .map(|(key, item)| match self.scrub_text(&key) {
                    Some(scrubbed) => {
                        count += 1;
                        (scrubbed, item)
                    }
                    None => (key, item),
                })
                .collect();
        }
        count
    }
}

/// Reveals nothing: its whole content is secret.
impl std::fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scrubber").field("secrets", &self.secrets.len()).finish_non_exhaustive()
    }
}

fn scrub_once(needles: &Needles, text: &str) -> Option<String> {
    let mut spans = Vec::new();
    for automaton in [&needles.exact, &needles.folded] {
        // Overlapping: one secret may be the beginning of another, whose end would stay in the text.
        spans.extend(automaton.find_overlapping_iter(text).map(|hit| (hit.start(), hit.end())));
    }
    let decoders = [
        (&b"%+"[..], decode_percent as fn(&str) -> _, false),
        (b"%+", decode_percent, true),
        (b"\\", decode_escapes, false),
        (b"&", decode_entities, false),
    ];
    for (marks, decode, literal_plus) in decoders {
        if !text.bytes().any(|byte| marks.contains(&byte)) {
            continue;
        }
        let mut decoded = decode(text);
        if literal_plus {
            // In a query `+` is a space; in a path it is itself, and the secret may hold one.
            decoded.restore(text, b'+');
        }
        let hits = needles.plain.find_overlapping_iter(&decoded.bytes);
        spans.extend(hits.map(|hit| decoded.span(hit.start(), hit.end())));
    }
    if spans.is_empty() { None } else { Some(cut(text, &mut spans)) }
}

/// Replaces the spans, overlapping or not, growing each to whole characters.
fn cut(text: &str, spans: &mut [(usize, usize)]) -> String {
    spans.sort_unstable();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut covered_to = None;
    for &(start, end) in spans.iter() {
        if covered_to.is_some_and(|covered| start <= covered) {
            covered_to = covered_to.max(Some(end));
        } else {
            if let Some(covered) = covered_to {
                out.push_str(REDACTED);
                at = covered;
            }
            let start = (at..=start).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(at);
            out.push_str(&text[at..start]);
            covered_to = Some(end);
        }
        let grown = covered_to
            .and_then(|covered| (covered..=text.len()).find(|i| text.is_char_boundary(*i)));
        covered_to = grown.or(covered_to);
    }
    if let Some(covered) = covered_to {
        out.push_str(REDACTED);
        at = covered;
    }
    out.push_str(&text[at.min(text.len())..]);
    out
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::template::read_reference;

    /// One way to write every character of a text.
    fn spelled(text: &str, write: impl Fn(char) -> String) -> String {
        text.chars().map(write).collect()
    }

    fn hex(text: &str) -> String {
        text.bytes().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Base32 by its definition, bit by bit.
    fn base32(bytes: &[u8]) -> String {
        let bits: Vec<u8> =
            bytes.iter().flat_map(|byte| (0..8).rev().map(move |i| byte >> i & 1)).collect();
        let digit = |bits: &[u8]| {
            let value = bits.iter().fold(0, |value, bit| value << 1 | bit) << (5 - bits.len());
            char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[usize::from(value)])
        };
        bits.chunks(5).map(digit).collect()
    }

    /// Every encoding that a secret is looked for in, of a text around it.
    fn encodings(text: &str) -> Vec<String> {
        let names = [('&', "&amp;"), ('/', "&sol;"), ('<', "&lt;"), ('@', "&commat;")];
        let entity = |c: char| {
            let name = names.iter().find(|(plain, _)| *plain == c);
            name.map_or_else(|| c.to_string(), |(_, name)| (*name).to_owned())
        };
        vec![
            text.to_owned(),
            percent(text, false, false),
            percent(text, true, true),
            STANDARD_NO_PAD.encode(text),
            URL_SAFE_NO_PAD.encode(text),
            hex(text),
            hex(text).to_uppercase(),
            base32(text.as_bytes()),
            base32(text.as_bytes()).to_lowercase(),
            spelled(text, |c| format!("\\u{:04x}", u32::from(c))),
            spelled(text, |c| format!("\\u{:04X}", u32::from(c))),
            spelled(text, |c| format!("\\\\u{:04x}", u32::from(c))),
            spelled(text, |c| format!("\\u{{{:x}}}", u32::from(c))),
            spelled(text, |c| format!("&#{};", u32::from(c))),
            spelled(text, |c| format!("&#x{:X};", u32::from(c))),
            spelled(text, entity),
        ]
    }

    /// Returns whether HTML reads what begins at an offset as the end of a reference that began before
    /// it, as in `&#` and `0A &lt;`: then it is no longer an encoding of the secret, for anyone.
    fn is_swallowed(text: &str, offset: usize) -> bool {
        let crosses =
            |at: usize| read_reference(&text[at..]).is_ok_and(|(_, length)| at + length > offset);
        text[..offset].match_indices('&').any(|(at, _)| crosses(at))
    }

    fn percent(text: &str, lower: bool, every: bool) -> String {
        text.bytes()
            .map(|b| match (b.is_ascii_alphanumeric() && !every, lower) {
                (true, _) => char::from(b).to_string(),
                (false, true) => format!("%{b:02x}"),
                (false, false) => format!("%{b:02X}"),
            })
            .collect()
    }

    #[test]
    fn the_password_of_a_connection_string_is_a_secret_of_its_own() {
        let text = "postgresql://reader:s3cr3t%2Fvalue@localhost/shop";
        let scrubber = Scrubber::new([text]);
        for hidden in [text, "pw s3cr3t/value!"] {
            assert!(!scrubber.scrub_text(hidden).unwrap().contains("cr3t"), "{hidden}");
        }
        assert_eq!(scrubber.scrub_text("reader localhost"), None);
        assert_eq!(Scrubber::new(["postgresql://me:shop@localhost/x"]).scrub_text("shop"), None);
    }

    #[test]
    fn a_secret_goes_in_every_encoding() {
        let secret = "p@ss w0rd/+ö";
        let scrubber = Scrubber::new([secret]);
        let forms = [
            secret.to_owned(),
            percent(secret, false, false),
            percent(secret, true, false),
            percent(secret, false, true),
            percent(secret, false, false).replace("%20", "+"),
            STANDARD_NO_PAD.encode(secret),
            STANDARD_NO_PAD.encode(format!("user:{secret}:x")),
            URL_SAFE_NO_PAD.encode(format!("a{secret}")),
            URL_SAFE_NO_PAD.encode(format!("ab{secret}bcd")),
        ];
        for form in forms {
            let scrubbed = scrubber.scrub_text(&format!("x={form}&y=1")).unwrap();
            assert!(scrubbed.starts_with("x=") && scrubbed.contains(REDACTED), "{scrubbed}");
            assert!(!scrubbed.contains(&form), "{form}");
        }
    }

    #[test]
    fn escapes_may_stand_for_some_of_the_characters_only() {
        let scrubber = Scrubber::new(["tok/en+12345"]);
        for text in [
            r"a tok\/en\u002b12345 b",
            r"a tok\x2Fen\x2b12345 b",
            "a tok&#47;en+12345 b",
            "a tok&sol;en&#x2B;12345 b",
            "a tok%2fen+12345 b",
        ] {
            assert_eq!(scrubber.scrub_text(text).as_deref(), Some("a [redacted] b"), "{text}");
        }
    }

    #[test]
    fn a_long_text_is_read_in_time_that_grows_with_its_length() {
        // Every place of it begins a needle that ends just short of its end.
        let secret = format!("{}bbb", "a".repeat(4_000));
        let scrubber = Scrubber::new([secret.as_str()]);
        for unit in ["a", "%61", "61", "&#97;", "\\u0061", "YWFh"] {
            let text = unit.repeat(300_000 / unit.len());
            assert_eq!(scrubber.scrub_text(&text), None, "{unit}");
        }
    }

    #[test]
    fn numbers_and_keys_are_scrubbed_too() {
        let scrubber = Scrubber::new(["12345678", ""]);
        let mut value = json!({ "k12345678": [12_345_678, 9], "ok": "fine", "n": 912_345_678 });
        assert_eq!(scrubber.scrub_json(&mut value), 2);
        // A count that happens to hold the digits of a secret is still that count.
        let want = json!({ "k[redacted]": ["[redacted]", 9], "ok": "fine", "n": 912_345_678 });
        assert_eq!(value, want);
    }

    #[test]
    fn debug_output_holds_no_secret() {
        assert_eq!(format!("{:?}", Scrubber::new(["hunter2!"])), "Scrubber { secrets: 1, .. }");
    }

    proptest! {
        #[test]
        fn a_scrubbed_secret_never_appears(
            secret in "[ -~]{8,40}",
            before in "[ -~é]{0,20}",
            after in "[ -~é]{0,20}",
        ) {
            // A secret made of pieces of the mark itself cannot be told from the mark.
            prop_assume!(!REDACTED.contains(&secret) && !secret.contains(REDACTED));
            let scrubber = Scrubber::new([secret.as_str()]);
            for encoded in encodings(&secret) {
                let text = format!("{before}{encoded}{after}");
                if is_swallowed(&text, before.len()) {
                    continue;
                }
                let scrubbed = scrubber.scrub_text(&text);
                prop_assert!(scrubbed.is_some(), "{}", text);
                let scrubbed = scrubbed.unwrap_or_default();
                prop_assert!(!scrubbed.contains(&secret) && !scrubbed.contains(&encoded));
                prop_assert!(scrubber.scrub_text(&scrubbed).is_none());
            }
            // Encoded with what stands around it: at any alignment.
            for encoded in encodings(&format!("{before}{secret}{after}")) {
                prop_assert!(scrubber.scrub_text(&encoded).is_some(), "{}", encoded);
            }
        }
    }
}
