//! Runs the git program so that a repository cannot make it do anything but read.
//!
//! A repository's own configuration can name programs: file monitors, hooks, pagers, diff drivers,
//! content filters, signature checkers, transports. Known keys are overridden; the ones with a name
//! in the middle (`filter.<name>.clean`) are looked up first, then overridden one by one.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

use super::directory::{self, DirectoryError};

/// Bytes of one command's output that are read.
const OUTPUT_BYTES_MAX: u64 = od_core::limits::GIT_OUTPUT.allowed;
/// Bytes of error output that are read, only to tell one failure from another.
const ERROR_BYTES_MAX: u64 = 4096;

/// Settings that would run a program, ask a question or reach out, and what they are set to.
const NEUTRAL: [(&str, &str); 25] = [
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "true"),
    ("core.askPass", "true"),
    ("core.sshCommand", "false"),
    ("core.gitProxy", "none"),
    ("core.alternateRefsCommand", "true"),
    ("core.attributesFile", "/dev/null"),
    ("core.excludesFile", "/dev/null"),
    ("core.quotePath", "false"),
    ("credential.helper", ""),
    // Without this, a diff rewrites an index that is out of date, whatever is said of locks.
    ("diff.autoRefreshIndex", "false"),
    ("diff.external", ""),
    ("diff.ignoreSubmodules", "all"),
    ("diff.submodule", "short"),
    ("diff.renames", "false"),
    ("status.renames", "false"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
    ("log.showSignature", "false"),
    ("log.mailmap", "false"),
    ("gpg.program", "false"),
    ("protocol.allow", "never"),
];

/// A git call that failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    /// There is no git on this machine.
    #[error("the git program cannot be started")]
    NotInstalled,
    /// The project's root is not the root of a repository of its own.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The configuration cannot be read to the end, so the programs it would run are not known.
    #[error(
        "the repository's configuration names too many settings to switch off what they would run"
    )]
    ConfigTooLong,
    /// It ended with an error.
    #[error("git {command} failed with exit code {code}")]
    Failed {
        /// The subcommand.
        command: &'static str,
        /// As it was; -1 for a signal.
        code: i32,
    },
}

/// Output of one command, cut at the cap.
#[derive(Debug)]
pub(crate) struct Output {
    /// Standard output, with invalid UTF-8 replaced.
    pub(crate) text: String,
    /// There was more.
    pub(crate) is_cut: bool,
}

/// git, in one repository, with its configuration neutralised.
#[derive(Debug)]
pub(crate) struct Repository<'a> {
    root: &'a Path,
    /// The git directory: told to git, so that it looks for none.
    directory: PathBuf,
    /// Names as bytes: the name of a driver need not be text.
    overrides: Vec<(OsString, &'static str)>,
}

impl<'a> Repository<'a> {
    /// Opens the repository whose root is `root` itself.
    pub(crate) async fn open(root: &'a Path) -> Result<Self, ProgramError> {
        let directory = directory::find(root)?;
        let fixed = NEUTRAL.iter().map(|(key, value)| (OsString::from(key), *value));
        let mut repository = Self { root, directory, overrides: fixed.collect() };
        // Listing the configuration runs nothing.
        let list = ["--list", "--name-only", "-z"];
        let (names, is_cut) = repository.bytes("config", &list).await?;
        if is_cut {
            // What stands behind the cut would not be switched off.
            return Err(ProgramError::ConfigTooLong);
        }
        repository.overrides.extend(drivers(&names));
        Ok(repository)
    }

    /// Runs one command and returns what it printed. Dropping the future kills the process.
    pub(crate) async fn run(
        &self,
        command: &'static str,
        args: &[&str],
    ) -> Result<Output, ProgramError> {
        let (bytes, is_cut) = self.bytes(command, args).await?;
        Ok(Output { text: String::from_utf8_lossy(&bytes).into_owned(), is_cut })
    }

