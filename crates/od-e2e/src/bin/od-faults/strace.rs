//! Runs the suite's own program under strace, which interrupts the n-th call of a kind.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The calls that write, and those that get what is written to.
pub(crate) const CALLS: [&str; 13] = [
    "openat",
    "openat2",
    "write",
    "renameat",
    "renameat2",
    "unlinkat",
    "mkdirat",
    "fsync",
    "fdatasync",
    "ftruncate",
    "flock",
    "open",
    "mkdir",
];

/// One call of one kind.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Point {
    pub(crate) call: &'static str,
    pub(crate) nth: usize,
}

/// The fault that is injected at a point.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fault {
    /// The process is killed on entering the call.
    Kill,
    /// The call fails without being carried out.
    Errno(&'static str),
    /// The process stops on entering the call.
    Stop,
}

/// The end of the driver's process.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Ending {
    /// Whether it said that its operation is done.
    pub(crate) acknowledged: bool,
    /// The error code it printed.
    pub(crate) refused: Option<String>,
    /// Whether it ended by itself.
    pub(crate) exited: bool,
    /// Text on standard error.
    pub(crate) stderr: String,
}

pub(crate) fn available() -> Result<(), String> {
    let output = Command::new("strace").arg("-V").output().map_err(|err| err.to_string())?;
    if output.status.success() { Ok(()) } else { Err("it does not start".to_owned()) }
}

/// Runs an operation undisturbed and counts its calls, from the one that opens the data directory.
pub(crate) fn count(operation: &str, data_dir: &Path) -> BTreeMap<&'static str, usize> {
    let trace = tempfile::NamedTempFile::new().expect("a temporary file");
    let mut command = strace_command();
    command.arg("-o").arg(trace.path()).arg("-e").arg(format!("trace={}", CALLS.join(",")));
    run(command, operation, data_dir);
    let text = std::fs::read_to_string(trace.path()).expect("strace writes its trace");
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        let call = line.split_whitespace().nth(1).and_then(|call| call.split('(').next());
        if let Some(call) = CALLS.iter().find(|known| Some(**known) == call) {
            *counts.entry(*call).or_insert(0) += 1;
        }
    }
    counts
}

/// Returns every point of an operation.
pub(crate) fn points(operation: &str, data_dir: &Path) -> Vec<Point> {
    count(operation, data_dir)
        .into_iter()
        .flat_map(|(call, count)| (1..=count).map(move |nth| Point { call, nth }))
        .collect()
}

/// Runs an operation with a fault at one point.
pub(crate) fn inject(operation: &str, data_dir: &Path, point: Point, fault: Fault) -> Ending {
    run(command(point, fault), operation, data_dir)
}

/// Returns the strace command for a fault at one point.
pub(crate) fn command(point: Point, fault: Fault) -> Command {
    let mut command = strace_command();
    let Point { call, nth } = point;
    let action = match fault {
        Fault::Kill => "signal=KILL".to_owned(),
        Fault::Errno(errno) => format!("error={errno}"),
        Fault::Stop => "signal=STOP".to_owned(),
    };
    command
        .args(["-o", "/dev/null"])
        .arg("-e")
        .arg(format!("trace={call}"))
        .arg("-e")
        .arg(format!("inject={call}:{action}:when={nth}"));
    command
}

/// Runs an operation during which one file cannot be read.
pub(crate) fn without_file(operation: &str, data_dir: &Path, file: &Path) -> Ending {
    let mut command = strace_command();
    command.args(["-o", "/dev/null", "-e", "trace=read", "-e", "inject=read:error=EIO", "-P"]);
    command.arg(file);
    run(command, operation, data_dir)
}

/// Runs an operation on a kernel that does not have a call.
pub(crate) fn without_call(operation: &str, data_dir: &Path, call: &str, errno: &str) -> Ending {
    let mut command = strace_command();
    command.args(["-o", "/dev/null", "-e", &format!("trace={call}")]);
    command.args(["-e", &format!("inject={call}:error={errno}")]);
    run(command, operation, data_dir)
}

fn strace_command() -> Command {
    let mut command = Command::new("strace");
    // Not `--seccomp-bpf`: with it strace injects errors but no signals.
    command.args(["-f", "-qqq"]);
    command
}

/// Runs an operation undisturbed, without strace.
pub(crate) fn plain(operation: &str, data_dir: &Path) -> Ending {
    let program = std::env::current_exe().expect("a program knows its path");
    run(Command::new(program), operation, data_dir)
}

fn run(mut command: Command, operation: &str, data_dir: &Path) -> Ending {
    if command.get_program() == "strace" {
        command.arg(std::env::current_exe().expect("a program knows its path"));
    }
    command.arg("drive").arg(operation).arg(data_dir).stdin(Stdio::null());
    ending(&command.output().expect("the driver starts"))
}

pub(crate) fn ending(output: &Output) -> Ending {
    let stdout = String::from_utf8_lossy(&output.stdout);
    Ending {
        acknowledged: stdout.lines().any(|line| line == "ACK"),
        refused: stdout.lines().find_map(|line| line.strip_prefix("ERR ")).map(str::to_owned),
        exited: output.status.code().is_some_and(|code| code < 100),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
