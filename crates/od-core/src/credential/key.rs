//! Keys that name credentials.

const SENSITIVE: &[&str] =
    &["token", "secret", "credential", "password", "authorization", "cookie", "apikey"];

/// Returns whether a key of connector output names a credential: it contains token, secret,
/// credential, password, authorization, cookie or apikey, in any case, `-` and `_` aside.
#[must_use]
pub fn is_sensitive_key(key: &str) -> bool {
    let folded: String =
        key.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect();
    SENSITIVE.iter().any(|word| folded.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_keys_count() {
        for key in ["nextPageToken", "x-api-key", "API_KEY_2", "userPassword", "set-cookie"] {
            assert!(is_sensitive_key(key), "{key}");
        }
        for key in ["title", "author", "to_ke", "keyApi"] {
            assert!(!is_sensitive_key(key), "{key}");
        }
    }
}
