//! The forms credentials have.
//!
//! One linear pass by hand: the texts are hostile, and each place is looked at only as far as the
//! longest form needs.

use std::ops::Range;

use crate::words::words;

words! {
    /// What a text looks like.
    CredentialKind {
        /// A key with a provider's prefix.
        ProviderKey = "provider_key",
        /// A JSON Web Token.
        Jwt = "jwt",
        /// An authorization header's value.
        Bearer = "bearer",
        /// A PEM block.
        Pem = "pem",
        /// A URL with a user or password.
        UrlUserinfo = "url_userinfo",
    }
}

/// A provider's prefix, how many letters must follow, and whether a digit must be among them.
struct Prefix {
    text: &'static str,
    tail_min: usize,
    needs_digit: bool,
}

const fn prefix(text: &'static str, tail_min: usize, needs_digit: bool) -> Prefix {
    Prefix { text, tail_min, needs_digit }
}

/// By their bytes, so that those with the same first one stand together. Where words such as `sk-`
/// are common outside keys, a digit must follow.
const PREFIXES: &[Prefix] = &[
    prefix("AGE-SECRET-KEY-1", 40, false),
    prefix("AIza", 30, false),
    prefix("AKIA", 16, true),
    prefix("ASIA", 16, true),
    prefix("SG.", 40, true),
    prefix("dop_v1_", 40, false),
    prefix("gho_", 20, false),
    prefix("ghp_", 20, false),
    prefix("ghr_", 20, false),
    prefix("ghs_", 20, false),
    prefix("ghu_", 20, false),
    prefix("github_pat_", 20, false),
    prefix("glpat-", 16, false),
    prefix("hf_", 30, false),
    prefix("lin_api_", 20, false),
    prefix("npm_", 30, false),
    prefix("ntn_", 40, false),
    prefix("odt.v1.", 20, false),
    prefix("pypi-", 40, true),
    prefix("rk_live_", 16, false),
    prefix("rk_test_", 16, false),
    prefix("secret_", 40, false),
    prefix("shpat_", 30, false),
    prefix("sk-", 20, true),
    prefix("sk_live_", 16, false),
    prefix("sk_test_", 16, false),
    prefix("whsec_", 16, false),
    prefix("xapp-", 10, true),
    prefix("xoxa-", 10, true),
    prefix("xoxb-", 10, true),
    prefix("xoxp-", 10, true),
    prefix("xoxr-", 10, true),
    prefix("xoxs-", 10, true),
    prefix("ya29.", 20, false),
];

/// The bytes of a tail that are read: longer than the shortest form of any key.
const TAIL_SHOWN: usize = 256;

/// Returns the first thing in a text that looks like a credential, and where it stands.
#[must_use]
pub fn find(text: &str) -> Option<(CredentialKind, Range<usize>)> {
    find_from(text, 0)
}

/// As [`find`], from an offset on; what stands before it still counts as context.
pub(super) fn find_from(text: &str, start: usize) -> Option<(CredentialKind, Range<usize>)> {
    let bytes = text.as_bytes();
    let before = start.checked_sub(1).and_then(|before| bytes.get(before));
    let mut wanted = before.map_or(OUTSIDE_WORD, |before| wanted_behind(*before));
    for (at, byte) in bytes.iter().enumerate().skip(start) {
        // Almost every byte is passed here, at a table's cost.
        let may_begin = PLACES[usize::from(*byte)] & wanted != 0;
        wanted = wanted_behind(*byte);
        if may_begin && let Some(found) = form_at(bytes, at) {
            return Some(found);
        }
    }
    None
}

/// Reads the form that begins at `at`. Inlined, it would take the registers of the loop around it,
/// and triple its cost.
#[inline(never)]
fn form_at(bytes: &[u8], at: usize) -> Option<(CredentialKind, Range<usize>)> {
    match bytes[at] {
        b'-' => pem(bytes, at),
        b':' => userinfo(bytes, at),
        b'e' => jwt(bytes, at).or_else(|| provider_key(bytes, at)),
        b'B' | b'b' => bearer(bytes, at).or_else(|| provider_key(bytes, at)),
        _ => provider_key(bytes, at),
    }
}

