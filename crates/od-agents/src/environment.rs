//! The environment of the person's login shell: a daemon that a service started has a bare one, in which no
//! agent is found.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use od_core::limits::AGENT_SHELL;
use tokio::process::Command;

use crate::catalogue::KnownAgent;

/// The most that a shell may say.
const SAID_MAX: usize = 1 << 20;
const MARK: &[u8] = b"\0od-environment\0";

/// The variables of a person that every agent is handed on, whole names and beginnings.
const INHERITED: [&str; 13] = [
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "TZ",
    "TMPDIR",
    "SSH_AUTH_SOCK",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];
const INHERITED_PREFIXES: [&str; 3] = ["LC_", "XDG_", "NVM_"];
const PROXIES: [&str; 4] = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"];

/// The variables of a person's login shell.
#[derive(Clone, Debug, Default)]
pub struct ShellEnvironment {
    variables: BTreeMap<OsString, OsString>,
}

impl ShellEnvironment {
    /// Asks the login shell; where that says nothing in time, the process's own environment counts.
    pub async fn read() -> Self {
        let shell = std::env::var_os("SHELL").filter(|shell| Path::new(shell).is_absolute());
        let shell = shell.unwrap_or_else(|| "/bin/sh".into());
        // Many people set PATH where only an interactive shell reads it.
        for flags in [&["-l", "-i", "-c"][..], &["-l", "-c"][..]] {
            if let Some(variables) = ask(&shell, flags).await {
                return Self { variables };
            }
        }
        Self { variables: std::env::vars_os().collect() }
    }

    /// Sets what the person's configuration says instead.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: Option<&OsStr>) -> Self {
        if let Some(value) = value {
            self.variables.insert(name.into(), value.to_owned());
        }
        self
    }

    /// Returns where a program is.
    pub(crate) fn find(&self, program: &str) -> Option<PathBuf> {
        let path = self.variables.get(OsStr::new("PATH"))?;
        std::env::split_paths(path)
            // A relative entry would be looked for in whatever directory the daemon has.
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(program))
            .find(|path| {
                path.metadata()
                    .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
            })
    }

    /// Returns what an agent is given: what every program needs, what this one does, and nothing of od's.
    pub(crate) fn of(&self, agent: &KnownAgent) -> Vec<(OsString, OsString)> {
        let wanted = |name: &str| {
            INHERITED.contains(&name)
                || PROXIES.contains(&name.to_ascii_lowercase().as_str())
                || INHERITED_PREFIXES.iter().chain(agent.inherits).any(|p| name.starts_with(p))
        };
        let known = self.variables.iter();
        let mut env: Vec<(OsString, OsString)> = known
            .filter(|(name, _)| name.to_str().is_some_and(wanted))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        env.extend(agent.env.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        env
    }
}

async fn ask(shell: &OsStr, flags: &[&str]) -> Option<BTreeMap<OsString, OsString>> {
    let child = Command::new(shell)
        .args(flags)
        .arg("printf '\\0od-environment\\0'; env -0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .ok()?;
    let said = tokio::time::timeout(AGENT_SHELL.duration(), child.wait_with_output()).await;
    let said = said.ok()?.ok()?.stdout;
    // What its start files print stands before the mark.
    let at = said.windows(MARK.len()).position(|window| window == MARK)?;
    let variables = said.get(at + MARK.len()..)?;
    if variables.len() > SAID_MAX {
        return None;
    }
    let pairs = variables.split(|byte| *byte == 0).filter_map(|pair| {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        let name = OsStr::from_bytes(&pair[..at]).to_owned();
        Some((name, OsString::from_vec(pair[at + 1..].to_vec())))
    });
    let variables: BTreeMap<_, _> = pairs.collect();
    variables.contains_key(OsStr::new("PATH")).then_some(variables)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::AGENTS;

    fn environment(pairs: &[(&str, &str)]) -> ShellEnvironment {
        let variables = pairs.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        ShellEnvironment { variables: variables.collect() }
    }

    #[test]
    fn no_agent_is_handed_anything_of_ods_or_of_another_agent() {
        let everything = environment(&[
            ("OD_HOME", "x"),
            ("OD_TOOL_TOKEN", "x"),
            ("PATH", "/bin"),
            ("ANTHROPIC_API_KEY", "x"),
            ("OPENAI_API_KEY", "x"),
            ("HTTPS_PROXY", "x"),
            ("LD_PRELOAD", "x"),
            ("NODE_OPTIONS", "x"),
        ]);
        for agent in AGENTS {
            let env = everything.of(agent);
            let has = |name: &str| env.iter().any(|(known, _)| known == name);
            assert!(has("PATH") && has("HTTPS_PROXY"), "{}", agent.id);
            for never in ["OD_HOME", "OD_TOOL_TOKEN", "LD_PRELOAD", "NODE_OPTIONS"] {
                assert!(!has(never), "{}: {never}", agent.id);
            }
            assert_eq!(has("ANTHROPIC_API_KEY"), matches!(agent.id, "claude" | "opencode"));
        }
    }

    #[test]
    fn a_program_is_not_looked_for_in_a_relative_folder() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("gemini"), "").unwrap();
        let path = home.path().to_str().unwrap();
        assert_eq!(environment(&[("PATH", path)]).find("gemini"), None, "not to be executed");
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(home.path().join("gemini"), executable).unwrap();
        assert!(environment(&[("PATH", path)]).find("gemini").is_some());
        assert_eq!(environment(&[("PATH", ".:")]).find("Cargo.toml"), None);
    }

    #[tokio::test]
    async fn a_login_shell_says_its_path() {
        let read = ask(OsStr::new("/bin/sh"), &["-c"]).await.unwrap();
        assert!(read.contains_key(OsStr::new("PATH")));
    }
}
