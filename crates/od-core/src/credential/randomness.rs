//! Telling random characters from words, and values from placeholders.

use super::form::RunTest;

/// Characters that a key has at least, of whatever kind; `xxxx…` and `0000…` stand for one.
const DISTINCT_MIN: u32 = 6;

/// Returns whether the bytes of a form look as its row wants.
pub(super) fn passes(test: RunTest, bytes: &[u8]) -> bool {
    let has_digit = || bytes.iter().any(u8::is_ascii_digit);
    match test {
        RunTest::Any => distinct(bytes) >= DISTINCT_MIN.min(bytes.len() as u32),
        RunTest::Digit => has_digit() && distinct(bytes) >= DISTINCT_MIN,
        RunTest::Random => looks_random(bytes),
        RunTest::Mixed => {
            has_digit()
                && bytes.iter().any(u8::is_ascii_uppercase)
                && bytes.iter().any(u8::is_ascii_lowercase)
                && looks_random(bytes)
        }
    }
}

/// Returns whether at most half of a text is words and numbers, and it has characters enough.
pub(super) fn looks_random(bytes: &[u8]) -> bool {
    let (mut all, mut words) = (0, 0);
    for segment in bytes.split(|byte| !byte.is_ascii_alphanumeric()) {
        all += segment.len();
        if is_wordy(segment) {
            words += segment.len();
        }
    }
    words * 2 < all && distinct(bytes) >= DISTINCT_MIN
}

/// Returns whether letters and digits are words run together, perhaps with a number behind them:
/// `pipeline`, `RFC6750`, `maxTokens2`, `20240131`.
fn is_wordy(segment: &[u8]) -> bool {
    let digits = segment.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let mut letters = &segment[..segment.len() - digits];
    // Eight digits alone are a date, four behind a word a year or the number of a standard; keys have more.
    if letters.is_empty() {
        return digits <= 8;
    }
    if digits > 4 {
        return false;
    }
    while !letters.is_empty() {
        let upper = letters.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let lower = letters[upper..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        // `HTTPServer` is an abbreviation and a word; one capital before one letter is neither.
        let fits = match (upper, lower) {
            (0 | 1, lower) => lower >= 2 || letters.len() == 1,
            (_, 0) => true,
            (upper, lower) => upper <= 6 && lower >= 2,
        };
        if !fits {
            return false;
        }
        letters = &letters[upper + lower..];
        // A digit in the middle is no word's.
        if letters.first().is_some_and(u8::is_ascii_digit) {
            return false;
        }
    }
    true
}

fn distinct(bytes: &[u8]) -> u32 {
    let mut seen = [0_u64; 4];
    for byte in bytes {
        seen[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }
    seen.iter().map(|bits| bits.count_ones()).sum()
}

/// Returns whether a value only says where a secret would stand: nothing, a variable, a mask.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let is_mask = value.iter().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.' | b'-' | b'_'));
    let first = value.first().copied().unwrap_or_default();
    let is_variable = matches!(first, b'$' | b'{' | b'<' | b'%' | b'[' | b'(')
        && !value.get(1).is_some_and(u8::is_ascii_digit);
    let is_name = value.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
        && [&b"PASS"[..], b"SECRET", b"TOKEN", b"KEY", b"PWD"]
            .iter()
            .any(|word| memchr::memmem::find(value, word).is_some());
    is_mask || is_variable || is_name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_not_random_and_keys_are() {
        for text in [
            "learn-pipeline-2024",
            "RFC6750-section-2.1",
            "authentication-scheme-2025-draft",
            "maxTokensPerMinute2",
            "HTTPServerConfig.defaultTimeoutMillis",
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "0000000000000000",
            "YOUR_API_KEY_HERE",
            "2024-01-31",
        ] {
            assert!(!looks_random(text.as_bytes()), "{text}");
        }
        for text in [
            "mF_9.B5f-4.1JqM",
            "abcdefghij0123456789klmn",
            "0f3c9a7e1b5d2846",
            "Zx8Qw1Er5Ty7Ui9Op3As",
            "qTcVbNmLkJhGfDsAzXwErTyUiOpLkJhGfD",
        ] {
            assert!(looks_random(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_placeholder_is_no_value() {
        for text in ["", "***", "${DB_PASSWORD}", "$PASSWORD", "<password>", "PASSWORD", "%s"] {
            assert!(is_placeholder(text.as_bytes()), "{text}");
        }
        for text in ["pw", "hunter2", "PAS5", "p@ss", "$3cret"] {
            assert!(!is_placeholder(text.as_bytes()), "{text}");
        }
    }
}
