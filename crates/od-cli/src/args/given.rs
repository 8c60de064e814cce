//! What was given to a verb, checked against its row.

use std::ffi::OsString;
use std::path::PathBuf;

/// The flags and arguments of one verb, checked against its row and not yet typed.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) flags: Vec<(&'static str, OsString)>,
    pub(super) positionals: Vec<OsString>,
}

impl Given {
    /// Whether a switch was given.
    pub(super) fn has(&self, long: &str) -> bool {
        self.flags.iter().any(|(name, _)| *name == long)
    }

    /// Takes the value of a flag.
    pub(super) fn take(&mut self, long: &str) -> Option<OsString> {
        let at = self.flags.iter().position(|(name, _)| *name == long)?;
        Some(self.flags.swap_remove(at).1)
    }

    /// Takes the text of a flag.
    pub(super) fn text(&mut self, long: &str) -> Option<String> {
        self.take(long).map(|value| value.to_string_lossy().into_owned())
    }

    /// Takes the path of a flag.
    pub(super) fn path(&mut self, long: &str) -> Option<PathBuf> {
        self.take(long).map(PathBuf::from)
    }

    /// Takes the port of a flag; the parser has checked that it is one.
    pub(super) fn port(&mut self, long: &str) -> Option<u16> {
        self.text(long).and_then(|text| text.parse().ok())
    }

    /// Takes the one argument as a text.
    pub(super) fn argument(&mut self) -> Option<String> {
        self.positionals.pop().map(|word| word.to_string_lossy().into_owned())
    }

    /// Takes the one argument as a directory.
    pub(super) fn directory(&mut self) -> Option<PathBuf> {
        self.positionals.pop().map(PathBuf::from)
    }
}
