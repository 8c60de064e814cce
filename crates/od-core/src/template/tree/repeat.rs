//! `data-od-repeat`: its grammar, and where a repeated element may stand.

use std::ops::Range;

use super::compiler::{Compiler, Phase};
use super::open_elements::OpenRepeat;
use crate::template::issue::{Fix, IssueCode, delete, insert, replace, shorten};
use crate::template::path::{Path, is_alias, is_key};
use crate::template::program::{Op, Place, Repeat};
use crate::template::tokenize::binding::ParsedBinding;
use crate::template::tokenize::scanner::Tag;

/// A well-formed repeat.
#[derive(Debug)]
pub(crate) struct RepeatAttribute {
    alias: Box<str>,
    list: Box<str>,
    span: Range<usize>,
    path: Path,
}

impl<'s> Compiler<'s> {
    /// Reads the tag's repeat; `before` is how things stood before the tag closed or implied anything.
    pub(crate) fn repeat_attribute(
        &mut self,
        tag: &Tag<'s>,
        before: (Phase, usize),
    ) -> Option<RepeatAttribute> {
        let attribute =
            tag.attributes.iter().find(|attribute| attribute.name == "data-od-repeat")?;
        if self.repeat.is_some() {
            let fix = delete(
                attribute.span.clone(),
                "remove the inner repeat; flatten the list in the data",
            );
            let message = "a repeat inside a repeat";
            self.issues.add(
                IssueCode::RepeatNested,
                self.source,
                attribute.span.clone(),
                message,
                fix,
            );
            return None;
        }
        let mut parsed = parse(&self.source[attribute.value.clone()], attribute.value.start);
        if parsed.is_none() {
            let value = &self.source[attribute.value.clone()];
            let fix = match guess_repeat(value) {
                Some(text) => {
                    // What stands inside is read as if the fix were applied.
                    parsed = parse(&text, attribute.value.start);
                    let summary = format!("write data-od-repeat=\"{text}\"");
                    replace(attribute.span.clone(), format!("data-od-repeat=\"{text}\""), summary)
                }
                None => delete(attribute.span.clone(), "remove it"),
            };
            let message = format!("`{}` is not of the form `alias in data.path`", shorten(value));
            self.issues.add(
                IssueCode::RepeatSyntax,
                self.source,
                attribute.span.clone(),
                message,
                fix,
            );
        }
        self.refuse_placement(tag, before);
        parsed
    }

    /// Refuses a repeat whose start tag makes HTML close or open something around it: with no rows
    /// that would not happen.
    fn refuse_placement(&mut self, tag: &Tag<'s>, before: (Phase, usize)) {
        let at = tag.span.start;
        let (phase, depth) = before;
        let (message, fix) = if phase != self.phase {
            let begin = if self.phase == Phase::InHead { "<head>" } else { "<body>" };
            (
                "the body would only begin with the first row",
                insert(at, begin, format!("insert {begin} before it")),
            )
        } else if self.open.len() > depth {
            ("HTML adds elements around it, with the first row only", self.wrap_implied(tag, depth))
        } else if !self.closed_names.is_empty() {
            let closing: String =
                self.closed_names.iter().map(|name| format!("</{name}>")).collect();
            let summary = format!("insert {closing} before it");
            (
                "it ends an element that has no end tag, with the first row only",
                insert(at, closing, summary),
            )
        } else {
            return;
        };
        let draft = self.issues.add(
            IssueCode::RepeatPlacement,
            self.source,
            tag.span.clone(),
            message,
            fix,
        );
        if phase == self.phase && self.open.len() > depth {
            let closing = self
                .open
                .iter()
                .skip(depth)
                .rev()
                .map(|open| format!("</{}>", open.name))
                .collect();
            self.repeat_wrapper = Some((draft, closing));
        }
    }

    fn wrap_implied(&self, tag: &Tag<'s>, depth: usize) -> Fix {
        let opening: String =
            self.open.iter().skip(depth).map(|open| format!("<{}>", open.name)).collect();
        insert(tag.span.start, opening.clone(), format!("wrap it in {opening}"))
    }

    /// Begins the repeat whose element is about to be opened.
    pub(crate) fn begin_repeat(&mut self, tag: &Tag<'s>, repeat: RepeatAttribute) {
        self.refuse_joining(tag.span.start);
        self.emitter.copy_to(tag.span.start);
        let RepeatAttribute { alias, list, span, path } = repeat;
        let found = ParsedBinding { span, text: &list, path };
        let list = self.add_binding_in(found, Place::Repeat, tag.name.as_ref().into());
        let index = self.emitter.program.repeats.len();
        self.emitter.program.repeats.push(Repeat { alias: alias.clone(), list, keys: Vec::new() });
        let op = self.emitter.op(Op::Repeat { repeat: index as u32, end: 0 });
        self.repeat = Some(OpenRepeat { depth: self.open.len(), op, index, alias });
    }
}

/// Parses `alias in data.path`, which begins at `start` of the source.
fn parse(text: &str, start: usize) -> Option<RepeatAttribute> {
    let mut words = text.split_ascii_whitespace();
    let (alias, word, list) = (words.next()?, words.next()?, words.next()?);
    if !is_alias(alias) || word != "in" || words.next().is_some() {
        return None;
    }
    let path = Path::parse(list, None).ok()?;
    let start = start + text.rfind(list)?;
    let span = start..start + list.len();
    Some(RepeatAttribute { alias: alias.into(), list: list.into(), span, path })
}

/// Guesses the repeat that was meant.
fn guess_repeat(value: &str) -> Option<String> {
    let words: Vec<&str> = value
        .split(|mark: char| mark.is_ascii_whitespace() || matches!(mark, '{' | '}' | ','))
        .filter(|word| !word.is_empty())
        .collect();
    let is_path = |word: &&&str| Path::parse(word, None).is_ok();
    let list = match words.iter().find(is_path) {
        Some(list) => (*list).to_owned(),
        None => {
            let last =
                words.iter().rev().find(|word| word.split('.').next().is_some_and(is_key))?;
            let path = format!("data.{last}");
            Path::parse(&path, None).ok()?;
            path
        }
    };
    let alias = words.first().filter(|word| is_alias(word) && **word != list && words.len() > 1);
    Some(format!("{} in {list}", alias.unwrap_or(&"item")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeat_is_guessed_from_what_is_there() {
        let check = |value: &str, expected: Option<&str>| {
            assert_eq!(guess_repeat(value).as_deref(), expected, "{value}");
        };
        check("item of data.items", Some("item in data.items"));
        check("data.items", Some("item in data.items"));
        check("row in rows", Some("row in data.rows"));
        check("data in data.rows", Some("item in data.rows"));
        check("{{#each data.rows}}", Some("item in data.rows"));
        check("", None);
        check("1 2 3", None);
    }
}
