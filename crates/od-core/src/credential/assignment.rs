//! Lines of text that give a secret to a name: `API_KEY=…`, `password: …`, `"token": "…"`.

use std::borrow::Cow;

use super::key::{is_plainly_prose, names_credential};
use super::redact::REDACTED;

/// Returns a line with every value replaced that is given to a name of a credential; numbers and
/// sentences stay.
///
/// A quoted value ends with its quote. Another one ends with the line if its name begins the line,
/// and else before a quote, `,` or `;`: what is taken too much is only unseen.
#[must_use]
pub fn redact_assignments(line: &str) -> Cow<'_, str> {
    let bytes = line.as_bytes();
    // Looked for once: a line may have as many blanks as it has names.
    let (indent, line_end) = (line.len() - line.trim_start().len(), line.trim_end().len());
    let mut redacted = String::new();
    // Everything before is in `redacted`.
    let mut kept_to = 0;
    let mut at = 0;
    while at < bytes.len() {
        let given = matches!(bytes[at], b'=' | b':')
            .then(|| name_before(line, at))
            .flatten()
            .filter(|(_, name)| names_credential(name))
            .and_then(|(start, _)| value_after(&line[..line_end], at, start <= indent))
            .filter(|(start, end)| is_secret(&line[*start..*end]));
        match given {
            Some((start, end)) => {
                redacted.push_str(&line[kept_to..start]);
                redacted.push_str(REDACTED);
                kept_to = end;
                at = end;
            }
            None => at += 1,
        }
    }
    if kept_to == 0 {
        return Cow::Borrowed(line);
    }
    redacted.push_str(&line[kept_to..]);
    Cow::Owned(redacted)
}

/// Returns whether a value may be a secret: numbers, truth values and sentences are none.
fn is_secret(value: &str) -> bool {
    let value = value.trim_end_matches([',', ';', ' ']);
    let is_number = value.parse::<f64>().is_ok();
    let is_constant = ["true", "false", "null", "nil", "none"]
        .iter()
        .any(|word| value.eq_ignore_ascii_case(word));
    !is_number && !is_constant && !is_plainly_prose(value)
}

/// Finds the name that ends before a separator, with where it begins.
fn name_before(line: &str, separator: usize) -> Option<(usize, &str)> {
    let before = line[..separator].trim_end_matches(' ');
    let before = before.strip_suffix(['"', '\'', '`']).unwrap_or(before);
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
    let start = before.trim_end_matches(is_name).len();
    (start < before.len()).then(|| (start, &before[start..]))
}

/// Finds the value behind a separator, without its quotes, in a line without blanks at its end.
fn value_after(line: &str, separator: usize, is_first: bool) -> Option<(usize, usize)> {
    let rest = line[separator..].trim_start_matches(['=', ':', '>', ' ', '\t']);
    let start = line.len() - rest.len();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    let (start, end) = match quote {
        Some(quote) => {
            let start = start + quote.len_utf8();
            (start, line[start..].find(quote).map_or(line.len(), |end| start + end))
        }
        None if is_first => (start, line.len()),
        None => {
            let end = rest.find(['"', '\'', '`', ',', ';']).unwrap_or(rest.len());
            (start, start + end)
        }
    };
    (start < end).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(line: &str, want: &str) {
        assert_eq!(redact_assignments(line), want);
    }

    #[test]
    fn what_is_given_to_a_name_of_a_credential_is_taken_out() {
        check("DB_PASSWORD=hunter2, really", "DB_PASSWORD=[redacted]");
        check("export API_KEY = abc", "export API_KEY = [redacted]");
        check("  password: correct horse battery", "  password: [redacted]");
        check(r#"{ "apiKey": "abc", "name": "x" }"#, r#"{ "apiKey": "[redacted]", "name": "x" }"#);
        check("let secret = 'a'; go(1)", "let secret = '[redacted]'; go(1)");
        check("-H 'Authorization: Basic dXNlcg' url", "-H 'Authorization: [redacted]' url");
        check("fn f(token: &str, n: u8)", "fn f(token: [redacted], n: u8)");
        check("a=1 client_secret:=xyz", "a=1 client_secret:=[redacted]");
        check("cookie => 'ü'", "cookie => '[redacted]'");
    }

    #[test]
    fn blanks_around_a_line_stay_and_are_no_name() {
        check("  x,token=a,token=b  ", "  x,token=[redacted],token=[redacted]  ");
        check(" \ttoken = a b \t", " \ttoken = [redacted] \t");
    }

    #[test]
    fn other_lines_are_left_alone() {
        for line in
            ["", "name = value", "a token is short", "password:", "key: 1", "=:=", "x: y: z"]
        {
            check(line, line);
        }
        for line in [
            "max_tokens: 1540, total_tokens = 12",
            "token: 42",
            "password = null,",
            "secretary: \"Ada\"",
            "password: must be at least 12 characters",
        ] {
            check(line, line);
        }
    }

    proptest! {
        #[test]
        fn redaction_is_idempotent(line in "(token|x|=|:|\"|'| |,|ü|\\[redacted\\]){0,12}") {
            let once = redact_assignments(&line).into_owned();
            prop_assert_eq!(redact_assignments(&once).into_owned(), once.clone());
        }
    }
}
