//! Functions with effects: found by name in the text, judged by the server's own catalogue.
//!
//! A READ ONLY transaction keeps tables as they are. It does not keep `pg_terminate_backend` from ending
//! another session, nor `dblink` from writing through a connection of its own. The server marks whatever
//! may have effects as VOLATILE; what is so marked is refused, a few that only look aside.

use std::collections::BTreeSet;

/// Longer names are cut by the server.
const NAME_BYTES: usize = 63;

/// Volatile because their result changes, not because they change anything.
pub(super) const HARMLESS: [&str; 17] = [
    "clock_timestamp",
    "gen_random_uuid",
    "pg_blocking_pids",
    "pg_current_wal_lsn",
    "pg_database_size",
    "pg_indexes_size",
    "pg_is_in_recovery",
    "pg_last_wal_receive_lsn",
    "pg_last_wal_replay_lsn",
    "pg_last_xact_replay_timestamp",
    "pg_relation_size",
    "pg_table_size",
    "pg_tablespace_size",
    "pg_total_relation_size",
    "random",
    "statement_timestamp",
    "timeofday",
];

/// Asks for the functions of those names that may have effects: `$1` those that are called, `$2` those
/// that stand after a dot, as a function of one row can (`row.name`), `$3` the harmless ones.
pub(super) const VOLATILE: &str = "SELECT p.proname::text FROM pg_catalog.pg_proc p \
    WHERE p.provolatile = 'v' \
    AND (p.proname = ANY ($1::text[]) OR (p.proname = ANY ($2::text[]) AND p.pronargs = 1)) \
    AND NOT (p.proname = ANY ($3::text[]) \
        AND p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace) \
    ORDER BY 1 LIMIT 1";

/// The names in a text that may stand for functions.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct Names {
    pub(super) called: BTreeSet<String>,
    pub(super) dotted: BTreeSet<String>,
}

/// Finds the names before a `(`, and those after a `.`; `None` if a name is written with escapes.
pub(super) fn names(sql: &str) -> Option<Names> {
    let mut names = Names::default();
    let mut scanner = Scanner { bytes: sql.as_bytes(), at: 0 };
    let mut after_dot = false;
    while let Some(token) = scanner.next_token() {
        let Token::Name(name) = token else {
            after_dot = token == Token::Mark(b'.');
            continue;
        };
        if name.eq_ignore_ascii_case("u&") {
            return None;
        }
        let next = Scanner { bytes: scanner.bytes, at: scanner.at }.next_token();
        if next == Some(Token::Mark(b'(')) {
            names.called.insert(name);
        } else if after_dot {
            names.dotted.insert(name);
        }
        after_dot = false;
    }
    Some(names)
}

#[derive(Debug, Eq, PartialEq)]
enum Token {
    /// An identifier as the server knows it.
    Name(String),
    /// A text or a number.
    Literal,
    /// Any other byte.
    Mark(u8),
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn next_token(&mut self) -> Option<Token> {
        self.skip_space();
        let first = self.peek(0)?;
        let escaped = matches!(first, b'e' | b'E') && self.peek(1) == Some(b'\'');
        match first {
            b'\'' => self.quoted(b'\'', false),
            _ if escaped => {
                self.at += 1;
                self.quoted(b'\'', true);
            }
            b'u' | b'U'
                if self.peek(1) == Some(b'&') && matches!(self.peek(2), Some(b'"' | b'\'')) =>
            {
                self.at += 2;
                return Some(Token::Name("u&".to_owned()));
            }
            b'"' => {
                let start = self.at + 1;
                self.quoted(b'"', false);
                let end = self.at.saturating_sub(1).max(start);
                let text = String::from_utf8_lossy(&self.bytes[start..end]).replace("\"\"", "\"");
                return Some(Token::Name(cut(text)));
            }
            b'$' if self.dollar_quoted() => {}
            b'0'..=b'9' => {
                while self.peek(0).is_some_and(|b| b.is_ascii_alphanumeric() || b == b'.') {
                    self.at += 1;
                }
            }
            _ if is_name(first) => {
                let start = self.at;
                while self.peek(0).is_some_and(|b| is_name(b) || b.is_ascii_digit() || b == b'$') {
                    self.at += 1;
                }
                let text = String::from_utf8_lossy(&self.bytes[start..self.at]);
                return Some(Token::Name(cut(text.to_ascii_lowercase())));
            }
            mark => {
                self.at += 1;
                return Some(Token::Mark(mark));
            }
        }
        Some(Token::Literal)
    }

