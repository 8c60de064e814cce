//! Expressions of other languages, as a path and what is done to it.

/// An expression as far as it can be read.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Expression {
    /// The steps of its first path: `a.b[0]` is `a`, `b`, `0`. `this` is no step.
    pub(super) steps: Vec<String>,
    /// Whether it begins at the row: `this`, `.`, `@item`.
    pub(super) of_row: bool,
    /// Whether it begins at all of the data: `@root`, `$root`, `props`.
    pub(super) of_root: bool,
    /// Whether something is done to the value that no template of ours does.
    pub(super) rest: Operation,
}

/// The part of an expression that does not name a value.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) enum Operation {
    #[default]
    Nothing,
    /// A filter or a call that only changes the look.
    Format(String),
    /// `a || 'text'`.
    Or(String),
    /// `a ? 'x' : 'y'`.
    Choice(String, String),
    /// `a == 'x'` or `a === 1`, or their opposite.
    Equals(String, bool),
    /// `!a`.
    Not,
    /// Anything else that computes.
    Computes(String),
}

const ROWS: &[&str] = &["this", "self", "it", "$item", "@item", "$it", "current", "element"];
const ROOTS: &[&str] = &[
    "@root", "$root", "root", "props", "state", "ctx", "context", "vm", "$data", "model", "window",
    "Model", "ViewBag",
];

/// Reads an expression.
pub(super) fn read(text: &str) -> Expression {
    let text = text.trim().trim_matches(|c| matches!(c, '{' | '}' | '&' | '~')).trim();
    let text = text.strip_prefix('=').unwrap_or(text).trim();
    // Thymeleaf writes `${row.name}`, PHP `$row->name`.
    let text = text.strip_prefix("${").map_or(text, |inner| inner.trim_end_matches('}'));
    let arrows = text.replace("->", ".");
    let text = arrows.as_str();
    let (text, mut rest) = split_rest(text);
    let text = text.trim().trim_start_matches('(').trim_end_matches(')').trim();
    // `{{formatDate data.day}}`: a helper before its argument.
    let mut words = text.split_whitespace();
    let (first, second) = (words.next().unwrap_or_default(), words.next());
    let path = match second {
        Some(second) if is_path(first) && is_path(second) => {
            if rest == Operation::Nothing {
                rest = match first {
                    "not" => Operation::Not,
                    "eq" => Operation::Equals(unquote(words.next().unwrap_or_default()), true),
                    "ne" => Operation::Equals(unquote(words.next().unwrap_or_default()), false),
                    _ => Operation::Format(first.to_owned()),
                };
            }
            second
        }
        Some(_) if rest == Operation::Nothing && !first.contains('(') => {
            rest = Operation::Computes(text.to_owned());
            first
        }
        _ => first,
    };
    let path = match path.find('(') {
        // `fmt(data.x)` names its argument, `data.x.toFixed(2)` what it is called on.
        Some(open) if is_path(path[..open].trim()) && !path[..open].contains('.') => {
            if rest == Operation::Nothing {
                rest = Operation::Format(path[..open].to_owned());
            }
            path[open + 1..].split([',', ')']).next().unwrap_or_default()
        }
        Some(open) => {
            let called = path[..open].rsplit_once('.').map_or(&path[..open], |(on, _)| on);
            if rest == Operation::Nothing {
                rest = Operation::Format(path[called.len()..open].trim_matches('.').to_owned());
            }
            called
        }
        None => path,
    };
    steps_of(path, rest)
}

fn steps_of(path: &str, rest: Operation) -> Expression {
    let dotted = path.replace("?.", ".").replace("['", ".").replace("[\"", ".");
    let dotted = dotted.replace("']", "").replace("\"]", "").replace('[', ".").replace(']', "");
    let dotted = dotted.replace("../", "").replace("this/", "this.");
    let of_dot = dotted == "." || (dotted.starts_with('.') && dotted.len() > 1);
    let mut steps: Vec<String> = dotted
        .split('.')
        .map(|step| step.trim_matches(|c: char| c.is_whitespace() || c == '*'))
        .filter(|step| !step.is_empty())
        .map(str::to_owned)
        .collect();
    let first = steps.first().map(String::as_str).unwrap_or_default();
    let (of_row, of_root) = (of_dot || ROWS.contains(&first), ROOTS.contains(&first));
    if (of_row && !of_dot) || of_root {
        steps.remove(0);
    }
    for step in &mut steps {
        *step = step.trim_start_matches(['$', '@']).to_owned();
    }
    Expression { steps, of_row, of_root, rest }
}

