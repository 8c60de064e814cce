//! Marks that are code around markup: `{#each}`, `{rows.map(row => …)}`, `@for (…) {`, `@foreach`.

use std::ops::Range;

use super::marks::{Loop, Mark, MarkKind, read_loop};

/// Code that was opened, and how it ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Open {
    /// `{rows.map(row => (`, until `))}`.
    Call,
    /// `{data.ok && `, until `}`.
    Expression,
    /// `@for (…) {`, until `}`.
    Braces,
    /// `@switch (…) { @case (…) {`, until `} }`; where its subject stands.
    Switch(usize, usize),
}

/// Reads code that opens at a place, and how it ends if it does so by brackets.
pub(super) fn open(source: &str, start: usize) -> Option<(Mark, Option<Open>)> {
    let rest = &source[start..];
    if rest.starts_with('@') {
        return at_word(source, start);
    }
    let mark = |end: usize, kind: MarkKind| Mark { span: start..start + end, kind };
    if ["{#", "{:", "{/"].iter().any(|open| rest.starts_with(open)) && !rest.starts_with("{{") {
        let end = rest.find('}')? + 1;
        let text = rest[2..end - 1].trim();
        let (word, behind) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let kind = match (&rest[..2], word) {
            ("{#", "each") => MarkKind::For(read_loop(behind)),
            ("{#", "if") => MarkKind::If(behind.to_owned(), false),
            ("{:", "else") => {
                let condition = behind.strip_prefix("if ").map(str::to_owned);
                MarkKind::Else(condition)
            }
            ("{/", "each" | "if" | "key" | "await") => MarkKind::Close,
            _ => return None,
        };
        return Some((mark(end, kind), None));
    }
    let inner = rest.strip_prefix("${").or_else(|| rest.strip_prefix('{'))?;
    let skipped = rest.len() - inner.len();
    let path_end = inner.find(|c: char| !is_path(c)).unwrap_or(inner.len());
    let behind = &inner[path_end..];
    if let Some((list, length)) = chosen_rows(inner, path_end) {
        let (call, _) = open(&format!("{{list{}", &inner[length..]), 0)?;
        let MarkKind::For(head) = call.kind else { return None };
        let head = Loop { list: format!("{list} | chosen"), ..head };
        // `{list` stands for what comes before `.map(`.
        let end = skipped + length + call.span.end - "{list".len();
        return Some((mark(end, MarkKind::For(head)), Some(Open::Call)));
    }
    if let Some(list) = inner[..path_end].strip_suffix(".map").filter(|it| !it.is_empty())
        && behind.starts_with('(')
    {
        let arrow = behind.find("=>").filter(|at| *at < 60)?;
        let mut names = behind[..arrow]
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|name| !name.is_empty());
        let head = Loop {
            alias: names.next().map(str::to_owned),
            index: names.next().map(str::to_owned),
            list: list.trim_end_matches('?').to_owned(),
        };
        let body = &behind[arrow + 2..];
        let code = body.len() - body.trim_start_matches([' ', '\n', '(', '`', '{']).len();
        let code = match body[code..].strip_prefix("return") {
            Some(returned) => body.len() - returned.trim_start_matches([' ', '\n', '(', '`']).len(),
            None => code,
        };
        let end = skipped + path_end + arrow + 2 + code;
        return Some((mark(end, MarkKind::For(head)), Some(Open::Call)));
    }
    // `{data.ok && <p>…</p>}` and `{data.n > 3 ? <p>…</p> : <p>…</p>}`.
    let (condition, markup) = condition_before_markup(inner)?;
    let end = rest.len() - markup.len();
    let condition = MarkKind::If(condition.to_owned(), false);
    (!rest.starts_with("{{")).then(|| (mark(end, condition), Some(Open::Expression)))
}

/// The longest condition that is read.
const CONDITION_MAX: usize = 120;

