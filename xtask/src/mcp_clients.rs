//! Real MCP clients against the server; the script says what it does and what it skips.

use std::process::Command;

use crate::test::{Steps, cargo};

/// Builds `od` and runs the script.
pub(crate) fn run(update: bool) -> Result<(), String> {
    let mut steps = Steps::default();
    steps.command("od", cargo(&["build", "--workspace", "--all-features", "--bin", "od"]))?;
    let mut script = Command::new("python3");
    script.arg("xtask/mcp-clients/run.py");
    if update {
        script.arg("--update");
    }
    steps.command("MCP clients", script)
}
