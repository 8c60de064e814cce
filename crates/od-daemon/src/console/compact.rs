//! Takes out of the console's own sources what a browser does not need: comments, indentation, spaces.
//!
//! This is no minifier for any script: it knows the style in which `web/` is written (statements end
//! with a semicolon, no division right after an opening bracket). The browser suite runs its output.

/// Returns a script without comments and needless white space.
pub(super) fn script(source: &str) -> String {
    Script {
        source: source.as_bytes(),
        at: 0,
        out: Vec::with_capacity(source.len()),
        gap: Gap::None,
    }
    .run()
}

/// Returns a style sheet without comments and needless white space.
pub(super) fn style(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(start) = rest.find("/*") {
        out.push_str(&rest[..start]);
        rest = rest[start..].find("*/").map_or("", |end| &rest[start + end + 2..]);
    }
    out.push_str(rest);
    let mut text = out.split_whitespace().collect::<Vec<_>>().join(" ");
    for mark in ["{", "}", ";", ","] {
        text = text.replace(&format!(" {mark}"), mark).replace(&format!("{mark} "), mark);
    }
    // A space before a colon is a descendant selector and stays.
    text.replace(": ", ":").replace(";}", "}")
}

/// The white space seen since the last token.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Gap {
    None,
    Space,
    Line,
}

struct Script<'a> {
    source: &'a [u8],
    at: usize,
    out: Vec<u8>,
    gap: Gap,
}

impl Script<'_> {
    fn run(mut self) -> String {
        while let Some(&byte) = self.source.get(self.at) {
            let start = self.at;
            match byte {
                b'\n' => self.skip(1, Gap::Line),
                b' ' | b'\t' | b'\r' => self.skip(1, Gap::Space),
                b'/' if self.ahead(b"//") => self.skip(self.until(b"\n"), Gap::None),
                b'/' if self.ahead(b"/*") => self.skip(self.until(b"*/") + 2, Gap::Space),
                b'"' | b'\'' => self.token(start, end_of_string(self.source, start)),
                b'`' => self.token(start, end_of_template(self.source, start)),
                b'/' if self.expects_operand() => {
                    self.token(start, end_of_pattern(self.source, start));
                }
                _ if is_word(byte) => self.token(start, end_of_word(self.source, start)),
                _ => self.token(start, start + 1),
            }
        }
        String::from_utf8_lossy(&self.out).into_owned()
    }

    fn ahead(&self, text: &[u8]) -> bool {
        self.source[self.at..].starts_with(text)
    }

    fn until(&self, text: &[u8]) -> usize {
        let rest = &self.source[self.at..];
        rest.windows(text.len()).position(|window| window == text).unwrap_or(rest.len())
    }

    fn skip(&mut self, count: usize, gap: Gap) {
        self.at = (self.at + count).min(self.source.len());
        if gap == Gap::Line || self.gap == Gap::None {
            self.gap = if gap == Gap::None { self.gap } else { gap };
        }
    }

    /// A slash here begins a pattern, because a value cannot be divided yet.
    fn expects_operand(&self) -> bool {
        self.out.last().is_none_or(|last| b"(,=:[!&|?{;>".contains(last))
            || self.out.ends_with(b"return")
    }

    /// A comma before a closing bracket and a semicolon before a closing brace say nothing.
    fn drop_before(&mut self, first: u8) {
        let idle = match first {
            b')' | b']' => self.out.ends_with(b","),
            b'}' => self.out.ends_with(b",") || self.out.ends_with(b";"),
            _ => false,
        };
        if idle {
            self.out.pop();
        }
    }

    fn token(&mut self, start: usize, end: usize) {
        let end = end.min(self.source.len());
        let first = self.source[start];
        self.drop_before(first);
        if let Some(&last) = self.out.last() {
            match self.gap {
                Gap::Line if !continues(last, first) => self.out.push(b'\n'),
                Gap::Line | Gap::Space if is_word(last) && is_word(first) => self.out.push(b' '),
                Gap::Space if last == first && (last == b'+' || last == b'-') => {
                    self.out.push(b' ');
                }
                Gap::None | Gap::Space | Gap::Line => {}
            }
        }
        self.out.extend_from_slice(&self.source[start..end]);
        self.gap = Gap::None;
        self.at = end;
    }
}

/// A line that ends or begins like this goes on: joining it changes nothing.
fn continues(last: u8, first: u8) -> bool {
    b",([{};=>?:&|".contains(&last) || b")]}.,?:&|".contains(&first)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn end_of_word(source: &[u8], start: usize) -> usize {
    start + source[start..].iter().take_while(|byte| is_word(**byte)).count()
}

fn end_of_string(source: &[u8], start: usize) -> usize {
    let quote = source[start];
    let mut at = start + 1;
    while at < source.len() && source[at] != quote {
        at += if source[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// A template is copied as it is, with whatever stands in its `${…}`.
fn end_of_template(source: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < source.len() {
        match source[at] {
            b'\\' => at += 2,
            b'`' => return at + 1,
            b'$' if source.get(at + 1) == Some(&b'{') => at = end_of_hole(source, at + 2),
            _ => at += 1,
        }
    }
    at
}

fn end_of_hole(source: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 1);
    while at < source.len() && depth > 0 {
        match source[at] {
            b'"' | b'\'' => at = end_of_string(source, at),
            b'`' => at = end_of_template(source, at),
            byte => {
                depth += i32::from(byte == b'{') - i32::from(byte == b'}');
                at += 1;
            }
        }
    }
    at
}

fn end_of_pattern(source: &[u8], start: usize) -> usize {
    let (mut at, mut in_class) = (start + 1, false);
    while at < source.len() && (in_class || source[at] != b'/') {
        match source[at] {
            b'\\' => at += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            _ => {}
        }
        at += 1;
    }
    end_of_word(source, (at + 1).min(source.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        assert_eq!(script(source), expected);
    }

    #[test]
    fn comments_and_spaces_go() {
        check("// one\nconst a = 1; /* two */\n\n  const b = a + 1;\n", "const a=1;const b=a+1;");
        check(
            "/** @param {string} x */\nexport function f(x) {\n  return x}",
            "export function f(x){return x}",
        );
    }

    #[test]
    fn text_stays_as_it_is() {
        check(r#"f("a  // b", 'it\'s  x');"#, r#"f("a  // b",'it\'s  x');"#);
        check(
            "f(`a  ${b ? `c  ${ d }` : \"}  `\"}  e`);",
            "f(`a  ${b ? `c  ${ d }` : \"}  `\"}  e`);",
        );
        check("x = / [/]  \\/ /g.test(y);", "x=/ [/]  \\/ /g.test(y);");
        check("return / a/;", "return/ a/;");
    }

    #[test]
    fn lines_that_end_a_statement_stay_apart() {
        check("class A {\n  b() {}\n\n  c() {}\n}", "class A{b(){}c(){}}");
        check("f(\n  a,\n);\nif (b) {\n  c();\n}", "f(a);if(b){c()}");
        check("a = b\n(c)", "a=b\n(c)");
        check("a + +b - -c", "a+ +b- -c");
    }

    #[test]
    fn styles_keep_their_meaning() {
        assert_eq!(
            style("/* x */ .a :hover,\n.b {\n  margin: 0 1px;\n  width: calc(1px + 2px);\n}\n"),
            ".a :hover,.b{margin:0 1px;width:calc(1px + 2px)}"
        );
    }
}