    /// Skips white space and comments, which nest.
    fn skip_space(&mut self) {
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c), _) => self.at += 1,
                (Some(b'-'), Some(b'-')) => {
                    while self.peek(0).is_some_and(|b| b != b'\n' && b != b'\r') {
                        self.at += 1;
                    }
                }
                (Some(b'/'), Some(b'*')) => {
                    let mut depth = 0usize;
                    loop {
                        match (self.peek(0), self.peek(1)) {
                            (Some(b'/'), Some(b'*')) => (depth, self.at) = (depth + 1, self.at + 2),
                            (Some(b'*'), Some(b'/')) => (depth, self.at) = (depth - 1, self.at + 2),
                            (Some(_), _) => self.at += 1,
                            (None, _) => return,
                        }
                        if depth == 0 {
                            break;
                        }
                    }
                }
                (Some(_) | None, _) => return,
            }
        }
    }

    /// Skips from a quote to its end; a quote twice is no end.
    fn quoted(&mut self, quote: u8, has_escapes: bool) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            let is_double = byte == quote && self.peek(1) == Some(quote);
            if is_double || (has_escapes && byte == b'\\') {
                self.at += 2;
            } else {
                self.at += 1;
                if byte == quote {
                    break;
                }
            }
        }
        self.at = self.at.min(self.bytes.len());
    }

    /// Skips `$tag$ … $tag$`; a `$1` is none.
    fn dollar_quoted(&mut self) -> bool {
        let rest = &self.bytes[self.at + 1..];
        let tag = rest.iter().take_while(|b| is_name(**b) || b.is_ascii_digit()).count();
        let is_tag = rest.get(tag) == Some(&b'$') && !rest[0].is_ascii_digit();
        if !is_tag {
            self.at += 1;
            return true;
        }
        let mark = &self.bytes[self.at..self.at + tag + 2];
        let body = self.at + mark.len();
        let end = self.bytes[body..].windows(mark.len()).position(|window| window == mark);
        self.at = end.map_or(self.bytes.len(), |end| body + end + mark.len());
        true
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// Cuts a name where the server does.
fn cut(mut name: String) -> String {
    if name.len() > NAME_BYTES {
        let end = (0..=NAME_BYTES).rev().find(|at| name.is_char_boundary(*at)).unwrap_or(0);
        name.truncate(end);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sql: &str, called: &[&str], dotted: &[&str]) {
        let found = names(sql).unwrap();
        let texts = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>();
        assert_eq!(
            (texts(&found.called), texts(&found.dotted)),
            (owned(called), owned(dotted)),
            "{sql}"
        );
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_call_is_found_however_it_is_written() {
        for sql in [
            "SELECT pg_sleep(1)",
            "SELECT PG_Sleep /* a /* b */ c */ -- d\n (1)",
            "SELECT \"pg_sleep\"(1)",
            "SELECT pg_catalog . pg_sleep(1)",
            "SELECT 'it''s', E'\\'', $$ ' $$, $x$ $$ x( $x$, pg_sleep(1)",
        ] {
            check(sql, &["pg_sleep"], &[]);
        }
        check("SELECT r.effect, r.name FROM r", &[], &["effect", "name"]);
    }

    #[test]
    fn what_is_no_call_is_not_taken_for_one() {
        check("SELECT 'pg_sleep(1)', random, $1, 1.5 -- pg_sleep(1)", &[], &[]);
        check("SELECT $a$ pg_sleep(1) $a$ /* pg_sleep(1) */", &[], &[]);
        check("SELECT count(*) FROM t WHERE x IN (1, 2)", &["count", "in"], &[]);
        check("SELECT 'open", &[], &[]);
        check("SELECT $tag$ open", &[], &[]);
    }

    #[test]
    fn a_name_with_escapes_is_not_read() {
        assert_eq!(names("SELECT U&\"pg_\\0073leep\"(1)"), None);
    }

    #[test]
    fn a_long_name_is_cut_as_the_server_cuts_it() {
        let long = "x".repeat(70);
        check(&format!("SELECT {long}(1)"), &[&long[..63]], &[]);
    }
}