/// Reads what is asked before markup is shown; returns it and the markup.
fn condition_before_markup(inner: &str) -> Option<(&str, &str)> {
    let sign = |sign: &'static str| inner.find(sign).map(|at| (at, sign));
    let (at, sign) = [sign("&&"), sign("? "), sign("?\n"), sign("?<"), sign("?(")]
        .into_iter()
        .flatten()
        .min()
        .filter(|(at, _)| *at < CONDITION_MAX)?;
    let condition = inner[..at].trim();
    let used = if sign == "&&" { 2 } else { 1 };
    let markup = inner[at + used..].trim_start_matches([' ', '\n', '(']);
    let is_condition = condition.starts_with(|c: char| c.is_alphabetic() || c == '!')
        && !condition.contains(['{', '}', ';', '\n', '"'])
        && !condition.contains("</");
    let is_markup = markup.starts_with('<') && markup[1..].starts_with(char::is_alphabetic);
    (is_condition && is_markup).then_some((condition, markup))
}

/// Reads `data.rows.filter(…).sort(…)` before `.map(`; returns the list and the length of it all.
fn chosen_rows(inner: &str, path_end: usize) -> Option<(&str, usize)> {
    const CALLS: [&str; 4] = ["filter", "sort", "slice", "reverse"];
    let (list, call) = inner[..path_end].rsplit_once('.')?;
    let mut length = path_end;
    let mut call = call;
    while CALLS.contains(&call) && inner[length..].starts_with('(') {
        length += parentheses(&inner[length..])?;
        let next = inner[length..].strip_prefix('.')?;
        let end = next.find(|c: char| !c.is_ascii_alphabetic())?;
        call = &next[..end];
        if call == "map" {
            return Some((list, length));
        }
        length += 1 + end;
    }
    None
}

/// Reads `@switch (row.state) { @case ('open') {`.
fn switch(source: &str, start: usize) -> Option<(Mark, Option<Open>)> {
    let rest = source[start..].strip_prefix("@switch")?;
    let head = rest.trim_start();
    let length = parentheses(head)?;
    let subject = head[1..length - 1].trim();
    let from = source.len() - head.len() + head.find(subject)?;
    let cases = head[length..].trim_start().strip_prefix('{')?.trim_start();
    let (literal, inside) = case(cases)?;
    let span = start..source.len() - inside.len();
    let kind = MarkKind::If(format!("{subject} == {literal}"), false);
    Some((Mark { span, kind }, Some(Open::Switch(from, from + subject.len()))))
}

/// Reads `@case ('open') {`; returns what is compared with, and what stands inside.
fn case(text: &str) -> Option<(&str, &str)> {
    let head = text.strip_prefix("@case")?.trim_start();
    let length = parentheses(head)?;
    let inside = head[length..].trim_start().strip_prefix('{')?;
    Some((head[1..length - 1].trim(), inside))
}

fn is_path(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '?' | '$' | '[' | ']')
}

/// Reads `@for (…) {`, `@foreach (…)`, `@endif` and their kin.
fn at_word(source: &str, start: usize) -> Option<(Mark, Option<Open>)> {
    if let Some(found) = switch(source, start) {
        return Some(found);
    }
    let rest = &source[start + 1..];
    let inside_word = source[..start].ends_with(|c: char| c.is_alphanumeric() || c == '.');
    let length = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let word = &rest[..length];
    let ends = matches!(
        word,
        "endforeach" | "endfor" | "endif" | "endunless" | "endforelse" | "endempty" | "endisset"
    );
    let opens = matches!(word, "for" | "foreach" | "forelse" | "if" | "unless" | "isset");
    let divides = matches!(word, "else" | "elseif" | "empty");
    if inside_word || !(ends || opens || divides) {
        return None;
    }
    let behind = &rest[length..];
    let spaces = behind.len() - behind.trim_start_matches([' ', '\t']).len();
    let (head, used) = match behind[spaces..].starts_with('(') {
        true => {
            let span = parentheses(&behind[spaces..])?;
            (behind[spaces + 1..spaces + span - 1].trim(), spaces + span)
        }
        false if opens => return None,
        false => ("", 0),
    };
    let after = behind[used..].trim_start();
    let has_braces = opens && after.starts_with('{') && !after.starts_with("{{");
    let end = if has_braces { source.len() - after.len() + 1 } else { start + 1 + length + used };
    let kind = match word {
        "for" | "foreach" | "forelse" => MarkKind::For(read_loop(head)),
        "if" | "isset" => MarkKind::If(head.to_owned(), false),
        "unless" => MarkKind::If(head.to_owned(), true),
        "elseif" => MarkKind::Else(Some(head.to_owned())),
        "else" | "empty" => MarkKind::Else(None),
        _ => MarkKind::Close,
    };
    Some((Mark { span: start..end, kind }, has_braces.then_some(Open::Braces)))
}