    async fn bytes(
        &self,
        command: &'static str,
        args: &[&str],
    ) -> Result<(Vec<u8>, bool), ProgramError> {
        let mut child =
            self.prepare(command, args).spawn().map_err(|_| ProgramError::NotInstalled)?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let ((bytes, is_cut), (complaint, _)) =
            // Both at once: a child that fills the pipe nobody reads would never end.
            tokio::join!(read(out, OUTPUT_BYTES_MAX), read(err, ERROR_BYTES_MAX));
        if is_cut {
            // It may wait for a reader for ever; what it printed so far is enough.
            let _ = child.start_kill();
        }
        let status = child.wait().await.map_err(|_| ProgramError::Failed { command, code: -1 })?;
        if !status.success() && !is_cut {
            let complaint = String::from_utf8_lossy(&complaint);
            return Err(if complaint.contains("dubious ownership") {
                DirectoryError::ForeignOwner.into()
            } else if complaint.contains("not a git repository") {
                DirectoryError::Missing.into()
            } else {
                ProgramError::Failed { command, code: status.code().unwrap_or(-1) }
            });
        }
        Ok((bytes, is_cut))
    }

    fn prepare(&self, command: &'static str, args: &[&str]) -> Command {
        let mut git = Command::new("git");
        // Nothing of the daemon's environment: GIT_* of the shell that started it would name other
        // repositories, programs and configurations.
        git.env_clear()
            .envs(od_platform::search_path().map(|path| ("PATH", path)))
            .env("LC_ALL", "C")
            .env("HOME", "/nonexistent")
            .env("XDG_CONFIG_HOME", "/nonexistent")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_LITERAL_PATHSPECS", "1")
            // No transport at all: unlike the setting, a repository cannot override it.
            .env("GIT_ALLOW_PROTOCOL", "none")
            // The root itself, not a repository further up, and not a work tree elsewhere.
            .env("GIT_CEILING_DIRECTORIES", self.root.parent().unwrap_or(self.root))
            .env("GIT_DIR", &self.directory)
            .env("GIT_WORK_TREE", self.root)
            .env("GIT_CONFIG_COUNT", self.overrides.len().to_string());
        for (index, (key, value)) in self.overrides.iter().enumerate() {
            git.env(format!("GIT_CONFIG_KEY_{index}"), key);
            git.env(format!("GIT_CONFIG_VALUE_{index}"), value);
        }
        git.arg("-C").arg(self.root).args(["--no-optional-locks", "--no-pager", command]);
        git.args(args);
        git.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        git
    }
}

/// Finds the configured drivers that would run a program, and how to switch each off.
fn drivers(names: &[u8]) -> Vec<(OsString, &'static str)> {
    let mut overrides = Vec::new();
    for name in names.split(|byte| *byte == 0) {
        // A subsection may hold dots itself, as `filter.a.b.clean` does: the first and the last dot bound
        // it.
        let dots = || name.iter().enumerate().filter(|(_, byte)| **byte == b'.').map(|(at, _)| at);
        let (Some(first), Some(last)) = (dots().next(), dots().next_back()) else { continue };
        let value = match (&name[..first], &name[last + 1..]) {
            (b"filter", b"clean" | b"smudge" | b"process") => "",
            (b"filter", b"required") => "false",
            (b"diff", b"textconv" | b"command") if first != last => "",
            (b"gpg", b"program" | b"defaultkeycommand") => "false",
            (b"credential", b"helper") => "",
            (b"merge", b"driver") => "false",
            (b"remote", b"vcs" | b"uploadpack" | b"receivepack" | b"proxy") => "false",
            _ => continue,
        };
        overrides.push((OsString::from_vec(name.to_vec()), value));
    }
    overrides
}

async fn read(stream: Option<impl AsyncRead + Unpin>, allowed: u64) -> (Vec<u8>, bool) {
    let Some(stream) = stream else { return (Vec::new(), false) };
    let mut bytes = Vec::new();
    // One byte more than allowed tells "just full" from "cut".
    let _ = stream.take(allowed + 1).read_to_end(&mut bytes).await;
    let is_cut = bytes.len() as u64 > allowed;
    bytes.truncate(usize::try_from(allowed).unwrap_or(usize::MAX));
    (bytes, is_cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_driver_with_a_name_of_its_own_is_switched_off() {
        let names = b"core.bare\0filter.a.b.clean\0filter.x.process\0filter.x.required\0\
                      diff.pdf.textconv\0diff.external\0gpg.ssh.program\0user.name\0\
                      filter.\xff.clean\0";
        assert_eq!(
            drivers(names),
            [
                (&b"filter.a.b.clean"[..], ""),
                (b"filter.x.process", ""),
                (b"filter.x.required", "false"),
                (b"diff.pdf.textconv", ""),
                (b"gpg.ssh.program", "false"),
                (b"filter.\xff.clean", ""),
            ]
            .map(|(key, value)| (OsString::from_vec(key.to_vec()), value))
        );
    }
}
