//! The `od` command: arguments in, text and exit code out.
//!
//! Must not know: rules. The verb table in [`args`] is the source of help, completions and docs.

pub mod args;
mod config;
mod dispatch;
/// Help, docs and completions, all from the verb table.
pub mod help {
    mod completions;
    mod document;
    mod man;
    mod markdown;
    mod page;

    pub(crate) use completions::completions;
    pub use man::{ManualPage, manual};
    pub use markdown::markdown;
    pub(crate) use page::{help, version};
}
mod local;
/// Output of the program: text, JSON, exit codes.
pub mod output {
    mod answer;
    mod escape;
    mod exit;
    mod progress;
    mod sink;
    mod text;

    pub use answer::{Answer, CommandError};
    pub use escape::{escape, escape_json};
    pub use exit::Exit;
    pub use progress::with_progress;
    pub use sink::{Sink, ask};
    pub(crate) use text::counted;
    pub use text::{Style, Table, Text};
}
mod settings;
/// Skills, the files that agents read: the built-in one, those on disk, and the check of both.
pub mod skills {
    mod check;
    mod discover;
    mod frontmatter;
    mod yaml;

    #[cfg(test)]
    mod asset_tests;
    #[cfg(test)]
    mod rule_tests;

    #[cfg(test)]
    pub(crate) use asset_tests::check_page;
    pub use check::{Finding, Severity, check};
    pub use discover::{BUILTIN_FILES, BUILTIN_NAME, BuiltinFile, PLACES, SkillFile, discover};
    pub(crate) use discover::{GALLERY, load};
    pub use frontmatter::{Form, Frontmatter, FrontmatterError, Position, read};
}
mod verbs;

pub use dispatch::main;
