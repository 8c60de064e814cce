//! The grammar of `data-od-repeat`: `alias in data.path`.

use std::ops::Range;

use super::path::{Path, is_alias, is_key};

/// A well-formed value of `data-od-repeat`.
#[derive(Debug)]
pub(crate) struct RepeatExpression {
    pub(crate) alias: Box<str>,
    /// The list's path as written.
    pub(crate) list: Box<str>,
    /// The list's path in the source.
    pub(crate) span: Range<usize>,
    pub(crate) path: Path,
}

/// Parses `alias in path`, which begins at `start` of the source; `aliases` are taken.
pub(crate) fn parse(text: &str, start: usize, aliases: &[Box<str>]) -> Option<RepeatExpression> {
    let mut words = text.split_ascii_whitespace();
    let (alias, word, list) = (words.next()?, words.next()?, words.next()?);
    let free = is_alias(alias) && !aliases.iter().any(|taken| **taken == *alias);
    if !free || word != "in" || words.next().is_some() {
        return None;
    }
    let path = Path::parse(list, aliases).ok()?;
    let start = start + text.rfind(list)?;
    let span = start..start + list.len();
    Some(RepeatExpression { alias: alias.into(), list: list.into(), span, path })
}

/// Guesses the repeat that was meant.
pub(crate) fn guess(value: &str, aliases: &[Box<str>]) -> Option<String> {
    let words: Vec<&str> = value
        .split(|mark: char| mark.is_ascii_whitespace() || matches!(mark, '{' | '}' | ','))
        .filter(|word| !word.is_empty())
        .collect();
    // The alias comes first and the list last; a list of an outer row may be nothing but its alias.
    let lists = if words.len() > 1 { &words[1..] } else { &words[..] };
    let is_path = |word: &&&str| Path::parse(word, aliases).is_ok();
    let list = match lists.iter().find(is_path).or_else(|| words.iter().find(is_path)) {
        Some(list) => (*list).to_owned(),
        None => {
            let last =
                words.iter().rev().find(|word| word.split('.').next().is_some_and(is_key))?;
            let path = format!("data.{last}");
            Path::parse(&path, aliases).ok()?;
            path
        }
    };
    let is_free = |word: &str| is_alias(word) && !aliases.iter().any(|taken| **taken == *word);
    let alias = words.first().filter(|word| is_free(word) && **word != list && words.len() > 1);
    let alias =
        alias.copied().or_else(|| ["item", "row", "entry"].into_iter().find(|word| is_free(word)));
    Some(format!("{} in {list}", alias?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeat_is_guessed_from_what_is_there() {
        let check = |value: &str, expected: Option<&str>| {
            assert_eq!(guess(value, &[]).as_deref(), expected, "{value}");
        };
        check("item of data.items", Some("item in data.items"));
        check("data.items", Some("item in data.items"));
        check("row in rows", Some("row in data.rows"));
        check("data in data.rows", Some("item in data.rows"));
        check("{{#each data.rows}}", Some("item in data.rows"));
        check("", None);
        check("1 2 3", None);
    }

    #[test]
    fn an_inner_repeat_may_start_from_the_outer_row_and_not_take_its_name() {
        let aliases = ["g".into()];
        assert!(parse("t in g.tasks", 0, &aliases).is_some());
        assert!(parse("t in g", 0, &aliases).is_some());
        assert!(parse("g in data.tasks", 0, &aliases).is_none());
        assert_eq!(guess("g in g.tasks", &aliases).as_deref(), Some("item in g.tasks"));
    }
}