/// Returns the length of a text up to the parenthesis that closes its first one.
fn parentheses(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, mark) in text.char_indices().take(400) {
        match mark {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Reads the end of code, or what divides it; `true` if it goes on behind the mark.
pub(super) fn close(source: &str, start: usize, open: Open) -> Option<(Mark, bool)> {
    let rest = &source[start..];
    let done = |length: usize, kind: MarkKind, goes_on: bool| {
        Some((Mark { span: start..start + length, kind }, goes_on))
    };
    match open {
        Open::Braces => {
            let behind = rest.strip_prefix('}')?;
            let next = behind.trim_start();
            if let Some(other) =
                ["@else", "@empty", "else"].iter().find_map(|word| next.strip_prefix(word))
                && let Some(brace) =
                    other.find('{').filter(|at| *at < 80 && !other[..*at].contains('<'))
            {
                let condition = other[..brace].trim().trim_start_matches("if").trim();
                let condition = condition.trim_matches(['(', ')']).to_owned();
                let condition = (!condition.is_empty()).then_some(condition);
                let length = rest.len() - other.len() + brace + 1;
                return done(length, MarkKind::Else(condition), true);
            }
            done(1, MarkKind::Close, false)
        }
        Open::Switch(from, to) => {
            let next = rest.strip_prefix('}')?.trim_start();
            if let Some((literal, inside)) = case(next) {
                let condition = format!("{} == {literal}", &source[from..to]);
                return done(rest.len() - inside.len(), MarkKind::Else(Some(condition)), true);
            }
            if let Some(inside) =
                next.strip_prefix("@default").and_then(|rest| rest.trim_start().strip_prefix('{'))
            {
                return done(rest.len() - inside.len(), MarkKind::Else(None), true);
            }
            let behind = next.strip_prefix('}').unwrap_or(next);
            done(rest.len() - behind.len(), MarkKind::Close, false)
        }
        Open::Call => {
            let length = tail(rest, true)?;
            done(length, MarkKind::Close, false)
        }
        Open::Expression => {
            if let Some(length) = tail(rest, false) {
                return done(length, MarkKind::Close, false);
            }
            // `) : (` between two pieces of markup.
            let behind = rest.trim_start_matches([')', ' ', '\n']).strip_prefix(':')?;
            let markup = behind.trim_start_matches([' ', '\n', '(']);
            let empty = markup.trim_start_matches("null").trim_start_matches("''").trim_start();
            if empty.starts_with('}') {
                return done(rest.len() - empty.len() + 1, MarkKind::Close, false);
            }
            markup.starts_with('<').then(|| {
                let span: Range<usize> = start..start + rest.len() - markup.len();
                (Mark { span, kind: MarkKind::Else(None) }, true)
            })
        }
    }
}

/// Returns the length of `))}`, `)}`, `` `).join('')} `` or `}` at the beginning of a text.
fn tail(text: &str, needs_parenthesis: bool) -> Option<usize> {
    let mut rest = text.trim_start_matches(['`', ' ', '\n', ';']);
    let before = rest.len();
    rest = rest.trim_start_matches([')', ' ', '\n', ';']);
    if needs_parenthesis && rest.len() == before {
        // `{ return (…); })}`: the function's own brace first.
        rest = rest.strip_prefix('}')?.trim_start();
        rest = rest.strip_prefix(')')?;
    }
    if let Some(join) = rest.strip_prefix(".join(") {
        rest = join[join.find(')')? + 1..].trim_start();
    }
    let rest = rest.strip_prefix('}')?;
    Some(text.len() - rest.len())
}
