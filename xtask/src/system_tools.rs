//! The programs that the suites and benchmarks need from the system, installed where that is allowed.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::steps::present;

/// A program that a suite starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemTool {
    /// Runs the git connector's tests and the demo.
    Git,
    /// Injects faults and watches system calls.
    Strace,
    /// Counts the instructions that hostile templates cost.
    Valgrind,
    /// Shows the console and the previews.
    Chromium,
    /// Searches beside our search.
    Ripgrep,
    /// Answers queries beside our engine.
    Sqlite3,
    /// Runs the console's unit tests and checks its types.
    Node,
    /// Makes XFS images for the fault suite.
    Xfsprogs,
    /// Makes btrfs images for the fault suite.
    BtrfsProgs,
    /// Is the database of the connector's tests.
    Postgres,
    /// Reads the Debian package.
    Lintian,
}

impl SystemTool {
    /// The program on the search path.
    fn program(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::Strace => "strace",
            Self::Valgrind => "valgrind",
            Self::Chromium => "chromium",
            Self::Ripgrep => "rg",
            Self::Sqlite3 => "sqlite3",
            Self::Node => "node",
            Self::Xfsprogs => "mkfs.xfs",
            Self::BtrfsProgs => "mkfs.btrfs",
            Self::Postgres => "initdb",
            Self::Lintian => "lintian",
        }
    }

    /// The name of the Debian package.
    fn package(self) -> &'static str {
        match self {
            Self::Ripgrep => "ripgrep",
            Self::Node => "nodejs",
            Self::Xfsprogs => "xfsprogs",
            Self::BtrfsProgs => "btrfs-progs",
            Self::Postgres => "postgresql",
            Self::Git
            | Self::Strace
            | Self::Valgrind
            | Self::Chromium
            | Self::Sqlite3
            | Self::Lintian => self.program(),
        }
    }

    /// The remedy where it is missing.
    fn way_round(self) -> &'static str {
        match self {
            Self::Git
            | Self::Valgrind
            | Self::Ripgrep
            | Self::Sqlite3
            | Self::Node
            | Self::Lintian => "install it with your package manager",
            Self::Strace => "install it, or pass --without-faults",
            Self::Xfsprogs | Self::BtrfsProgs => "install it, or do without its file system",
            Self::Chromium => "install it, or pass --without-browser",
            Self::Postgres => "install PostgreSQL's server, or pass --without-postgres",
        }
    }

    fn is_present(self) -> bool {
        present(self.program()) || (self == Self::Postgres && debian_has_postgres())
    }
}

/// Debian keeps a server's programs by version, outside the search path.
fn debian_has_postgres() -> bool {
    let versions = Path::new("/usr/lib/postgresql").read_dir().into_iter().flatten().flatten();
    versions.map(|entry| entry.path()).any(|version| version.join("bin/initdb").is_file())
}

/// Installs what is missing with the system's package manager, or fails naming it.
pub(crate) fn ensure(tools: &[SystemTool]) -> Result<(), String> {
    let missing: Vec<SystemTool> =
        tools.iter().copied().filter(|tool| !tool.is_present()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if present("apt-get") {
        install(&missing);
    }
    let still: Vec<String> = missing
        .into_iter()
        .filter(|tool| !tool.is_present())
        .map(|tool| format!("{} is missing: {}", tool.program(), tool.way_round()))
        .collect();
    if still.is_empty() { Ok(()) } else { Err(still.join("; ")) }
}

/// Installs what is missing where that is allowed, and goes on without it where it is not.
pub(crate) fn offer(tools: &[SystemTool]) {
    let missing: Vec<SystemTool> =
        tools.iter().copied().filter(|tool| !tool.is_present()).collect();
    if !missing.is_empty() && present("apt-get") {
        install(&missing);
    }
}

/// Installs with apt-get; the caller looks at the search path to see whether that worked.
fn install(tools: &[SystemTool]) {
    let update = vec!["update", "-qq"];
    let mut install = vec!["install", "-y", "-qq", "--no-install-recommends"];
    install.extend(tools.iter().map(|tool| tool.package()));
    for args in [update, install] {
        let _ = Command::new("apt-get")
            .args(args)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
    }
}
