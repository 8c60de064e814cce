//! Many faults in one build: a function with faults becomes one that takes the body that was asked for.
//!
//! `fn f() { a }` with the faults 3 and 7 becomes
//! `fn f() { match crate::od_fault() { 3 => { b } 7 => { c } _ => { a } } }`. The bodies stand beside each
//! other, so each may move and borrow what it likes. What is no part of a body, and bodies whose type
//! differs with what they hold, cannot be had so and are built by themselves.

use std::ops::Range;

/// A fault in a text: the bytes that go, and what takes their place.
pub(super) struct Change {
    pub(super) number: usize,
    pub(super) at: Range<usize>,
    pub(super) new: String,
}

/// The file below the root of the tree that says which fault there is.
pub(super) const FAULT: &str = "fault";

/// Appended to the root of each crate: the fault that this process has. From a file: tests start programs
/// with an environment of their own.
pub(super) const SWITCH: &str = "
#[allow(missing_docs, reason = \"only where faults are tried\")]
pub(crate) fn od_fault() -> usize {
    static FAULT: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *FAULT.get_or_init(|| {
        let number = std::fs::read_to_string(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/../../fault\"));
        number.ok().and_then(|number| number.parse().ok()).unwrap_or(0)
    })
}
";

/// Returns the text with a switch in every function that has a fault, and the numbers of the faults that
/// are not in it.
pub(super) fn switched(text: &str, changes: &[Change]) -> (String, Vec<usize>) {
    let bodies = bodies(text);
    let mut left = Vec::new();
    let mut chosen: Vec<(Range<usize>, Vec<&Change>)> = Vec::new();
    for change in changes {
        let holds = |body: &&Range<usize>| body.start < change.at.start && change.at.end < body.end;
        // Of functions inside each other the outermost: two faults never share a part of one.
        match bodies.iter().filter(holds).max_by_key(|body| body.len()) {
            Some(body) => match chosen.iter_mut().find(|(known, _)| known == body) {
                Some((_, of)) => of.push(change),
                None => chosen.push((body.clone(), vec![change])),
            },
            None => left.push(change.number),
        }
    }
    chosen.sort_by_key(|(body, _)| body.start);
    let mut out = String::with_capacity(2 * text.len());
    let mut from = 0;
    for (body, changes) in chosen {
        out.push_str(&text[from..body.start]);
        out.push_str("{ match crate::od_fault() {");
        for change in changes {
            let (before, behind) =
                (&text[body.start..change.at.start], &text[change.at.end..body.end]);
            out.push_str(&format!("{} => {before}{}{behind}\n", change.number, change.new));
        }
        out.push_str(&format!("_ => {} }} }}", &text[body.clone()]));
        from = body.end;
    }
    out.push_str(&text[from..]);
    (out, left)
}

/// Returns where the bodies of functions stand, braces included, but for those that cannot have a switch.
fn bodies(text: &str) -> Vec<Range<usize>> {
    let tokens = tokens(text);
    let word = |at: usize| tokens.get(at).map_or("", |token| &text[token.clone()]);
    let mut bodies = Vec::new();
    for at in 0..tokens.len() {
        if word(at) != "fn" || (at > 0 && word(at - 1) == "const") {
            continue;
        }
        let Some(open) = (at..tokens.len()).find(|at| matches!(word(*at), "{" | ";")) else {
            continue;
        };
        if word(open) == ";" || is_opaque((at..open).map(word)) {
            continue;
        }
        let mut depth = 0_usize;
        for close in open..tokens.len() {
            match word(close) {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => continue,
            }
            if depth == 0 {
                bodies.push(tokens[open].start..tokens[close].end);
                break;
            }
        }
    }
    bodies
}

/// Returns whether a signature returns `impl …`, whose type differs from body to body.
fn is_opaque<'t>(signature: impl Iterator<Item = &'t str>) -> bool {
    let (mut depth, mut is_returned, mut before) = (0, false, "");
    for word in signature {
        match word {
            "(" => depth += 1,
            ")" => depth -= 1,
            ">" if before == "-" && depth == 0 => is_returned = true,
            "impl" if is_returned => return true,
            _ => {}
        }
        before = word;
    }
    false
}

/// Returns words and single characters; comments, texts and spaces are left out.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let find = |from: usize, what: &str| text[from..].find(what).map(|at| from + at + what.len());
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        if rest.starts_with("//") {
            at = find(at, "\n").unwrap_or(bytes.len());
        } else if let Some(hashes) = raw_text(rest) {
            let end = format!("\"{}", "#".repeat(hashes));
            let begin = at + rest.find('"').unwrap_or(0) + 1;
            at = find(begin, &end).unwrap_or(bytes.len());
        } else if bytes[at] == b'"' {
            at += 1;
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at += 1;
        } else if bytes[at] == b'\'' {
            at += character(rest);
        } else if is_word(&bytes[at]) {
            let length = rest.bytes().take_while(|byte| is_word(byte)).count();
            found.push(at..at + length);
            at += length;
        } else {
            if bytes[at].is_ascii_punctuation() {
                found.push(at..at + 1);
            }
            at += 1;
            while !text.is_char_boundary(at) {
                at += 1;
            }
        }
    }
    found
}

/// Returns the number of `#` of a raw text that begins here.
fn raw_text(rest: &str) -> Option<usize> {
    let rest = rest.strip_prefix('b').unwrap_or(rest).strip_prefix('r')?;
    let hashes = rest.bytes().take_while(|byte| *byte == b'#').count();
    (rest.as_bytes().get(hashes) == Some(&b'"')).then_some(hashes)
}

/// Returns the length of a character in quotes, or 1 for the quote of a lifetime.
fn character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((escaped, _))) => {
            rest[escaped + 1..].find('\'').map_or(1, |end| escaped + 1 + end + 1)
        }
        (Some(_), Some((end, '\''))) => end + 1,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(text: &str, number: usize, old: &str, new: &str) -> Change {
        let start = text.find(old).expect("it is there");
        Change { number, at: start..start + old.len(), new: new.to_owned() }
    }

    #[test]
    fn a_function_gets_a_body_for_each_of_its_faults() {
        let text = "fn f<'a>(x: &'a str) -> bool { x == \"}\" && '{' != '\\'' } fn g() { 1 }\n";
        let changes = [change(text, 3, "==", "!="), change(text, 7, "&&", "||")];
        let (switched, left) = switched(text, &changes);
        let same = "x == \"}\" && '{' != '\\''";
        assert_eq!(
            switched,
            format!(
                "fn f<'a>(x: &'a str) -> bool {{ match crate::od_fault() {{3 => {{ x != \"}}\" && '{{' != '\\'' }}\n\
                 7 => {{ x == \"}}\" || '{{' != '\\'' }}\n_ => {{ {same} }} }} }} fn g() {{ 1 }}\n"
            )
        );
        assert!(left.is_empty());
    }

    #[test]
    fn what_cannot_be_switched_is_left() {
        let text = "const A: u8 = 1;\nconst fn c() -> u8 { 2 }\n\
                    fn i() -> impl Fn() -> u8 { || 3 }\nfn a(of: impl Fn()) -> u8 { 4 }\n";
        let changes = ["1", "2", "3", "4"]
            .map(|digit| change(text, digit.parse().expect("a number"), digit, "9"));
        let (switched, left) = switched(text, &changes);
        assert_eq!(left, [1, 2, 3]);
        assert!(switched.contains("-> u8 { match crate::od_fault() {4 => { 9 }"), "{switched}");
    }
}
