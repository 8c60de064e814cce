//! Instruction counts: the same on a busy machine.

use std::path::Path;
use std::process::{Command, Stdio};

/// Counts the instructions between the two marks of one workload of the benchmark program.
pub(crate) fn marked_part(program: &Path, name: &str) -> Result<u64, String> {
    let (_, log) = output(
        Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg("--toggle-collect=*counted*collected*")
            .arg(program)
            .args(["--counted", name]),
    )?;
    read(&log, "Collected : ").ok_or_else(|| format!("valgrind counted nothing for {name}:\n{log}"))
}

/// Counts the instructions of a whole run.
pub(crate) fn whole_run(program: &Path, arguments: &[&str]) -> Result<u64, String> {
    let (_, log) = output(
        Command::new("valgrind")
            .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
            .arg(program)
            .args(arguments),
    )?;
    read(&log, "refs:").ok_or_else(|| format!("valgrind counted nothing:\n{log}"))
}

fn read(log: &str, mark: &str) -> Option<u64> {
    let count = log.lines().find_map(|line| line.split(mark).nth(1))?;
    count.trim().replace(',', "").parse().ok().filter(|count| *count > 0)
}

/// Runs a program and returns what it printed on both streams.
pub(crate) fn output(command: &mut Command) -> Result<(String, String), String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|err| format!("{}: {err}", command.get_program().to_string_lossy()))?;
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok((out, err)) } else { Err(err) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_both_tools() {
        assert_eq!(read("==1== Collected : 1234", "Collected : "), Some(1234));
        assert_eq!(read("==1== I   refs:      1,234,567", "refs:"), Some(1_234_567));
        assert_eq!(read("==1== Collected : 0", "Collected : "), None);
    }
}
