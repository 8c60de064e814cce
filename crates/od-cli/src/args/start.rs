//! `od serve`, `demo`, `open`, `init`, `run`: what a person starts.

use std::ffi::OsString;
use std::path::PathBuf;

use super::given::Given;

/// `od serve`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Serve {
    /// Port of the API, if it was given.
    pub port: Option<u16>,
    /// Whether to print no one-time code.
    pub no_code: bool,
    /// The file that takes the log, if not stderr.
    pub log: Option<PathBuf>,
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// `od demo`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Demo {
    /// Whether to end after one round.
    pub once: bool,
    /// Where the demo's files live, if it was given.
    pub directory: Option<PathBuf>,
    /// Port of the API, if it was given.
    pub port: Option<u16>,
    /// Whether to leave the browser alone.
    pub no_open: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// `od open`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Open {
    /// Whether to print the address instead.
    pub print: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// `od init`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Init {
    /// The directory, if it was given.
    pub directory: Option<PathBuf>,
    /// The project's name, if it was given.
    pub name: Option<String>,
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// `od run`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Run {
    /// The project, if it was given.
    pub project: Option<String>,
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Whether to change nothing.
    pub dry_run: bool,
}

impl Serve {
    pub(super) fn build(mut given: Given) -> Self {
        Self {
            port: given.port("port"),
            no_code: given.has("no-code"),
            log: given.path("log"),
            dry_run: given.has("dry-run"),
        }
    }
}

impl Demo {
    pub(super) fn build(mut given: Given) -> Self {
        Self {
            once: given.has("once"),
            directory: given.path("dir"),
            port: given.port("port"),
            no_open: given.has("no-open"),
            dry_run: given.has("dry-run"),
        }
    }
}

impl Open {
    pub(super) fn build(given: &Given) -> Self {
        Self { print: given.has("print"), dry_run: given.has("dry-run") }
    }
}

impl Init {
    pub(super) fn build(mut given: Given) -> Self {
        Self {
            directory: given.directory(),
            name: given.text("name"),
            dry_run: given.has("dry-run"),
        }
    }
}

impl Run {
    pub(super) fn build(mut given: Given) -> Self {
        let (project, dry_run) = (given.text("project"), given.has("dry-run"));
        let mut words = given.positionals.into_iter();
        Self {
            project,
            program: words.next().unwrap_or_default(),
            arguments: words.collect(),
            dry_run,
        }
    }
}
