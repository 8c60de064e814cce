//! The length of a credential of a known form: what follows its anchor, read by the rule of the form.

use super::form::{Alphabet, Form, Part, Run, Tail};
use super::randomness::{is_placeholder, looks_random, passes};

/// Returns how long the bytes are that follow an anchor, if they are what the form wants.
pub(super) fn rest_len(form: &Form, bytes: &[u8], body: usize, rest: &[u8]) -> Option<usize> {
    match form.rest {
        Tail::Parts(parts) => parts_len(parts, rest, form),
        Tail::Jwt => jwt_len(bytes, body, form.anchor, rest),
        Tail::Bearer => bearer_len(rest),
        Tail::Header => header_len(rest),
        Tail::Basic => basic_len(rest),
        Tail::PrivateKey => private_key_len(rest),
        Tail::PuttyKey => putty_key_len(rest),
        Tail::Userinfo => userinfo_len(rest),
        Tail::Password => password_len(&bytes[..body], rest),
    }
}

/// Returns how many bytes separate a name from its value.
pub(super) fn separator_len(rest: &[u8]) -> usize {
    const SEPARATOR_MAX: usize = 8;
    rest.iter().take(SEPARATOR_MAX).take_while(|byte| Alphabet::Assignment.has(**byte)).count()
}

/// Bytes of a run that are read before it is known to belong to a form; else a text of anchors
/// would be read to its end from each of them.
const RUN_SHOWN: usize = 256;

fn parts_len(parts: &[Part], rest: &[u8], form: &Form) -> Option<usize> {
    let mut at = 0;
    for part in parts {
        at += match part {
            Part::Text(text) => rest[at..].starts_with(text.as_bytes()).then_some(text.len())?,
            Part::Run(Run { alphabet, min, max }) => {
                let shown = rest[at..].iter().take(RUN_SHOWN + 1);
                let len = shown.take_while(|byte| alphabet.has(**byte)).count();
                // A full stop or dash at the end of a run ends a sentence, not a key.
                let len = trimmed(&rest[at..at + len], usize::from(*min));
                (usize::from(*min)..=usize::from(*max)).contains(&len).then_some(len)?
            }
            Part::Uuid => uuid_len(&rest[at..])?,
        };
    }
    // What leads to an anchor has a length of its own; a few characters behind it say no more.
    let says_enough = form.lead.is_some() && at < 16;
    if !says_enough && !passes(form.run_test, &rest[..at]) {
        return None;
    }
    let more = match parts.last() {
        Some(Part::Run(run)) => {
            rest[at..].iter().take_while(|byte| run.alphabet.has(**byte)).count()
        }
        Some(Part::Text(_) | Part::Uuid) | None => 0,
    };
    Some(at + trimmed(&rest[at..at + more], 0))
}

/// Returns the length of a run without the punctuation at its end.
fn trimmed(run: &[u8], min: usize) -> usize {
    let end = run.iter().rposition(|byte| !matches!(byte, b'.' | b'-')).map_or(0, |at| at + 1);
    if end >= min { end } else { run.len() }
}

fn uuid_len(rest: &[u8]) -> Option<usize> {
    let text = rest.get(..36)?;
    let fits = text.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    let ends = !rest.get(36).is_some_and(u8::is_ascii_alphanumeric);
    (fits && ends).then_some(36)
}

/// Three parts of base64url, the first two of them JSON objects (`eyJ` is `{"`), or the five of an
/// encrypted one.
fn jwt_len(bytes: &[u8], body: usize, anchor: &str, rest: &[u8]) -> Option<usize> {
    let before = body.checked_sub(anchor.len() + 1).map(|before| bytes[before]);
    // `eyJ` inside longer base64 is chance: an image holds it every 260,000 characters.
    if before.is_some_and(is_base64url) {
        return None;
    }
    let part = |from: usize| rest[from..].iter().take_while(|b| is_base64url(**b)).count();
    let dotted = |from: usize| {
        let end = from + part(from);
        (rest.get(end) == Some(&b'.')).then_some(end + 1)
    };
    let second = dotted(0)?;
    let third = dotted(second)?;
    if rest[second..].starts_with(b"eyJ") {
        return Some(third + part(third));
    }
    let fifth = dotted(third).and_then(dotted)?;
    let len = part(fifth);
    (len >= 16).then_some(fifth + len)
}

fn bearer_len(rest: &[u8]) -> Option<usize> {
    let value = blanks(rest)?;
    let len = rest[value..].iter().take_while(|b| is_bearer(**b)).count();
    is_header_value(&rest[value..value + len]).then_some(value + len)
}

/// Prose about headers has words behind their names: a value has a digit and some length.
fn is_header_value(value: &[u8]) -> bool {
    value.len() >= 12 && value.iter().any(u8::is_ascii_digit) && looks_random(value)
}

/// A name's separator, perhaps a scheme such as `Token`, and the value.
fn header_len(rest: &[u8]) -> Option<usize> {
    const SCHEME_MAX: usize = 16;
    let separator = separator_len(rest);
    let named = &rest[separator..];
    let scheme = named.iter().take(SCHEME_MAX).take_while(|b| is_base64url(**b)).count();
    let value = separator + blanks(&named[scheme..]).map_or(0, |blanks| scheme + blanks);
    let len = rest[value..].iter().take_while(|b| is_bearer(**b)).count();
    let has_colon = rest[..separator].iter().any(|b| matches!(b, b':' | b'='));
    (has_colon && is_header_value(&rest[value..value + len])).then_some(value + len)
}

