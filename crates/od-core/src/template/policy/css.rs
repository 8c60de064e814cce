//! CSS policy: the values that may stand in a style attribute, and the places they may stand in.

/// The reasons for refusing a value in a style attribute.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CssFault {
    /// A character other than letters, digits, `#%.,+-()_ /` and spaces.
    #[error("the character {0:?}")]
    Character(char),
    /// `url(`, also when it arises from several parts.
    #[error("url(")]
    Url,
    /// Brackets that do not match.
    #[error("unmatched brackets")]
    Brackets,
}

/// The identifier that CSS text ends with, as far as it matters for `url(`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct IdentifierTail {
    /// The last three bytes, in lower case.
    last: [u8; 3],
    /// Bytes of the identifier; four means more than three.
    length: u8,
}

impl IdentifierTail {
    /// Reads on over template text.
    pub(crate) fn literal(mut self, text: &str) -> Self {
        // What stands before the last few bytes of an identifier only matters by its length.
        let mut from = text.len().saturating_sub(8);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        if from > 0 {
            self = Self::default();
        }
        text.bytes().skip(from).fold(self, Self::step)
    }

    fn step(mut self, byte: u8) -> Self {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || byte >= 0x80 {
            self.last = [self.last[1], self.last[2], byte.to_ascii_lowercase()];
            self.length = (self.length + 1).min(4);
            self
        } else {
            Self::default()
        }
    }

    fn is_url(self) -> bool {
        self.length == 3 && self.last == *b"url"
    }
}

/// Checks a value behind CSS text that ends with `tail`; returns the new end.
pub(crate) fn check_value(
    value: &str,
    mut tail: IdentifierTail,
) -> Result<IdentifierTail, CssFault> {
    let mut open = 0_u32;
    for mark in value.chars() {
        let plain = mark.is_ascii_alphanumeric()
            || matches!(mark, '#' | '%' | '.' | ',' | '+' | '-' | '(' | ')' | '_' | ' ' | '/');
        if !plain {
            return Err(CssFault::Character(mark));
        }
        match mark {
            '(' if tail.is_url() => return Err(CssFault::Url),
            '(' => open += 1,
            ')' => open = open.checked_sub(1).ok_or(CssFault::Brackets)?,
            _ => {}
        }
        tail = tail.step(mark as u8);
    }
    if open > 0 { Err(CssFault::Brackets) } else { Ok(tail) }
}

/// The surroundings of a position in CSS text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Context {
    Plain,
    String(u8),
    Comment,
    Url,
}

/// Follows the literal text of a style attribute, as far as bindings need to know where they stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CssFollower {
    pub(crate) context: Context,
    /// The number of open brackets.
    depth: u32,
    tail: IdentifierTail,
    previous: u8,
    escapes: bool,
}

impl Default for CssFollower {
    fn default() -> Self {
        let (context, tail) = (Context::Plain, IdentifierTail::default());
        Self { context, depth: 0, tail, previous: b' ', escapes: false }
    }
}

impl CssFollower {
    pub(crate) fn read(&mut self, text: &str) {
        for byte in text.bytes() {
            match (self.context, byte) {
                (Context::Plain, b'(') => self.depth += 1,
                (Context::Plain | Context::Url, b')') => self.depth = self.depth.saturating_sub(1),
                (_, _) => {}
            }
            self.context = match (self.context, byte) {
                (Context::Plain | Context::Url, quote @ (b'"' | b'\'')) => Context::String(quote),
                (Context::Plain, b'*') if self.previous == b'/' => Context::Comment,
                (Context::Plain, b'(') if self.tail.is_url() => Context::Url,
                (Context::String(quote), _) if byte == quote => Context::Plain,
                (Context::Comment, b'/') if self.previous == b'*' => Context::Plain,
                (Context::Url, b')') => Context::Plain,
                (same, _) => same,
            };
            self.tail = self.tail.step(byte);
            self.previous = byte;
            // Escapes are not followed: `\75rl(` is `url(` too. A style attribute with one takes no
            // binding behind it.
            self.escapes |= byte == b'\\';
        }
    }

