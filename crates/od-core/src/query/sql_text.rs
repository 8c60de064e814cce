//! The text of a query: bounded, one statement, and read far enough to find `history(path)`.

use crate::ids::MappingPath;
use crate::limits::QUERY_TEXT;

/// The SQL of a query: within its limit, without NUL, and beginning with `SELECT` or `WITH`.
///
/// Whether it is a query that only reads is for the engine to find out; this is no SQL parser.
#[derive(Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct SqlText {
    /// As its author wrote it.
    source: String,
    /// With each `history(path)` replaced by the name of its table.
    executable: String,
    history: Vec<MappingPath>,
    /// Where the two differ: an offset of `executable`, and what to add from there on.
    shifts: Vec<(usize, isize)>,
}

/// A text that is no query.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SqlTextError {
    /// It is longer than a query may be.
    #[error("the query has {measured} bytes, allowed are {}", QUERY_TEXT.want())]
    TooLong {
        /// Its length in bytes.
        measured: usize,
    },
    /// It holds U+0000.
    #[error("the query holds a NUL character")]
    Nul,
    /// Its first word is another.
    #[error("a query begins with SELECT or WITH, this one with `{found}`")]
    NotSelect {
        /// The first word, cut.
        found: String,
    },
    /// `history(…)` without a path of the data.
    #[error("history takes one path of the data, such as history('total'), at {position}")]
    History {
        /// Where it stands.
        position: Position,
    },
}

/// A place in the SQL, counted from 1, the column in characters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Position {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1.
    pub column: usize,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

impl SqlText {
    /// Returns the text as its author wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Returns the text for the engine: `history('a.b')` is the table `"history(a.b)"` there, because
    /// an engine without extensions has no functions that return tables.
    #[must_use]
    pub fn executable(&self) -> &str {
        &self.executable
    }

    /// Returns the paths whose history the query reads, each once.
    #[must_use]
    pub fn history(&self) -> &[MappingPath] {
        &self.history
    }

    /// Returns whether the text has a name, bare or quoted and in any case: as a table, or as anything
    /// else that has a name.
    #[must_use]
    pub fn mentions(&self, name: &str) -> bool {
        tokenize(&self.source).iter().any(|token| {
            let text = &self.source[token.start..token.end];
            match token.kind {
                Kind::Word => text.eq_ignore_ascii_case(name),
                Kind::Other => {
                    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
                    inner.eq_ignore_ascii_case(name)
                }
                Kind::Text => false,
            }
        })
    }

    /// Returns the text with a bare name replaced wherever it stands; none if it stands nowhere.
    #[must_use]
    pub fn renamed(&self, name: &str, to: &str) -> Option<String> {
        let mut renamed = String::with_capacity(self.source.len());
        let mut copied = 0;
        for token in tokenize(&self.source) {
            let is_it = token.kind == Kind::Word
                && self.source[token.start..token.end].eq_ignore_ascii_case(name);
            if is_it {
                renamed.push_str(&self.source[copied..token.start]);
                renamed.push_str(to);
                copied = token.end;
            }
        }
        renamed.push_str(&self.source[copied..]);
        (copied > 0).then_some(renamed)
    }

    /// Turns an offset of the executable text into a place of the author's text.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let shift = self.shifts.iter().rev().find(|(from, _)| *from <= offset);
        let offset = offset.saturating_add_signed(shift.map_or(0, |(_, add)| *add));
        place(&self.source, offset)
    }
}

fn place(source: &str, offset: usize) -> Position {
    let mut end = offset.min(source.len());
    while !source.is_char_boundary(end) {
        end -= 1;
    }
    let before = &source[..end];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Position {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}

impl schemars::JsonSchema for SqlText {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SqlText".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "maxLength": QUERY_TEXT.allowed,
            "description": "one SELECT",
        })
    }
}

