//! Finding secrets that are known, in every encoding they may come back in.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::redact::REDACTED;
use crate::json::{Map, Value};

/// Takes known secrets out of texts: plain, base64 at any alignment, and URL-encoded in any spelling.
pub struct Scrubber {
    /// The forms that are looked for as they stand.
    needles: Vec<Vec<u8>>,
    /// The forms that are looked for in the URL-decoded text.
    plain: Vec<Vec<u8>>,
}

/// Shorter runs of base64 would be found by chance.
const BASE64_MIN: usize = 6;

impl Scrubber {
    /// Makes a scrubber of the given secrets; empty ones, and those that are a part of
    /// [`REDACTED`] itself, are ignored.
    #[must_use]
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut needles = Vec::new();
        let mut plain = Vec::new();
        for secret in secrets.into_iter().filter(|secret| !REDACTED.contains(secret)) {
            let bytes = secret.as_bytes();
            plain.push(bytes.to_vec());
            needles.push(bytes.to_vec());
            needles.extend(base64_forms(bytes));
            needles.extend(url_forms(bytes));
            let quoted = Value::from(secret).to_string();
            needles.push(quoted.as_bytes()[1..quoted.len() - 1].to_vec());
        }
        // The longest first: a secret that contains another goes whole.
        needles.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        needles.dedup();
        Self { needles, plain }
    }

    /// Returns a text without the secrets, or nothing if none was in it.
    #[must_use]
    pub fn scrub_text(&self, text: &str) -> Option<String> {
        let mut scrubbed = self.scrub_once(text)?;
        // The mark may form a secret with what stands beside it. Each round replaces something
        // the mark itself does not hold, and two were never needed; the bound is for safety.
        for _ in 0..4 {
            match self.scrub_once(&scrubbed) {
                Some(again) => scrubbed = again,
                None => return Some(scrubbed),
            }
        }
        Some(REDACTED.to_owned())
    }

    fn scrub_once(&self, text: &str) -> Option<String> {
        let mut spans = Vec::new();
        for needle in &self.needles {
            find_all(text.as_bytes(), needle, |start, end| spans.push((start, end)));
        }
        if text.bytes().any(|b| matches!(b, b'%' | b'+')) {
            self.find_url_encoded(text, &mut spans);
        }
        if spans.is_empty() { None } else { Some(cut(text, &mut spans)) }
    }

    /// Takes the secrets out of a value's strings and keys, and returns how many texts held one.
    pub fn scrub_json(&self, value: &mut Value) -> usize {
        if self.needles.is_empty() {
            return 0;
        }
        match value {
            Value::Null | Value::Bool(_) => 0,
            Value::Number(number) => {
                // A secret of digits may come back as a number.
                match self.scrub_text(&number.to_string()) {
                    Some(_) => {
                        *value = REDACTED.into();
                        1
                    }
                    None => 0,
                }
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

    /// Finds the secrets in the text as URL decoding reads it, whichever of its bytes are encoded.
    fn find_url_encoded(&self, text: &str, spans: &mut Vec<(usize, usize)>) {
        let bytes = text.as_bytes();
        let mut decoded = Vec::with_capacity(bytes.len());
        let mut starts = Vec::with_capacity(bytes.len() + 1);
        let mut at = 0;
        while at < bytes.len() {
            starts.push(at);
            let hex =
                |offset: usize| bytes.get(at + offset).and_then(|b| char::from(*b).to_digit(16));
            match (bytes[at], hex(1), hex(2)) {
                (b'%', Some(high), Some(low)) => {
                    decoded.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                    at += 3;
                }
                (b'+', _, _) => {
                    decoded.push(b' ');
                    at += 1;
                }
                (byte, _, _) => {
                    decoded.push(byte);
                    at += 1;
                }
            }
        }
        starts.push(at);
        let mut found = |haystack: &[u8], needle: &[u8]| {
            find_all(haystack, needle, |start, end| spans.push((starts[start], starts[end])));
        };
        for secret in &self.plain {
            found(&decoded, secret);
        }
        // In a query `+` is a space; in a path it is itself, and the secret may hold one.
        let literal_plus: Vec<u8> = decoded
            .iter()
            .zip(&starts)
            .map(|(byte, start)| if bytes[*start] == b'+' { b'+' } else { *byte })
            .collect();
        for secret in &self.plain {
            found(&literal_plus, secret);
        }
    }
}

/// Reveals nothing: its whole content is secret.
impl std::fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scrubber").field("secrets", &self.plain.len()).finish_non_exhaustive()
    }
}

