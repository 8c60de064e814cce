//! The programs that the suites need from the system, installed where that is allowed.

use std::process::{Command, Stdio};

use super::step::present;

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
}

impl SystemTool {
    /// The program on the search path, which is also the name of its Debian package.
    fn program(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::Strace => "strace",
            Self::Valgrind => "valgrind",
            Self::Chromium => "chromium",
        }
    }

    /// How to do without it.
    fn way_round(self) -> &'static str {
        match self {
            Self::Git | Self::Valgrind => "install it with your package manager",
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

/// Tries; whether it worked is judged by what is on the search path afterwards.
fn install(tools: &[SystemTool]) {
    let update = vec!["update", "-qq"];
    let mut install = vec!["install", "-y", "-qq", "--no-install-recommends"];
    install.extend(tools.iter().map(|tool| tool.program()));
    for args in [update, install] {
        let _ = Command::new("apt-get")
            .args(args)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
    }
}