    /// Returns the fault of a binding at this place with the text `following` behind it.
    pub(crate) fn fault(&self, following: &str) -> Option<&'static str> {
        match self.context {
            Context::Url => return Some("it stands inside url()"),
            Context::Comment => return Some("it stands inside a CSS comment"),
            // `image-set("…")` is an address without `url(`.
            Context::String(_) if self.depth > 0 => {
                return Some("it stands in a string inside brackets, which may be an address");
            }
            Context::Plain | Context::String(_) => {}
        }
        if self.escapes {
            return Some("a CSS escape stands before it");
        }
        // A value and the text behind it make one token: `{{x}}rl(` with the value `u` is an address.
        let in_name = |mark: char| mark.is_alphanumeric() || matches!(mark, '-' | '_');
        match following.trim_start_matches(in_name).chars().next() {
            Some('(') => Some("a bracket follows, which would make the value a function name"),
            Some('*') if following.starts_with('*') => {
                Some("* follows, which could begin a CSS comment")
            }
            _ => None,
        }
    }

    /// Reads on behind a binding, whose value is unknown.
    pub(crate) fn pass_value(&mut self) {
        self.tail = IdentifierTail::default();
        self.previous = b' ';
    }
}

/// Returns whether CSS text loads something from elsewhere.
pub(crate) fn loads_something(css: &str) -> bool {
    // Most values are a colour or a length.
    if memchr::memchr2(b'@', b'(', css.as_bytes()).is_none() {
        return false;
    }
    let lower = css.to_ascii_lowercase();
    let asks = |(at, _): (usize, &str)| {
        let target = lower[at + 4..].trim_start_matches(|mark: char| {
            mark.is_ascii_whitespace() || mark == '"' || mark == '\''
        });
        !target.starts_with("data:") && !target.starts_with('#')
    };
    lower.contains("@import") || lower.match_indices("url(").any(asks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(before: &str, value: &str, fault: CssFault) {
        assert_eq!(
            check_value(value, IdentifierTail::default().literal(before)),
            Err(fault),
            "{before}|{value}"
        );
    }

    #[test]
    fn only_plain_tokens_pass() {
        for value in [
            "",
            "50%",
            "#4f46e5",
            "rgb(1, 2, 3)",
            "1px solid red",
            "calc(1px + 2px)",
            "a/b",
            "-1.5e3",
        ] {
            assert!(check_value(value, IdentifierTail::default()).is_ok(), "{value}");
        }
        for (value, mark) in [
            ("a;b", ';'),
            ("a:b", ':'),
            ("{", '{'),
            ("\\", '\\'),
            ("/*", '*'),
            ("\"", '"'),
            ("é", 'é'),
            ("\n", '\n'),
        ] {
            refused("", value, CssFault::Character(mark));
        }
        refused("", "URL(x)", CssFault::Url);
        refused("", "a url(//evil.test)", CssFault::Url);
        refused("width:u", "rl(x)", CssFault::Url);
        refused("width:12345678 url", "(x)", CssFault::Url);
        refused("", "rgb(1", CssFault::Brackets);
        refused("", ")(", CssFault::Brackets);
        assert!(check_value("rl(x)", IdentifierTail::default().literal("--my-u")).is_ok());
    }

    #[test]
    fn a_follower_knows_strings_comments_and_urls() {
        let context = |text: &str| {
            let mut css_follower = CssFollower::default();
            css_follower.read(text);
            css_follower.context
        };
        assert_eq!(context("color:"), Context::Plain);
        assert_eq!(context("content:'a"), Context::String(b'\''));
        assert_eq!(context("a/* b"), Context::Comment);
        assert_eq!(context("a/* b */"), Context::Plain);
        assert_eq!(context("background:URL( "), Context::Url);
        assert_eq!(context("background:url(x) "), Context::Plain);
        assert_eq!(context("background:url('x)"), Context::String(b'\''));
    }
}