/// Returns the part of the secret's base64 that no neighbour changes, at each of the three
/// alignments, in both alphabets.
fn base64_forms(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for lead in 0..3 {
        let mut padded = vec![0; lead];
        padded.extend_from_slice(secret);
        // Bits of the first characters belong to what stands before, of the last to what follows.
        let first = (lead * 8).div_ceil(6);
        let whole = padded.len() * 8 / 6;
        for encoded in [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)] {
            let form = encoded.as_bytes().get(first..whole).unwrap_or_default();
            if form.len() >= BASE64_MIN {
                forms.push(form.to_vec());
            }
        }
    }
    forms
}

/// Returns the usual URL-encoded spellings, found even where a stray `%` stands before them and
/// decoding would read across the seam.
fn url_forms(secret: &[u8]) -> Vec<Vec<u8>> {
    const UPPER: &[u8; 16] = b"0123456789ABCDEF";
    const LOWER: &[u8; 16] = b"0123456789abcdef";
    let spell = |digits: &[u8; 16], keep: fn(&u8) -> bool| {
        let mut form = Vec::with_capacity(secret.len() * 3);
        for byte in secret {
            if keep(byte) {
                form.push(*byte);
            } else {
                let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
                form.extend([b'%', digits[high], digits[low]]);
            }
        }
        form
    };
    let mut forms = Vec::new();
    for digits in [UPPER, LOWER] {
        forms.push(spell(digits, u8::is_ascii_alphanumeric));
        forms.push(spell(digits, |b| b.is_ascii_alphanumeric() || b"-._~".contains(b)));
        forms.push(spell(digits, |_| false));
    }
    forms
}

fn find_all(haystack: &[u8], needle: &[u8], mut found: impl FnMut(usize, usize)) {
    let Some((first, rest)) = needle.split_first() else { return };
    let mut at = 0;
    while let Some(offset) = haystack[at..].iter().position(|b| b == first) {
        let start = at + offset;
        if haystack[start + 1..].starts_with(rest) {
            found(start, start + needle.len());
        }
        at = start + 1;
    }
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
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

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
    fn numbers_and_keys_are_scrubbed_too() {
        let scrubber = Scrubber::new(["12345678", ""]);
        let mut value = json!({ "k12345678": [12_345_678, 9], "ok": "fine" });
        assert_eq!(scrubber.scrub_json(&mut value), 2);
        assert_eq!(value, json!({ "k[redacted]": ["[redacted]", 9], "ok": "fine" }));
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
            for text in [
                format!("{before}{secret}{after}"),
                format!("{before}{}{after}", percent(&secret, false, false)),
                format!("{before}{}{after}", percent(&secret, true, true)),
            ] {
                let scrubbed = scrubber.scrub_text(&text).unwrap();
                prop_assert!(!scrubbed.contains(&secret));
                prop_assert!(scrubber.scrub_text(&scrubbed).is_none());
            }
            for encoded in [
                STANDARD_NO_PAD.encode(format!("{before}{secret}{after}")),
                URL_SAFE_NO_PAD.encode(format!("{before}{secret}{after}")),
            ] {
                prop_assert!(scrubber.scrub_text(&encoded).is_some());
            }
        }
    }
}