impl std::str::FromStr for SqlText {
    type Err = SqlTextError;
    fn from_str(text: &str) -> Result<Self, SqlTextError> {
        if !QUERY_TEXT.allows(text.len()) {
            return Err(SqlTextError::TooLong { measured: text.len() });
        }
        if text.contains('\0') {
            return Err(SqlTextError::Nul);
        }
        let tokens = tokenize(text);
        let first = tokens.first().map_or("", |token| &text[token.start..token.end]);
        let is_query = ["select", "with"].iter().any(|word| first.eq_ignore_ascii_case(word));
        if !is_query {
            return Err(SqlTextError::NotSelect { found: first.chars().take(20).collect() });
        }
        let mut parsed = Self {
            source: text.to_owned(),
            executable: String::with_capacity(text.len()),
            history: Vec::new(),
            shifts: Vec::new(),
        };
        parsed.rewrite(&tokens)?;
        Ok(parsed)
    }
}

impl SqlText {
    /// Copies the text, replacing each `history(path)`.
    fn rewrite(&mut self, tokens: &[Token]) -> Result<(), SqlTextError> {
        let source = self.source.clone();
        let word = |at: usize| tokens.get(at).map(|token| &source[token.start..token.end]);
        let mut copied = 0;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let is_call = token.kind == Kind::Word
                && source[token.start..token.end].eq_ignore_ascii_case("history")
                && word(at + 1) == Some("(");
            if !is_call {
                at += 1;
                continue;
            }
            let refused = || SqlTextError::History { position: place(&source, token.start) };
            let close =
                (at + 2..tokens.len()).find(|at| word(*at) == Some(")")).ok_or_else(refused)?;
            let path: MappingPath =
                argument(&source, &tokens[at + 2..close]).ok_or_else(refused)?;
            if path.is_root() {
                return Err(refused());
            }
            self.executable.push_str(&source[copied..token.start]);
            self.executable.push('"');
            self.executable.push_str(&super::history_table(&path));
            self.executable.push('"');
            copied = tokens[close].end;
            let length = self.executable.len();
            // Both are offsets of texts of some kilobytes.
            self.shifts.push((length, copied as isize - length as isize));
            if !self.history.contains(&path) {
                self.history.push(path);
            }
            at = close + 1;
        }
        self.executable.push_str(&source[copied..]);
        Ok(())
    }
}

/// Reads the argument of `history`: one string, or a dotted path of bare words.
fn argument(source: &str, tokens: &[Token]) -> Option<MappingPath> {
    let [token] = tokens else {
        let (first, last) = (tokens.first()?, tokens.last()?);
        return source[first.start..last.end].parse().ok();
    };
    let text = &source[token.start..token.end];
    match token.kind {
        Kind::Text => text.get(1..text.len() - 1)?.parse().ok(),
        Kind::Word => text.parse().ok(),
        Kind::Other => None,
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Word,
    /// In single quotes.
    Text,
    /// A quoted name, or a sign.
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    kind: Kind,
    start: usize,
    end: usize,
}

/// Splits SQL into words, strings, quoted names and signs, without spaces and comments. Each byte is
/// looked at once; what is never closed runs to the end, for the engine to refuse.
fn tokenize(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let find = |from: usize, needle: &str| text[from..].find(needle).map(|found| from + found);
        let kind = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' => {
                at += 1;
                continue;
            }
            b'-' if bytes.get(at + 1) == Some(&b'-') => {
                at = find(at, "\n").unwrap_or(bytes.len());
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = find(at + 2, "*/").map_or(bytes.len(), |end| end + 2);
                continue;
            }
            b'\'' => {
                at = quoted_end(bytes, at);
                Kind::Text
            }
            b'"' | b'`' => {
                at = quoted_end(bytes, at);
                Kind::Other
            }
            b'[' => {
                at = find(at, "]").map_or(bytes.len(), |end| end + 1);
                Kind::Other
            }
            byte if is_word(byte) => {
                while bytes.get(at).copied().is_some_and(is_word) {
                    at += 1;
                }
                Kind::Word
            }
            _ => {
                at += 1;
                Kind::Other
            }
        };
        tokens.push(Token { kind, start, end: at });
    }
    tokens
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Returns the offset after the closing quote; a doubled quote is part of the text.
fn quoted_end(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let mut at = start + 1;
    while at < bytes.len() {
        if bytes[at] == quote {
            if bytes.get(at + 1) != Some(&quote) {
                return at + 1;
            }
            at += 1;
        }
        at += 1;
    }
    bytes.len()
}

