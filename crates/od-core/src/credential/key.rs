//! Keys that name credentials, and the values that are only about them.

/// Names of credentials beside the keys that are never stored, in lower case without `-` and `_`.
///
/// Whole names only: `total_tokens`, `password_resets` and `secretary` hold no credential, and
/// `nextPageToken` is a place in a list.
pub const CREDENTIAL_NAMES: &[&str] = &[
    "accountkey",
    "adminpassword",
    "anthropicapikey",
    "apiaccesstoken",
    "apikeysecret",
    "apisecret",
    "apitoken",
    "appaccesstoken",
    "appsecret",
    "authtoken",
    "awssecretaccesskey",
    "awssessiontoken",
    "backupcodes",
    "basicauthpassword",
    "bearertoken",
    "bottoken",
    "consumersecret",
    "cookiesecret",
    "csrftoken",
    "databasepassword",
    "datadogapikey",
    "dbpass",
    "dbpassword",
    "dbpwd",
    "deploytoken",
    "discordtoken",
    "dockerpassword",
    "encryptionkey",
    "ftppassword",
    "geminiapikey",
    "githubtoken",
    "gitlabtoken",
    "googleapikey",
    "herokuapikey",
    "jwt",
    "jwtsecret",
    "jwttoken",
    "keystorepassword",
    "magiclinktoken",
    "masterkey",
    "mfasecret",
    "mongopassword",
    "mysqlpassword",
    "npmtoken",
    "oauthtoken",
    "oauthtokensecret",
    "onetimepassword",
    "openaiapikey",
    "pageaccesstoken",
    "passphrase",
    "passwordresettoken",
    "personalaccesstoken",
    "pgpassword",
    "postgrespassword",
    "privatekeypem",
    "proxypassword",
    "pypitoken",
    "recoverycodes",
    "redispassword",
    "registrationtoken",
    "resettoken",
    "rootpassword",
    "rsaprivatekey",
    "runnertoken",
    "sastoken",
    "secretaccesskey",
    "secretkey",
    "seedphrase",
    "sendgridapikey",
    "serviceaccountkey",
    "servicerolekey",
    "sessioncookie",
    "sessionkey",
    "sessionsecret",
    "sharedaccesskey",
    "sharedsecret",
    "signingkey",
    "signingsecret",
    "slackbottoken",
    "slacktoken",
    "smtppassword",
    "sshpassword",
    "sshprivatekey",
    "storageaccountkey",
    "stripesecretkey",
    "telegrambottoken",
    "telegramtoken",
    "totpsecret",
    "twilioauthtoken",
    "twofactorsecret",
    "useraccesstoken",
    "userpassword",
    "verificationtoken",
    "webhooksecret",
    "webhooktoken",
    "xaccesstoken",
    "xapikey",
    "xauthtoken",
    "xcsrftoken",
    "xsrftoken",
];

/// Words that a name of a credential ends with in lines of text, where there are no types to go by.
const LAST_WORDS: &[&str] = &[
    "accesskey",
    "apikey",
    "authorization",
    "cookie",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "pwd",
    "secret",
    "secretkey",
    "signingkey",
    "token",
];

/// Returns whether a key is the exact name of a credential, in any case, `-` and `_` aside.
#[must_use]
pub fn is_credential_key(key: &str) -> bool {
    let letters = key.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase);
    CREDENTIAL_NAMES.binary_search(&letters.collect::<String>().as_str()).is_ok()
}

/// Returns whether a name in a line of text is that of a credential: `DB_PASSWORD`, `apiKey`,
/// `github.token`, but neither `max_tokens` nor `tokenizer`.
pub(super) fn names_credential(name: &str) -> bool {
    let words = words_of(name);
    let ends_with = |count: usize| {
        let first = words.len().saturating_sub(count);
        LAST_WORDS.contains(&words[first..].concat().as_str())
    };
    is_credential_key(name) || ends_with(1) || ends_with(2)
}

