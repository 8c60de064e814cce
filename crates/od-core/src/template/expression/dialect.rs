//! Other template languages: what was meant, and how this one says it.

use super::condition::{self, ConditionFault};
use super::path::{Path, PathFault, is_key};

/// Describes what is wrong with a condition.
pub(crate) fn explain_condition(fault: &ConditionFault, aliases: &[Box<str>]) -> String {
    match fault {
        ConditionFault::Empty => "there is no condition".to_owned(),
        ConditionFault::Joined => "conditions cannot be joined".to_owned(),
        ConditionFault::Ternary => "there is no ? : in conditions".to_owned(),
        ConditionFault::Arithmetic => "conditions do not compute or call anything".to_owned(),
        ConditionFault::Sign(found, meant) => format!("`{found}` is written `{meant}`"),
        ConditionFault::Subject(PathFault::Root, text) => unknown_root(text, aliases),
        ConditionFault::Subject(PathFault::Grammar, text) => format!("`{text}` is not a path"),
        ConditionFault::NoRow(text) => format!("`{text}` stands outside every data-od-repeat"),
        ConditionFault::Literal(text) => {
            format!("`{text}` is neither a number, a text in quotes, true, false nor null")
        }
        ConditionFault::Order(sign, text) => {
            format!("`{sign}` compares numbers or texts, not {text}")
        }
    }
}

/// Says how to write what the fix leaves out.
pub(crate) fn condition_advice(fault: &ConditionFault) -> Option<&'static str> {
    match fault {
        ConditionFault::Joined => Some(
            "; for `and` put the second condition on an element inside, for `or` use data-od-else-if",
        ),
        ConditionFault::Ternary => Some(", and data-od-else on the element behind it"),
        ConditionFault::Arithmetic => Some("; compute the value in a query or at the source"),
        ConditionFault::Literal(_) => {
            Some("; a path is compared with a literal, two paths in a query")
        }
        ConditionFault::NoRow(_) => Some("put it inside an element with data-od-repeat"),
        ConditionFault::Empty
        | ConditionFault::Sign(..)
        | ConditionFault::Subject(..)
        | ConditionFault::Order(..) => None,
    }
}

/// Guesses the condition that was meant.
pub(crate) fn repair_condition(
    text: &str,
    fault: &ConditionFault,
    aliases: &[Box<str>],
) -> Option<String> {
    let candidate = match fault {
        ConditionFault::Sign(found, meant) => text.replacen(found, meant, 1),
        ConditionFault::Subject(PathFault::Root, subject) => {
            text.replacen(&**subject, &from_data(subject, aliases)?, 1)
        }
        ConditionFault::Literal(literal) if is_key(literal) => {
            let at = text.rfind(&**literal)?;
            format!("{}'{literal}'", &text[..at])
        }
        ConditionFault::Joined => first_part(text).to_owned(),
        ConditionFault::Ternary => text.split('?').next().unwrap_or_default().to_owned(),
        ConditionFault::Empty
        | ConditionFault::Arithmetic
        | ConditionFault::Subject(PathFault::Grammar, _)
        | ConditionFault::Literal(_)
        | ConditionFault::Order(..) => String::new(),
        ConditionFault::NoRow(_) => return None,
    };
    let candidate = candidate.trim_ascii();
    // `not data.ok` is `!data.ok`.
    let negated =
        text.trim_ascii().strip_prefix("not ").map(|rest| format!("!{}", rest.trim_ascii()));
    if let Some(negated) = negated.filter(|it| condition::parse(it, aliases).is_ok()) {
        return Some(negated);
    }
    if condition::parse(candidate, aliases).is_ok() {
        return Some(candidate.to_owned());
    }
    first_path(text, aliases)
}

fn first_part(text: &str) -> &str {
    let ends = ["&&", "||", " and ", " or "];
    let end = ends.iter().filter_map(|end| text.find(end)).min();
    &text[..end.unwrap_or(text.len())]
}