fn split_rest(text: &str) -> (&str, Operation) {
    if let Some(path) = text.strip_prefix('!').filter(|path| !path.starts_with('=')) {
        return (path, Operation::Not);
    }
    if let Some((path, choice)) = text.split_once(" ? ").or_else(|| text.split_once('?'))
        && !choice.starts_with(['.', '?'])
        && let Some((yes, no)) = choice.split_once(':')
    {
        return (path, Operation::Choice(unquote(yes), unquote(no)));
    }
    for sign in ["||", "??"] {
        if let Some((path, or)) = text.split_once(sign) {
            return (path, Operation::Or(unquote(or)));
        }
    }
    for (sign, is_equal) in [("===", true), ("!==", false), ("==", true), ("!=", false)] {
        if let Some((path, literal)) = text.split_once(sign) {
            return (path, Operation::Equals(unquote(literal), is_equal));
        }
    }
    if let Some((path, format)) = text.split_once('|') {
        return (path, Operation::Format(format.trim().to_owned()));
    }
    let computes = |at: usize| {
        let sign = &text[at..=at];
        sign != "-" || text[..at].ends_with(' ')
    };
    let sign = text.char_indices().find(|(at, mark)| {
        matches!(mark, '+' | '*' | '%' | '<' | '>' | '-')
            && !text[..*at].contains('(')
            && computes(*at)
            || (*mark == '/' && !text.starts_with("../") && !text.starts_with("this/"))
    });
    match sign {
        Some((at, _)) => (&text[..at], Operation::Computes(text.to_owned())),
        None => (text, Operation::Nothing),
    }
}

fn unquote(text: &str) -> String {
    text.trim().trim_matches(|c| matches!(c, '\'' | '"' | '`' | ')')).to_owned()
}

fn is_path(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$' | '@' | '.'))
        && text.chars().all(|c| {
            c.is_alphanumeric()
                || matches!(c, '_' | '-' | '$' | '.' | '@' | '[' | ']' | '\'' | '"' | '?' | '/')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, path: &str, rest: &Operation) {
        let read = read(text);
        let root = if read.of_row {
            "row:"
        } else if read.of_root {
            "root:"
        } else {
            ""
        };
        assert_eq!(
            (format!("{root}{}", read.steps.join(".")), &read.rest),
            (path.to_owned(), rest),
            "{text}"
        );
    }

    #[test]
    fn paths_are_read_in_every_spelling() {
        check("data.rows[0].name", "data.rows.0.name", &Operation::Nothing);
        check("data['a'][\"b\"]", "data.a.b", &Operation::Nothing);
        check("row?.name", "row.name", &Operation::Nothing);
        check("this.name", "row:name", &Operation::Nothing);
        check(".", "row:", &Operation::Nothing);
        check(".name", "row:name", &Operation::Nothing);
        check("@root.total", "root:total", &Operation::Nothing);
        check("../title", "title", &Operation::Nothing);
        check("$item.x", "row:x", &Operation::Nothing);
        check("data.x | upper", "data.x", &Operation::Format("upper".into()));
        check("formatDate data.day 'YYYY'", "data.day", &Operation::Format("formatDate".into()));
        check("fmt(data.n, 2)", "data.n", &Operation::Format("fmt".into()));
        check("data.n.toFixed(2)", "data.n", &Operation::Format("toFixed".into()));
        check("data.a ? 'x' : 'y'", "data.a", &Operation::Choice("x".into(), "y".into()));
        check("data.a || 'none'", "data.a", &Operation::Or("none".into()));
        check("data.n * 100", "data.n", &Operation::Computes("data.n * 100".into()));
        check("!data.ok", "data.ok", &Operation::Not);
        check("row.s === 'ok'", "row.s", &Operation::Equals("ok".into(), true));
        check("eq row.s 'ok'", "row.s", &Operation::Equals("ok".into(), true));
    }
}