/// Splits a name at its punctuation and where a capital follows a small letter.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (was_lower && c.is_uppercase()) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Small words that sentences have and passphrases seldom do.
const SMALL_WORDS: &[&str] = &[
    "a", "ago", "an", "and", "are", "as", "at", "be", "been", "by", "das", "der", "des", "die",
    "do", "does", "el", "est", "for", "from", "has", "have", "in", "is", "ist", "it", "la", "le",
    "les", "los", "must", "nicht", "no", "not", "of", "on", "only", "or", "see", "set", "that",
    "the", "this", "to", "und", "until", "was", "were", "will", "with", "yet",
];

/// Words that say how it stands with a credential, and are none.
const STATUS_WORDS: &[&str] = &[
    "absent", "active", "disabled", "enabled", "expired", "hidden", "invalid", "masked", "missing",
    "n/a", "no", "none", "null", "ok", "optional", "present", "required", "revoked", "rotated",
    "set", "unknown", "unset", "valid", "yes",
];

/// Returns whether a value is plainly prose: words in a sentence, or one that says how it stands,
/// rather than a secret. Words alone are not enough, because `correct horse battery staple` is a
/// passphrase.
#[must_use]
pub fn is_plainly_prose(text: &str) -> bool {
    if STATUS_WORDS.iter().any(|word| text.trim().eq_ignore_ascii_case(word)) {
        return true;
    }
    let mut count = 0;
    let mut is_sentence = false;
    for token in text.split_whitespace() {
        let word = token.trim_matches(|c: char| !c.is_alphanumeric());
        let ends_clause = token.ends_with(['.', ',', ';', ':', '!', '?', '…', '。', '、']);
        if !word.is_empty() && !is_word(word) {
            return false;
        }
        count += usize::from(!word.is_empty());
        is_sentence |= ends_clause || SMALL_WORDS.contains(&word.to_lowercase().as_str());
    }
    // Two letters with a blank between them say nothing.
    let says_something = count >= 2 && text.trim().len() >= 6;
    (count == 0 && text.trim().is_empty()) || (says_something && is_sentence)
}

/// Letters with an apostrophe or hyphen among them, or a short number.
fn is_word(word: &str) -> bool {
    const WORD_MAX: usize = 24;
    const NUMBER_MAX: usize = 10;
    let is_letters = word.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-' | '/'));
    let is_number = word.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | ':'));
    (is_letters && word.chars().count() <= WORD_MAX) || (is_number && word.len() <= NUMBER_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::is_denied_key;

    #[test]
    fn whole_names_count_in_any_spelling_and_parts_do_not() {
        assert!(CREDENTIAL_NAMES.is_sorted());
        for name in CREDENTIAL_NAMES {
            assert!(is_credential_key(name) && !is_denied_key(name), "{name}");
            assert!(!is_credential_key(&format!("{name}s_used")), "{name}");
        }
        for key in ["x-api-key", "auth_token", "DB_PASSWORD", "githubToken", "Secret-Access-Key"] {
            assert!(is_credential_key(key), "{key}");
        }
        for key in ["total_tokens", "nextPageToken", "secretary", "passwords", "title", "pwd"] {
            assert!(!is_credential_key(key), "{key}");
        }
    }

    #[test]
    fn in_a_line_of_text_the_last_words_of_a_name_count() {
        for name in ["DB_PASSWORD", "apiKey", "API_KEY", "github.token", "PWD", "clientSecret"] {
            assert!(names_credential(name), "{name}");
        }
        for name in ["max_tokens", "tokenizer", "token_count", "secretary", "key", "cookies_sold"] {
            assert!(!names_credential(name), "{name}");
        }
    }

    #[test]
    fn sentences_are_prose_and_secrets_are_not() {
        for text in [
            "",
            "  ",
            "rotated 3 days ago",
            "not set",
            "expired",
            "See the vault.",
            "expires on 2026-01-31",
            "must be at least 12 characters, with a digit",
            "nicht gesetzt",
            "Le jeton a expiré.",
        ] {
            assert!(is_plainly_prose(text), "{text}");
        }
        for text in [
            "hunter2",
            "correct horse battery staple",
            "expiration",
            "the 9fK2LmQx84",
            "Tr0ub4dor&3",
            "abc, def0123456789",
        ] {
            assert!(!is_plainly_prose(text), "{text}");
        }
    }
}
