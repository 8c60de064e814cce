//! Takes out of the console's own sources what a browser does not need: comments, indentation, spaces.
//!
//! This is no minifier for any script: it knows the style in which `web/` is written (statements end
//! with a semicolon, no division right after an opening bracket). The browser suite runs its output.

/// Returns a script without comments and needless white space.
pub(super) fn script(source: &str) -> String {
    let out = Script::new(source.as_bytes()).run();
    String::from_utf8_lossy(&out).into_owned()
}

/// The console's own properties, which every sheet names often. Longer names first where one begins like another.
const PROPERTIES: &[(&str, &str)] = &[
    ("--bad-soft", "--e"),
    ("--accent", "--a"),
    ("--raised", "--u"),
    ("--shadow", "--v"),
    ("--hover", "--h"),
    ("--press", "--q"),
    ("--panel", "--p"),
    ("--faint", "--f"),
    ("--soft", "--s"),
    ("--line", "--l"),
    ("--rule", "--j"),
    ("--edge", "--d"),
    ("--tint", "--i"),
    ("--fill", "--k"),
    ("--good", "--g"),
    ("--warn", "--w"),
    ("--mono", "--m"),
    ("--sans", "--n"),
    ("--bad", "--b"),
    ("--ink", "--c"),
    ("--pop", "--o"),
];

/// Variables that the modules name often. None of them is imported or exported; a test looks.
const LOCALS: &[(&str, &str)] = &[
    ("connector", "$c"),
    ("artifact", "$a"),
    ("progress", "$g"),
    ("snapshot", "$z"),
    ("record", "$R"),
    ("variant", "$i"),
    ("options", "$t"),
    ("columns", "$m"),
    ("message", "$w"),
    ("resource", "$o"),
    ("project", "$p"),
    ("source", "$s"),
    ("before", "$b"),
    ("listed", "$l"),
    ("found", "$f"),
    ("error", "$e"),
    ("event", "$v"),
    ("entry", "$y"),
    ("route", "$r"),
    ("label", "$d"),
    ("value", "$u"),
    ("index", "$x"),
    ("query", "$q"),
    ("path", "$h"),
    ("name", "$n"),
    ("text", "$k"),
    ("file", "$j"),
];

/// Says whether a variable of this name is made short.
#[cfg(test)]
pub(super) fn is_shortened(word: &str) -> bool {
    LOCALS.iter().any(|(long, _)| *long == word)
}

/// What a word stands for.
enum Local {
    /// A variable: it is written like this.
    Short(&'static [u8]),
    /// A variable that gives its name to a property.
    Property(&'static [u8]),
    /// Something else.
    No,
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
    for (long, short) in PROPERTIES {
        text = text.replace(long, short);
    }
    // A space before a colon is a descendant selector and stays.
    text.replace(": ", ":").replace(";}", "}").replace(" > ", ">").replace(" ~ ", "~")
}

/// The white space seen since the last token.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Gap {
    None,
    Space,
    Line,
}

/// The statement under way inside a pair of brackets.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Statement {
    /// It began with `const`.
    Constant,
    Other,
}

struct Script<'a> {
    source: &'a [u8],
    at: usize,
    out: Vec<u8>,
    gap: Gap,
    /// One for each bracket that is open, and one for the module.
    statements: Vec<Statement>,
    /// The brackets that are open.
    brackets: Vec<u8>,
    /// The semicolon just written ended a `const`.
    after_constant: bool,
}

impl<'a> Script<'a> {
    fn new(source: &'a [u8]) -> Self {
        Self {
            source,
            at: 0,
            out: Vec::with_capacity(source.len()),
            gap: Gap::None,
            statements: vec![Statement::Other],
            brackets: Vec::new(),
            after_constant: false,
        }
    }

    fn run(mut self) -> Vec<u8> {
        while let Some(&byte) = self.source.get(self.at) {
            let start = self.at;
            match byte {
                b'\n' => self.skip(1, Gap::Line),
                b' ' | b'\t' | b'\r' => self.skip(1, Gap::Space),
                b'/' if self.ahead(b"//") => self.skip(self.until(b"\n"), Gap::None),
                b'/' if self.ahead(b"/*") => self.skip(self.until(b"*/") + 2, Gap::Space),
                b'"' | b'\'' => self.token(start, end_of_string(self.source, start)),
                b'`' => self.template(start),
                b'/' if self.expects_operand() => {
                    self.token(start, end_of_pattern(self.source, start));
                }
                _ if is_word(byte) => self.token(start, end_of_word(self.source, start)),
                _ => self.token(start, start + 1),
            }
        }
        self.out
    }

    /// Copies a template's text as it is, and its `${…}` as scripts of their own.
    fn template(&mut self, start: usize) {
        let end = end_of_template(self.source, start).min(self.source.len());
        // The opening mark decides about the space before it, like any token.
        self.token(start, start + 1);
        let mut at = start + 1;
        while at < end {
            if self.source[at..end].starts_with(b"${") {
                let after = end_of_hole(self.source, at + 2).min(end);
                let inside = Script::new(&self.source[at + 2..after - 1]).run();
                self.out.extend_from_slice(b"${");
                self.out.extend_from_slice(&inside);
                self.out.push(b'}');
                at = after;
            } else {
                let step = if self.source[at] == b'\\' { 2 } else { 1 };
                let next = (at + step).min(end);
                self.out.extend_from_slice(&self.source[at..next]);
                at = next;
            }
        }
        self.at = end;
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
        self.at = end;
        let source = self.source;
        if self.continues_constant(&source[start..end]) {
            self.gap = Gap::None;
            return;
        }
        let text = shortest(source, start, end);
        let first = text[0];
        self.drop_before(first);
        let local = self.local(text, end);
        self.follow(text);
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
        match local {
            Local::Short(short) => self.out.extend_from_slice(short),
            Local::Property(short) => {
                self.out.extend_from_slice(text);
                self.out.push(b':');
                self.out.extend_from_slice(short);
            }
            Local::No => self.out.extend_from_slice(text),
        }
        self.gap = Gap::None;
    }