/// Describes a path that begins with neither `data` nor an alias.
pub(crate) fn unknown_root(path: &str, aliases: &[Box<str>]) -> String {
    let root = path.split('.').next().unwrap_or_default();
    match aliases {
        [] => format!("`{root}` is not `data`, and there is no data-od-repeat around it"),
        [alias] => {
            format!("`{root}` is neither `data` nor the alias `{alias}` of the repeat around it")
        }
        [outer @ .., last] => {
            let outer: Vec<String> = outer.iter().map(|alias| format!("`{alias}`")).collect();
            format!(
                "`{root}` is neither `data` nor an alias of the repeats around it: {} and `{last}`",
                outer.join(", ")
            )
        }
    }
}

/// Returns the line of this language for a directive of another, by the text between its marks.
pub(crate) fn directive_line(text: &str) -> Option<String> {
    let bare =
        text.trim_start_matches(['#', '/', '^', '>', '!', '=', '%', '@', '$', '-', '*', ' ']);
    let marked = bare.len() < text.len() && !text.starts_with("!data");
    let word_end = bare.find(|mark: char| !mark.is_ascii_alphanumeric()).unwrap_or(bare.len());
    let (word, rest) = bare.split_at(word_end);
    let path = first_path(rest, &[]).filter(|path| path.starts_with("data."));
    let path = path.as_deref().unwrap_or("data.path");
    if text.starts_with('/') {
        return Some("an element ends with its end tag".to_owned());
    }
    let line = match word {
        "if" | "elsif" | "elseif" | "elif" | "unless" | "with" | "when" | "case" => {
            let not = if word == "unless" { "!" } else { "" };
            format!("write <p data-od-if=\"{not}{path}\">…</p>")
        }
        "each" | "for" | "foreach" | "range" | "loop" | "repeat" => {
            format!("write <li data-od-repeat=\"item in {path}\">{{{{item.name}}}}</li>")
        }
        "else" => "write data-od-else on the element behind the one with data-od-if".to_owned(),
        "end" | "endif" | "endfor" | "endeach" | "next" => {
            "an element ends with its end tag".to_owned()
        }
        "this" | "item" if rest.is_empty() => {
            "name the row: data-od-repeat=\"item in data.items\" and {{item}}".to_owned()
        }
        "index" | "key" if rest.is_empty() => "write {{@index}} or {{@number}}".to_owned(),
        "set" | "let" | "assign" | "var" | "const" if marked => {
            "compute values in a query or at the source".to_owned()
        }
        _ if marked && text.starts_with('^') => {
            format!(
                "write <p data-od-if=\"!{}\">…</p>",
                first_path(bare, &[]).as_deref().unwrap_or("data.path")
            )
        }
        _ if marked && text.starts_with('#') => {
            let list = first_path(bare, &[]);
            format!(
                "write data-od-if or data-od-repeat=\"item in {}\" on the element",
                list.as_deref().unwrap_or("data.items")
            )
        }
        _ if marked && text.starts_with(['=', '%', '-']) && bare.starts_with("data.") => {
            format!("write {{{{{}}}}}", first_path(bare, &[]).as_deref().unwrap_or("data.path"))
        }
        _ if marked => "there are no partials, comments or helpers".to_owned(),
        _ => return None,
    };
    // `loop.total` and `index.name` are paths whose root is not known.
    (marked || !rest.starts_with('.')).then_some(line)
}

/// Returns the attribute of this language for one of another, with the line that uses it.
pub(crate) fn attribute_line(name: &str) -> Option<&'static str> {
    Some(match name {
        "v-if" | "v-show" | "x-if" | "x-show" | "ng-if" | "ng-show" | "data-if" | "th:if"
        | "s-if" | "wx:if" => "write data-od-if=\"data.path\"",
        "v-else-if" | "ng-else-if" | "wx:elif" => "write data-od-else-if=\"data.path\"",
        "v-else" | "wx:else" => "write data-od-else",
        "v-for" | "x-for" | "ng-repeat" | "data-for" | "data-each" | "data-repeat" | "th:each"
        | "wx:for" => "write data-od-repeat=\"item in data.items\"",
        "v-text" | "x-text" | "ng-bind" | "th:text" | "data-bind" => {
            "write {{data.path}} in the element"
        }
        "v-html" | "x-html" | "ng-bind-html" | "dangerouslysetinnerhtml" => {
            "write {{data.path}} in the element: every value is escaped"
        }
        "x-data" | "ng-app" | "ng-controller" | "ng-init" | "v-cloak" | "v-once" | "x-init" => {
            "write nothing: the data is under data"
        }
        _ if name.starts_with("v-bind:")
            || name.starts_with("x-bind:")
            || name.starts_with(':') =>
        {
            "write the attribute with {{data.path}} in its value"
        }
        _ if name.starts_with("v-on:")
            || name.starts_with("x-on:")
            || name.starts_with('@')
            || name.starts_with("ng-click") =>
        {
            "write nothing: pages have no script"
        }
        _ => return None,
    })
}