impl TryFrom<String> for SqlText {
    type Error = SqlTextError;
    fn try_from(text: String) -> Result<Self, SqlTextError> {
        text.parse()
    }
}

impl From<SqlText> for String {
    fn from(text: SqlText) -> Self {
        text.source
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn parse(text: &str) -> SqlText {
        text.parse().unwrap_or_else(|err| panic!("{text}: {err}"))
    }

    #[test]
    fn history_becomes_a_table_and_places_stay_right() {
        let sql = parse(
            "select a,\n  b from history('kpi.total') h join HISTORY( kpi.n ) on x = 'history(1)'",
        );
        assert_eq!(
            sql.executable(),
            "select a,\n  b from \"history(kpi.total)\" h join \"history(kpi.n)\" on x = 'history(1)'"
        );
        let paths: Vec<String> = sql.history().iter().map(ToString::to_string).collect();
        assert_eq!(paths, ["kpi.total", "kpi.n"]);
        for word in ["select", "b from", " h join", "on x", "= '"] {
            let (there, here) =
                (sql.executable().find(word).unwrap(), sql.as_str().find(word).unwrap());
            assert_eq!(sql.position(there), place(sql.as_str(), here), "{word}");
        }
        assert_eq!(
            sql.position(sql.executable().find("b from").unwrap()),
            Position { line: 2, column: 3 }
        );
    }

    #[test]
    fn a_name_is_found_and_replaced_as_a_name_only() {
        let sql = parse("SELECT o.totl, 'totl' FROM \"Orders\" o -- totl");
        assert!(sql.mentions("orders") && sql.mentions("totl") && !sql.mentions("tot"));
        let renamed = sql.renamed("totl", "total").unwrap();
        assert_eq!(renamed, "SELECT o.total, 'totl' FROM \"Orders\" o -- totl");
        assert_eq!(sql.renamed("orders", "x"), None, "a quoted name is its author's");
    }

    #[test]
    fn comments_strings_and_names_are_no_calls() {
        for text in [
            "select 1 -- history(",
            "select 1 /* history( */",
            "select \"history\"('x'), `a``b`, [history(]",
            "select 'it''s history(' from t",
            "with history as (select 1) select * from history",
        ] {
            assert_eq!(parse(text).executable(), text);
        }
    }

    #[test]
    fn other_statements_and_calls_without_a_path_are_refused() {
        for (text, found) in [
            ("", ""),
            ("-- only a comment", ""),
            ("  insert into t values (1)", "insert"),
            ("/* x */ EXPLAIN select 1", "EXPLAIN"),
            ("(select 1)", "("),
            ("pragma x", "pragma"),
        ] {
            assert_eq!(
                text.parse::<SqlText>(),
                Err(SqlTextError::NotSelect { found: found.to_owned() })
            );
        }
        for text in [
            "select * from history()",
            "select * from history('a', 'b')",
            "select * from history(",
            "select * from history('')",
            "select * from history('$')",
            "select * from history(1 + 2)",
        ] {
            assert!(matches!(text.parse::<SqlText>(), Err(SqlTextError::History { .. })), "{text}");
        }
        assert_eq!("select '\0'".parse::<SqlText>(), Err(SqlTextError::Nul));
        let long = format!("select '{}'", "x".repeat(QUERY_TEXT.max()));
        assert!(matches!(long.parse::<SqlText>(), Err(SqlTextError::TooLong { .. })));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(select|with) [ -~é\n]{0,60}") {
            if let Ok(sql) = text.parse::<SqlText>() {
                for offset in 0..=sql.executable().len() {
                    prop_assert!(sql.position(offset).line > 0);
                }
                if sql.history().is_empty() {
                    prop_assert_eq!(sql.executable(), sql.as_str());
                }
            }
        }
    }
}