/// The byte may stand in a word.
const WORD: u8 = 1;
/// A form may begin with the byte where no word stands before it.
const OUTSIDE_WORD: u8 = 2;
/// A form may begin with the byte inside a word.
const INSIDE_WORD: u8 = OUTSIDE_WORD << WORD;

/// The classes of every byte.
static PLACES: [u8; 256] = {
    let mut places = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        places[byte] = if (byte as u8).is_ascii_alphanumeric() { WORD } else { 0 };
        byte += 1;
    }
    let mut i = 0;
    while i < PREFIXES.len() {
        places[PREFIXES[i].text.as_bytes()[0] as usize] |= OUTSIDE_WORD;
        i += 1;
    }
    places[b'e' as usize] |= OUTSIDE_WORD;
    places[b'B' as usize] |= OUTSIDE_WORD;
    places[b'b' as usize] |= OUTSIDE_WORD;
    places[b'-' as usize] |= OUTSIDE_WORD | INSIDE_WORD;
    places[b':' as usize] |= INSIDE_WORD;
    places
};

fn wanted_behind(before: u8) -> u8 {
    OUTSIDE_WORD << (PLACES[usize::from(before)] & WORD)
}

/// Where the prefixes with a first byte begin and end among all.
static BY_FIRST: [(u8, u8); 256] = {
    let mut ranges = [(0, 0); 256];
    let mut i = 0;
    while i < PREFIXES.len() {
        let first = PREFIXES[i].text.as_bytes()[0] as usize;
        let (start, end) = ranges[first];
        assert!(start == end || end as usize == i, "the prefixes are not sorted");
        ranges[first] = (if start == end { i as u8 } else { start }, i as u8 + 1);
        i += 1;
    }
    ranges
};

fn provider_key(bytes: &[u8], at: usize) -> Option<(CredentialKind, Range<usize>)> {
    let rest = &bytes[at..];
    let (start, end) = BY_FIRST[usize::from(bytes[at])];
    // The second byte decides almost always; a comparison of the whole is a call.
    let begins = |prefix: &&Prefix| rest.get(1) == prefix.text.as_bytes().get(1);
    let mut likely = PREFIXES[usize::from(start)..usize::from(end)].iter().filter(begins);
    let prefix = likely.find(|prefix| rest.starts_with(prefix.text.as_bytes()))?;
    let tail = &rest[prefix.text.len()..];
    let shown = tail.iter().take(TAIL_SHOWN).take_while(|b| is_token_byte(**b)).count();
    let has_digit = tail[..shown].iter().any(u8::is_ascii_digit);
    if shown < prefix.tail_min || (prefix.needs_digit && !has_digit) {
        return None;
    }
    let len = tail.iter().take_while(|b| is_token_byte(**b)).count();
    Some((CredentialKind::ProviderKey, at..at + prefix.text.len() + len))
}

/// Three parts of base64url, the first two of them JSON objects (`eyJ` is `{"`).
fn jwt(bytes: &[u8], at: usize) -> Option<(CredentialKind, Range<usize>)> {
    if at.checked_sub(1).is_some_and(|before| is_base64url(bytes[before])) {
        return None;
    }
    let part = |from: usize| bytes[from..].iter().take_while(|b| is_base64url(**b)).count();
    if !bytes[at..].starts_with(b"eyJ") {
        return None;
    }
    let second = at + part(at) + 1;
    if bytes.get(second - 1) != Some(&b'.') || !bytes[second..].starts_with(b"eyJ") {
        return None;
    }
    let third = second + part(second) + 1;
    if bytes.get(third - 1) != Some(&b'.') {
        return None;
    }
    Some((CredentialKind::Jwt, at..third + part(third)))
}