/// Guesses the binding that an expression meant, and says what it leaves out.
pub(crate) fn repair_expression(
    text: &str,
    aliases: &[Box<str>],
) -> (Option<String>, &'static str) {
    let path = first_path(text, aliases).map(|path| without_method(text, path));
    if let Some((left, right)) = text.split_once("||").or_else(|| text.split_once("??")) {
        let right = right.trim_ascii();
        let or = super::pipe::parse(&format!("or:{right}")).is_ok();
        let left = left.trim_ascii();
        if or && Path::parse(left, aliases).is_ok() {
            return (Some(format!("{left} | or:{right}")), "");
        }
        return (path, "; another value in place of nothing is {{data.path | or:'text'}}");
    }
    if text.contains('?') && text.contains(':') {
        return (
            path,
            "; for either of two, <b data-od-if=\"data.path\">…</b><b data-od-else>…</b>",
        );
    }
    if text.contains("&&") {
        return (path, "; a condition is data-od-if on the element");
    }
    let called = text.split(['(', ' ']).next().and_then(|name| name.rsplit('.').next());
    // `row.count * 10` calls nothing; `upper data.name` and `data.n.toFixed(2)` do.
    let first = text.split(['(', ' ']).next().unwrap_or_default();
    let calls = text.contains('(') || !first.contains('.');
    let line = called.filter(|_| calls).and_then(super::pipe::meant);
    if let (Some(line), Some(path)) = (line, &path)
        && text.contains(['(', ' '])
    {
        return (Some(format!("{path} | {line}")), "");
    }
    if text.contains(['+', '*', '/', '%', '(']) || text.contains(" - ") {
        return (path, "; compute it in a query or at the source");
    }
    (path, "")
}

/// Leaves out the name of a method that is called on a path.
fn without_method(text: &str, path: String) -> String {
    match path.rsplit_once('.') {
        Some((object, _)) if text.contains(&format!("{path}(")) && object != "data" => {
            object.to_owned()
        }
        _ => path,
    }
}

/// Writes text so that it means the same in HTML text and in quoted attributes.
pub(crate) fn encode(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Guesses the path that was meant: `data.rows[0].name` as `data.rows.0.name`, an expression
/// as its first path.
pub(crate) fn first_path(text: &str, aliases: &[Box<str>]) -> Option<String> {
    let dotted = text
        .trim_matches(|mark: char| matches!(mark, '{' | '}' | '&') || mark.is_ascii_whitespace());
    let dotted = dotted.replace("['", ".").replace("[\"", ".").replace("']", "").replace("\"]", "");
    let dotted = dotted.replace("?.", ".").replace('[', ".").replace(']', "");
    let is_part = |mark: char| mark.is_ascii_alphanumeric() || matches!(mark, '.' | '_' | '-');
    let words = || dotted.split(|mark| !is_part(mark)).map(|word| word.trim_matches('.'));
    if let Some(path) = words().find(|word| Path::parse(word, aliases).is_ok()) {
        return Some(path.to_owned());
    }
    words()
        .find(|word| word.split('.').next().is_some_and(is_key))
        .and_then(|word| from_data(word, aliases))
}

/// Puts `data.` before a path, in place of the words that other languages begin with.
pub(crate) fn from_data(path: &str, aliases: &[Box<str>]) -> Option<String> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let path = match first {
        "data" => return None,
        "this" | "self" | "root" | "props" | "state" if !rest.is_empty() => format!("data.{rest}"),
        _ => format!("data.{path}"),
    };
    Path::parse(&path, aliases).is_ok().then_some(path)
}