    /// Says whether a word names a variable that has a shorter name here, judged by what stands around it.
    fn local(&self, text: &[u8], end: usize) -> Local {
        let Some((_, short)) = LOCALS.iter().find(|(long, _)| long.as_bytes() == text) else {
            return Local::No;
        };
        let short = short.as_bytes();
        let last = self.out.last().copied().unwrap_or_default();
        let next = self.source[end..].iter().find(|byte| !byte.is_ascii_whitespace()).copied();
        let next = next.unwrap_or_default();
        if last == b'.' && !self.out.ends_with(b"...") {
            return Local::No;
        }
        // Inside braces that are no block: after `const` the commas separate variables.
        let among_properties = self.brackets.last() == Some(&b'{')
            && b"{,".contains(&last)
            && self.statements.last() != Some(&Statement::Constant);
        match next {
            b':' if among_properties => Local::No,
            b',' | b'}' if among_properties => Local::Property(short),
            b'=' if among_properties && last == b',' => Local::Property(short),
            _ => Local::Short(short),
        }
    }

    /// `const a = 1; const b = 2;` is one statement.
    fn continues_constant(&mut self, text: &[u8]) -> bool {
        let joins = text == b"const" && self.after_constant && self.out.ends_with(b";");
        self.after_constant = false;
        if joins {
            self.out.pop();
            self.out.push(b',');
            self.begin(Statement::Constant);
        }
        joins
    }

    /// Notes what statement the next token belongs to.
    fn follow(&mut self, text: &[u8]) {
        let begins = self.out.last().is_none_or(|last| b";{}".contains(last));
        match text {
            b"{" | b"(" | b"[" => {
                self.statements.push(Statement::Other);
                self.brackets.push(text[0]);
            }
            b"}" | b")" | b"]" if self.statements.len() > 1 => {
                self.statements.pop();
                self.brackets.pop();
            }
            b";" => {
                self.after_constant = self.statements.last() == Some(&Statement::Constant);
                self.begin(Statement::Other);
            }
            b"const" if begins => self.begin(Statement::Constant),
            _ => {}
        }
    }

    fn begin(&mut self, statement: Statement) {
        if let Some(last) = self.statements.last_mut() {
            *last = statement;
        }
    }
}

/// Returns the shorter form of a word, if it has one and is no property's name.
fn shortest(source: &[u8], start: usize, end: usize) -> &[u8] {
    let is_name = source[..start].ends_with(b".")
        || source[end..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
    match &source[start..end] {
        b"true" if !is_name => b"!0",
        b"false" if !is_name => b"!1",
        b"undefined" if !is_name => b"void 0",
        text => text,
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

/// Where a template ends, whatever stands in its `${…}`.
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
        check("// one\nconst a = 1; /* two */\n\n  const b = a + 1;\n", "const a=1,b=a+1;");
        check(
            "/** @param {string} x */\nexport function f(x) {\n  return x}",
            "export function f(x){return x}",
        );
    }

    #[test]
    fn text_stays_as_it_is() {
        check(r#"f("a  // b", 'it\'s  x');"#, r#"f("a  // b",'it\'s  x');"#);
        check("f(`a  ${b ? `c  ${ d }` : \"}  `\"}  e`);", "f(`a  ${b?`c  ${d}`:\"}  `\"}  e`);");
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
    fn constants_that_follow_each_other_are_one_statement() {
        check(
            "const a = () => { f(); };\nconst { b, c } = d;\ne();",
            "const a=()=>{f()},{b,c}=d;e();",
        );
        check("export const a = 1;\nconst b = 2;\nconst c = 3;", "export const a=1;const b=2,c=3;");
        check("for (const a of b) c();\nconst d = 1;", "for(const a of b)c();const d=1;");
        check("const a = 1;\nlet b = 2;\nconst c = 3;", "const a=1;let b=2;const c=3;");
        check("if (a) { const b = 1; }\nconst c = 2;", "if(a){const b=1}const c=2;");
    }

    #[test]
    fn words_become_short_unless_they_are_names() {
        check("f(true, x.true, { false: 1 });", "f(!0,x.true,{false:1});");
        check("return undefined;", "return void 0;");
        check("return false;", "return!1;");
    }

    #[test]
    fn variables_become_short_and_properties_stay() {
        check(
            "f(artifact.id, x.artifact, { artifact, b });",
            "f($a.id,x.artifact,{artifact:$a,b});",
        );
        check("const { artifact, rest } = g();", "const{artifact:$a,rest}=g();");
        check("const { artifact: own, ...project } = g();", "const{artifact:own,...$p}=g();");
        check("return a ? artifact : { project: entry };", "return a?$a:{project:$y};");
        check("{ const a = 1; const entry = 2; let route = entry; }", "{const a=1,$y=2;let $r=$y}");
        check(
            "f(`/p/${project}/${ a.project }`, 'project');",
            "f(`/p/${$p}/${a.project}`,'project');",
        );
    }

    #[test]
    fn styles_keep_their_meaning() {
        assert_eq!(
            style("/* x */ .a :hover,\n.b {\n  margin: 0 1px;\n  width: calc(1px + 2px);\n}\n"),
            ".a :hover,.b{margin:0 1px;width:calc(1px + 2px)}"
        );
    }
}
