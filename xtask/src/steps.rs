//! Programs that the commands start: announced, timed, and named when they fail.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The steps that have run so far.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<(&'static str, Duration)>,
}

impl Steps {
    /// Runs a program from the root of the repository.
    pub(crate) fn command(
        &mut self,
        name: &'static str,
        mut command: Command,
    ) -> Result<(), String> {
        let shown = shown(&command);
        self.call(name, || {
            announce(&format!("    {shown}"));
            let status = command
                .current_dir(root())
                .status()
                .map_err(|err| format!("`{shown}` did not start: {err}"))?;
            if status.success() { Ok(()) } else { Err(format!("`{shown}` failed ({status})")) }
        })
    }

    /// Runs a function.
    pub(crate) fn call(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        announce(&format!("==> {name}"));
        let started = Instant::now();
        let outcome = work();
        self.done.push((name, started.elapsed()));
        outcome.map_err(|err| format!("{name}: {err}"))
    }

    /// Prints how long each step took.
    pub(crate) fn report(&self) {
        announce("\nall checks passed");
        for (name, duration) in &self.done {
            announce(&format!("{:>8.1} s  {name}", duration.as_secs_f64()));
        }
    }
}

/// Returns a cargo command of the toolchain that runs this program.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(args);
    command
}

/// Returns the folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Returns whether a program is on the search path.
pub(crate) fn present(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    })
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let mut words = vec![program.to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|arg| arg.to_string_lossy().into_owned()));
    words.join(" ")
}

#[expect(clippy::print_stdout, reason = "a test run tells what it does")]
pub(crate) fn announce(line: &str) {
    use std::io::Write;
    println!("{line}");
    // The child processes write to the same stream.
    let _ = std::io::stdout().flush();
}

/// Returns the root of the repository: the folder above this crate.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_program_fails_the_step_by_name() {
        let refusal = Steps::default().command("planted", Command::new("false")).unwrap_err();
        assert!(refusal.starts_with("planted: `false` failed"), "{refusal}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let refusal =
            Steps::default().command("planted", Command::new("no-such-program")).unwrap_err();
        assert!(refusal.contains("`no-such-program` did not start"), "{refusal}");
        assert!(!present("no-such-program"));
    }
}
