//! The programs that the suites and benchmarks need from the system, installed where that is allowed.

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
        }
    }

    /// The name of the Debian package.
    fn package(self) -> &'static str {
        match self {
            Self::Ripgrep => "ripgrep",
            Self::Node => "nodejs",
            Self::Git | Self::Strace | Self::Valgrind | Self::Chromium | Self::Sqlite3 => {
                self.program()
            }
        }
    }

    /// The remedy where it is missing.
    fn way_round(self) -> &'static str {
        match self {
            Self::Git | Self::Valgrind | Self::Ripgrep | Self::Sqlite3 | Self::Node => {
                "install it with your package manager"
            }
            Self::Strace => "install it, or pass --without-faults",
            Self::Chromium => "install it, or pass --without-browser",
        }
    }
}

/// Installs what is missing with the system's package manager, or fails naming it.
pub(crate) fn ensure(tools: &[SystemTool]) -> Result<(), String> {
    let missing: Vec<SystemTool> =
        tools.iter().copied().filter(|tool| !present(tool.program())).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if present("apt-get") {
        install(&missing);
    }
    let still: Vec<String> = missing
        .into_iter()
        .filter(|tool| !present(tool.program()))
        .map(|tool| format!("{} is missing: {}", tool.program(), tool.way_round()))
        .collect();
    if still.is_empty() { Ok(()) } else { Err(still.join("; ")) }
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