fn bearer(bytes: &[u8], at: usize) -> Option<(CredentialKind, Range<usize>)> {
    const BEARER: &[u8] = b"bearer";
    if !bytes.get(at..at + BEARER.len())?.eq_ignore_ascii_case(BEARER) {
        return None;
    }
    let space = at + BEARER.len();
    let spaces = bytes[space..].iter().take(8).take_while(|b| matches!(b, b' ' | b'\t')).count();
    let value = space + spaces;
    let shown = bytes[value..].iter().take(TAIL_SHOWN).take_while(|b| is_bearer(**b)).count();
    // Prose about bearers has words after it: a value has a digit and some length.
    let has_digit = bytes[value..value + shown].iter().any(u8::is_ascii_digit);
    if spaces == 0 || shown < 12 || !has_digit {
        return None;
    }
    let len = bytes[value..].iter().take_while(|b| is_bearer(**b)).count();
    Some((CredentialKind::Bearer, at..value + len))
}

/// From the opening line to the end of the closing one, or of the text.
fn pem(bytes: &[u8], at: usize) -> Option<(CredentialKind, Range<usize>)> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    const END: &[u8] = b"-----END ";
    let rest = bytes[at..].strip_prefix(BEGIN)?;
    let label = rest.iter().take(64).take_while(|b| is_label(**b)).count();
    if !rest[label..].starts_with(b"-----") {
        return None;
    }
    let body = at + BEGIN.len() + label + 5;
    let end = match bytes[body..].windows(END.len()).position(|window| window == END) {
        Some(offset) => {
            let label = body + offset + END.len();
            let dashes = label + bytes[label..].iter().take_while(|b| is_label(**b)).count();
            dashes + bytes[dashes..].iter().take(5).take_while(|b| **b == b'-').count()
        }
        None => bytes.len(),
    };
    Some((CredentialKind::Pem, at..end))
}

/// `://user:password@`, from the scheme's colon to the last `@` of the authority.
fn userinfo(bytes: &[u8], at: usize) -> Option<(CredentialKind, Range<usize>)> {
    let authority = bytes[at..].strip_prefix(b"://")?;
    let len = authority
        .iter()
        .take_while(|b| {
            !matches!(b, b'/' | b'?' | b'#' | b'\\' | b'"' | b'\'' | b'<' | b'>' | 0..=0x20)
        })
        .count();
    let last_at = authority[..len].iter().rposition(|b| *b == b'@')?;
    let start = at + 3;
    Some((CredentialKind::UrlUserinfo, start..start + last_at + 1))
}

const fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=')
}

const fn is_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

const fn is_bearer(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~' | b'+' | b'/' | b'=')
}

const fn is_label(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_a_form_decides_whether_it_is_one() {
        let tail = "abcdefghij0123456789KLMNOPQRSTUVWXYZ0123456789";
        for prefix in PREFIXES {
            let key = [prefix.text, tail].concat();
            let expected = Some((CredentialKind::ProviderKey, 1..1 + key.len()));
            assert_eq!(find(&format!("\"{key}")), expected, "{}", prefix.text);
            assert_eq!(find(&format!("x{key}")), None, "{}", prefix.text);
            assert_eq!(find_from(&format!("x{key}"), 1), None, "{}", prefix.text);
        }
        let bearer = ["bea", "rer ", tail].concat();
        assert_eq!(find(&bearer), Some((CredentialKind::Bearer, 0..bearer.len())));
        assert_eq!(find(&format!("for{bearer}")), None);
        let userinfo = ["://us", "er:pw@host"].concat();
        assert_eq!(find(&format!("s{userinfo}")), Some((CredentialKind::UrlUserinfo, 4..12)));
        assert_eq!(find(&userinfo), None);
        assert_eq!(find(&format!(" {userinfo}")), None);
    }
}