/// The base64 of `user:password`: visible characters with a colon among them.
fn basic_len(rest: &[u8]) -> Option<usize> {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD_NO_PAD;
    const ENCODED_MAX: usize = 512;
    let value = blanks(rest)?;
    let is_digit = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    let len = rest[value..].iter().take(ENCODED_MAX).take_while(is_digit).count();
    let decoded = STANDARD_NO_PAD.decode(&rest[value..value + len]).ok()?;
    let visible = decoded.iter().all(|b| b.is_ascii_graphic() || *b == b' ');
    let colon = decoded.iter().position(|b| *b == b':')?;
    let padding = rest[value + len..].iter().take(2).take_while(|b| **b == b'=').count();
    (visible && colon > 0 && colon + 1 < decoded.len()).then_some(value + len + padding)
}

/// Returns how many blanks separate a scheme from its value; there must be one.
fn blanks(rest: &[u8]) -> Option<usize> {
    const BLANKS_MAX: usize = 8;
    let count = rest.iter().take(BLANKS_MAX).take_while(|b| matches!(b, b' ' | b'\t')).count();
    (count > 0).then_some(count)
}

/// From the opening line to the end of the closing one, or of the text. Certificates, public keys
/// and parameters have the same lines, and are meant to be shown.
fn private_key_len(rest: &[u8]) -> Option<usize> {
    const PRIVATE: &[u8] = b"PRIVATE KEY";
    const END: &[u8] = b"-----END ";
    let label = rest.iter().take(64).take_while(|b| is_label(**b)).count();
    if !rest[label..].starts_with(b"-----") || !has(&rest[..label], PRIVATE) {
        return None;
    }
    let body = label + 5;
    // Prose names the line and goes on with a quote or a comma.
    let is_space = |b: &&u8| b.is_ascii_whitespace() || matches!(b, b'\\' | b'n' | b'r');
    let spaces = rest[body..].iter().take(16).take_while(is_space).count();
    let first = rest.get(body + spaces);
    if !first.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')) {
        return None;
    }
    match memchr::memmem::find(&rest[body..], END) {
        Some(offset) => {
            let label = body + offset + END.len();
            let dashes = label + rest[label..].iter().take_while(|b| is_label(**b)).count();
            Some(dashes + rest[dashes..].iter().take(5).take_while(|b| **b == b'-').count())
        }
        None => Some(rest.len()),
    }
}

/// From the first line to the end of the last, or of the text.
fn putty_key_len(rest: &[u8]) -> Option<usize> {
    const HEAD: usize = 8 * 1024;
    let lines = memchr::memmem::find(&rest[..rest.len().min(HEAD)], b"Private-Lines: ")?;
    let code = memchr::memmem::find(&rest[lines..], b"Private-MAC: ").map(|at| lines + at);
    let Some(code) = code else { return Some(rest.len()) };
    let is_line = |b: &&u8| !matches!(b, b'\r' | b'\n' | b'"' | b'\\');
    Some(code + rest[code..].iter().take_while(is_line).count())
}

/// `user:password@`, up to the last `@` of the authority, or a token in place of the user. A user
/// alone is no credential: `ssh://git@host` is how one clones.
fn userinfo_len(authority: &[u8]) -> Option<usize> {
    let ends =
        |b: &u8| matches!(*b, b'/' | b'?' | b'#' | b'\\' | b'"' | b'\'' | b'<' | b'>' | 0..=0x20);
    let len = authority.iter().take_while(|b| !ends(b)).count();
    let last_at = authority[..len].iter().rposition(|b| *b == b'@')?;
    let userinfo = &authority[..last_at];
    let grants = match userinfo.iter().position(|b| matches!(b, b':' | b'@')) {
        Some(colon) => !is_placeholder(&userinfo[colon + 1..]),
        None => {
            userinfo.len() >= 20
                && userinfo.iter().any(u8::is_ascii_digit)
                && looks_random(userinfo)
        }
    };
    grants.then_some(last_at + 1)
}

/// The value of `Password=` where a user or a server stands before it, as in a connection string.
fn password_len(before: &[u8], rest: &[u8]) -> Option<usize> {
    const CONTEXT: usize = 256;
    const NAMES: &[&[u8]] = &[
        b"user=",
        b"user id=",
        b"userid=",
        b"username=",
        b"uid=",
        b"host=",
        b"server=",
        b"data source=",
        b"endpoint=",
    ];
    let context = &before[before.len().saturating_sub(CONTEXT)..];
    let context = context.to_ascii_lowercase();
    if !NAMES.iter().any(|name| has(&context, name)) {
        return None;
    }
    let is_value =
        |b: &&u8| b.is_ascii_graphic() && !matches!(b, b';' | b'&' | b'"' | b'\'' | b',' | b')');
    let len = rest.iter().take_while(is_value).count();
    // Code gives names and nothing to parameters called so.
    let is_code = [&b"none"[..], b"null", b"nil", b"password"]
        .iter()
        .any(|word| rest[..len].eq_ignore_ascii_case(word));
    (!is_code && !is_placeholder(&rest[..len])).then_some(len)
}

fn has(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
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
