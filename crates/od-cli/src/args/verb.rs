//! The shape of one row of the verb table.

use std::ffi::OsStr;
use std::fmt;

use super::command::Command;
use super::matches::Matches;

/// The kind of value that a flag or an argument takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Value {
    /// The path of a file, or `-` for standard input where the help says so.
    File,
    /// The path of a directory.
    Directory,
    /// Any text.
    Text,
    /// A whole number that fits in a `u64`.
    Number,
    /// A TCP port.
    Port,
    /// One of a closed list of words.
    Choice(&'static [&'static str]),
}

/// One flag of a verb.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// The long name, without its dashes.
    pub long: &'static str,
    /// The one-letter name, if it has one.
    pub short: Option<char>,
    /// The value's name in a usage line, and its kind; `None` for a switch.
    pub value: Option<(&'static str, Value)>,
    /// Whether the verb cannot run without it.
    pub required: bool,
    /// One sentence for help.
    pub help: &'static str,
}

/// The number of positional arguments that a verb takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Arity {
    /// Exactly one.
    One,
    /// Exactly two, of one kind.
    Two,
    /// One, and perhaps another.
    OneOrTwo,
    /// None or one.
    Optional,
    /// Any number.
    Many,
    /// Everything that is left, flags included: a command to start.
    Rest,
}

/// The positional argument of a verb.
#[derive(Clone, Copy, Debug)]
pub struct Positional {
    /// The name in the usage line.
    pub name: &'static str,
    /// The number of them.
    pub arity: Arity,
    /// The kind of each.
    pub value: Value,
    /// One sentence for help.
    pub help: &'static str,
}

/// One verb: everything that the parser, help, completions and docs know about it.
#[derive(Clone, Copy)]
pub struct Verb {
    /// The words on the command line, separated by single spaces.
    pub words: &'static str,
    /// Makes the command of flags and arguments that were checked against this row.
    pub(super) build: fn(Matches) -> Command,
    /// One line for lists.
    pub summary: &'static str,
    /// Further paragraphs for the verb's own help.
    pub detail: &'static str,
    /// The positional argument, if it takes one.
    pub positional: Option<Positional>,
    /// The verb's own flags; the global ones come on top.
    pub flags: &'static [Flag],
    /// Commands to copy.
    pub examples: &'static [&'static str],
}

impl Verb {
    /// Returns the usage line, without the word `usage`.
    #[must_use]
    pub fn usage(&self) -> String {
        let mut line = format!("od {}", self.words);
        for flag in self.flags {
            let text = flag.spelled();
            if flag.required {
                line.push_str(&format!(" {text}"));
            } else {
                line.push_str(&format!(" [{text}]"));
            }
        }
        line.push_str(" [--json]");
        if let Some(positional) = self.positional {
            line.push_str(&match positional.arity {
                Arity::One | Arity::OneOrTwo | Arity::Two => format!(" {}", positional.name),
                Arity::Optional => format!(" [{}]", positional.name),
                Arity::Many => format!(" [{}…]", positional.name),
                Arity::Rest => format!(" -- {}…", positional.name),
            });
        }
        line
    }

    /// Returns whether the verb can be asked to change nothing.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.flags.iter().any(|flag| flag.long == "dry-run")
    }
}

impl fmt::Debug for Verb {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Verb").field(&self.words).finish()
    }
}

impl PartialEq for Verb {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl Eq for Verb {}

impl Value {
    /// Returns whether a word is of the kind.
    pub(super) fn accepts(self, word: &OsStr) -> bool {
        let text = word.to_str();
        match self {
            Self::File | Self::Directory => !word.is_empty(),
            Self::Text => text.is_some_and(|text| !text.is_empty()),
            Self::Number => text.is_some_and(|text| text.parse::<u64>().is_ok()),
            Self::Port => text.is_some_and(|text| text.parse::<u16>().is_ok()),
            Self::Choice(words) => text.is_some_and(|text| words.contains(&text)),
        }
    }

    /// Returns the words to choose from; none where any word may stand.
    #[must_use]
    pub fn choices(self) -> &'static [&'static str] {
        match self {
            Self::Choice(words) => words,
            Self::File | Self::Directory | Self::Text | Self::Number | Self::Port => &[],
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File | Self::Directory => formatter.write_str("a path"),
            Self::Text => formatter.write_str("some text"),
            Self::Number => formatter.write_str("a whole number"),
            Self::Port => formatter.write_str("a port, 0 to 65535"),
            Self::Choice(words) => write!(formatter, "one of {}", words.join(", ")),
        }
    }
}

impl Flag {
    /// Returns the flag as a person types it, with the name of its value.
    #[must_use]
    pub fn spelled(&self) -> String {
        match self.value {
            Some((name, _)) => format!("--{} {name}", self.long),
            None => format!("--{}", self.long),
        }
    }
}
