//! The encodings that a secret may come back in: their forms, and their decoders.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::json::Value;
use crate::template::read_reference;

/// Shorter runs of an encoding would be found by chance.
const FORM_MIN: usize = 6;

/// Returns a secret and its encodings in which small letters and capitals differ.
pub(super) fn exact_forms(secret: &str) -> Vec<Vec<u8>> {
    let bytes = secret.as_bytes();
    let mut forms = vec![bytes.to_vec()];
    forms.extend(base64_forms(bytes));
    forms.extend(url_forms(bytes));
    let quoted = Value::from(secret).to_string();
    forms.push(quoted.as_bytes()[1..quoted.len() - 1].to_vec());
    forms
}

/// Returns a secret's encodings in which small letters and capitals are the same.
pub(super) fn folded_forms(secret: &str) -> Vec<Vec<u8>> {
    let bytes = secret.as_bytes();
    let mut forms = base32_forms(bytes);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    if hex.len() >= FORM_MIN {
        forms.push(hex.into_bytes());
    }
    forms
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
            if form.len() >= FORM_MIN {
                forms.push(form.to_vec());
            }
        }
    }
    forms
}

/// Returns the part of the secret's base32 that no neighbour changes, at each of the five
/// alignments, in the usual alphabet and the one that sorts.
fn base32_forms(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for lead in 0..5 {
        let mut padded = vec![0; lead];
        padded.extend_from_slice(secret);
        let first = (lead * 8).div_ceil(5);
        let whole = padded.len() * 8 / 5;
        for alphabet in [b"abcdefghijklmnopqrstuvwxyz234567", b"0123456789abcdefghijklmnopqrstuv"] {
            let encoded = base32(&padded, alphabet);
            let form = encoded.get(first..whole).unwrap_or_default();
            if form.len() >= FORM_MIN {
                forms.push(form.to_vec());
            }
        }
    }
    forms
}

fn base32(bytes: &[u8], alphabet: &[u8; 32]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(bytes.len() * 8 / 5 + 1);
    let (mut bits, mut held) = (0_u32, 0);
    for byte in bytes {
        bits = bits << 8 | u32::from(*byte);
        held += 8;
        while held >= 5 {
            held -= 5;
            encoded.push(alphabet[(bits >> held & 31) as usize]);
        }
    }
    encoded
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

/// A text as a decoder reads it, with where each of its bytes came from.
pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    /// For each byte where its encoding begins, and at last where the text ends.
    starts: Vec<usize>,
}

impl Decoded {
    /// Decodes with a function that reads the encoding at an offset: it adds the bytes it stands
    /// for, and returns its length.
    fn of(text: &str, read: impl Fn(&str, usize, &mut Vec<u8>) -> Option<usize>) -> Self {
        let mut bytes = Vec::with_capacity(text.len());
        let mut starts = Vec::with_capacity(text.len() + 1);
        let mut at = 0;
        while let Some(&byte) = text.as_bytes().get(at) {
            let length = read(text, at, &mut bytes).unwrap_or_else(|| {
                bytes.push(byte);
                1
            });
            starts.resize(bytes.len(), at);
            at += length;
        }
        starts.push(at);
        Self { bytes, starts }
    }

    /// Returns the part of the text that some decoded bytes came from.
    pub(super) fn span(&self, start: usize, end: usize) -> (usize, usize) {
        (self.starts[start], self.starts[end])
    }

    /// Puts a byte back wherever it stood in the text as itself.
    pub(super) fn restore(&mut self, text: &str, wanted: u8) {
        for (byte, start) in self.bytes.iter_mut().zip(&self.starts) {
            if text.as_bytes()[*start] == wanted {
                *byte = wanted;
            }
        }
    }
}

/// Decodes a URL: `%2F`, and `+` for a space.
pub(super) fn decode_percent(text: &str) -> Decoded {
    Decoded::of(text, |text, at, bytes| match text.as_bytes()[at] {
        b'+' => {
            bytes.push(b' ');
            Some(1)
        }
        b'%' => {
            let value = hex_number(&text.as_bytes()[at + 1..], 2)?;
            bytes.push(u8::try_from(value).ok()?);
            Some(3)
        }
        _ => None,
    })
}

/// Decodes the escapes of program texts: `\u002f`, `\u{2f}`, `\x2f`, and `\/` for the character
/// itself. Text that was escaped twice has twice the backslashes.
pub(super) fn decode_escapes(text: &str) -> Decoded {
    Decoded::of(text, |text, at, bytes| {
        let rest = &text.as_bytes()[at..];
        if rest[0] != b'\\' {
            return None;
        }
        let slashes = rest.iter().take(BACKSLASHES_MAX).take_while(|byte| **byte == b'\\').count();
        let (value, length) = match numbered(&rest[slashes..]) {
            Some((value, length)) => (value, slashes + length),
            None => {
                // Before anything but a letter or digit, a backslash stands for what follows it.
                let follows = text[at + 1..].chars().next()?;
                (!follows.is_alphanumeric()).then(|| (follows, 1 + follows.len_utf8()))?
            }
        };
        push_char(bytes, value);
        Some(length)
    })
}

/// Backslashes that are read as one escape, so that a text of them is not read again from each.
const BACKSLASHES_MAX: usize = 8;

/// Reads the rest of an escape that names a character by its number: `u002f`, `u{2f}`, `x2f`.
fn numbered(escape: &[u8]) -> Option<(char, usize)> {
    let (value, length) = match (escape.first()?, escape.get(1)) {
        (b'u', Some(b'{')) => {
            let digits = escape[2..].iter().take(6).take_while(|b| b.is_ascii_hexdigit()).count();
            (escape.get(2 + digits) == Some(&b'}')).then_some(())?;
            (hex_number(&escape[2..], digits)?, digits + 3)
        }
        (b'u', _) => (hex_number(&escape[1..], 4)?, 5),
        (b'x', _) => (hex_number(&escape[1..], 2)?, 3),
        _ => return None,
    };
    Some((char::from_u32(value)?, length))
}

/// Decodes the references of HTML.
pub(super) fn decode_entities(text: &str) -> Decoded {
    Decoded::of(text, |text, at, bytes| {
        if text.as_bytes()[at] != b'&' {
            return None;
        }
        let (value, length) = read_reference(&text[at..]).ok()?;
        push_char(bytes, value);
        Some(length)
    })
}

fn push_char(bytes: &mut Vec<u8>, value: char) {
    bytes.extend_from_slice(value.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Reads a number of so many hexadecimal digits.
fn hex_number(bytes: &[u8], digits: usize) -> Option<u32> {
    let digits = bytes.get(..digits).filter(|digits| !digits.is_empty())?;
    digits.iter().try_fold(0, |number, digit| Some(number << 4 | char::from(*digit).to_digit(16)?))
}
