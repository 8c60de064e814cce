//! Values of a verb's flags and arguments, between the parser and the typed command.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use super::tools::Format;

/// The flags and arguments of one verb, checked against its row.
#[derive(Debug, Default)]
pub(super) struct Matches {
    pub(super) flags: Vec<(&'static str, OsString)>,
    pub(super) positionals: Vec<OsString>,
}

impl Matches {
    /// Returns whether a flag was given.
    pub(super) fn has(&self, long: &str) -> bool {
        self.flags.iter().any(|(name, _)| *name == long)
    }

    /// Returns whether nothing is to be changed.
    pub(super) fn dry_run(&self) -> bool {
        self.has("dry-run")
    }

    fn take(&mut self, long: &str) -> Option<OsString> {
        let at = self.flags.iter().position(|(name, _)| *name == long)?;
        Some(self.flags.swap_remove(at).1)
    }

    /// Takes the text of a flag.
    pub(super) fn text(&mut self, long: &str) -> Option<String> {
        self.take(long).map(into_text)
    }

    /// Takes the text of a flag that the row requires.
    pub(super) fn required_text(&mut self, long: &str) -> String {
        self.text(long).unwrap_or_default()
    }

    /// Takes the path of a flag.
    pub(super) fn path(&mut self, long: &str) -> Option<PathBuf> {
        self.take(long).map(PathBuf::from)
    }

    /// Takes the path of a flag that the row requires.
    pub(super) fn required_path(&mut self, long: &str) -> PathBuf {
        self.path(long).unwrap_or_default()
    }

    /// Takes the number of a flag, which was checked to be one.
    pub(super) fn number<T: FromStr>(&mut self, long: &str) -> Option<T> {
        self.text(long).and_then(|text| text.parse().ok())
    }

    /// Takes the form of a tool's answer.
    pub(super) fn format(&mut self) -> Format {
        self.text("format").and_then(|word| Format::from_word(&word)).unwrap_or(Format::Compact)
    }

    /// Takes a word that was checked to be one of the flag's choices.
    pub(super) fn choice<T>(&mut self, long: &str, from_word: fn(&str) -> Option<T>) -> T {
        from_word(&self.required_text(long)).expect("a test checks every choice of every row")
    }

    /// As [`Self::choice`], of the one argument.
    pub(super) fn argument_choice<T>(&mut self, from_word: fn(&str) -> Option<T>) -> T {
        from_word(&self.required_argument()).expect("a test checks every choice of every row")
    }

    /// Takes the one argument as a text.
    pub(super) fn argument(&mut self) -> Option<String> {
        self.positionals.pop().map(into_text)
    }

    /// Takes the one argument, which the row requires, as a text.
    pub(super) fn required_argument(&mut self) -> String {
        self.argument().unwrap_or_default()
    }

    /// Takes the one argument as a directory.
    pub(super) fn directory(&mut self) -> Option<PathBuf> {
        self.positionals.pop().map(PathBuf::from)
    }

    /// Returns the arguments as paths.
    pub(super) fn paths(self) -> Vec<PathBuf> {
        self.positionals.into_iter().map(PathBuf::from).collect()
    }

    /// Returns the arguments as words with single spaces between them.
    pub(super) fn words(self) -> String {
        self.positionals.into_iter().map(into_text).collect::<Vec<_>>().join(" ")
    }
}

fn into_text(word: OsString) -> String {
    word.into_string().unwrap_or_else(|word| word.to_string_lossy().into_owned())
}
