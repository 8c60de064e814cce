//! Keys that are never stored, because of what they usually hold.

/// The keys refused anywhere in persisted JSON, in lower case without `-` and `_`.
pub const DENIED_KEYS: &[&str] = &[
    "raw",
    "rawresponse",
    "payload",
    "body",
    "headers",
    "cookie",
    "cookies",
    "setcookie",
    "authorization",
    "token",
    "accesstoken",
    "refreshtoken",
    "idtoken",
    "sessiontoken",
    "secret",
    "clientsecret",
    "credential",
    "credentials",
    "password",
    "passwd",
    "apikey",
    "privatekey",
];

const LONGEST: usize = 13;

/// Returns whether a key is never stored: compared in lower case without `-` and `_`.
#[must_use]
pub fn is_denied_key(key: &str) -> bool {
    if !key.is_ascii() {
        // Some letters beyond ASCII have an ASCII lower case, such as the Kelvin sign.
        let lower = key.to_lowercase();
        return lower.is_ascii() && is_denied_key(&lower);
    }
    let mut folded = [0; LONGEST];
    let mut len = 0;
    for byte in key.bytes() {
        if matches!(byte, b'-' | b'_') {
            continue;
        }
        let Some(slot) = folded.get_mut(len) else { return false };
        *slot = byte.to_ascii_lowercase();
        len += 1;
        if len == 1
            && !matches!(folded[0], b'r' | b'p' | b'b' | b'h' | b'c' | b's' | b'a' | b't' | b'i')
        {
            return false;
        }
    }
    DENIED_KEYS.iter().any(|denied| denied.as_bytes() == &folded[..len])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_does_not_hide_a_denied_key() {
        for key in ["token", "Token", "TO_KEN", "to-ken", "to\u{212a}en", "Set-Cookie", "api_key"] {
            assert!(is_denied_key(key), "{key}");
        }
        for key in DENIED_KEYS {
            assert!(is_denied_key(key), "{key}");
            assert!(key.len() <= LONGEST);
            assert!(!is_denied_key(&format!("{key}x")), "{key}x");
            assert!(!is_denied_key(&format!("x{key}")), "x{key}");
        }
        for key in ["", "_", "tokens", "rawData", "bodyText", "notes", "título"] {
            assert!(!is_denied_key(key), "{key}");
        }
    }
}
