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
