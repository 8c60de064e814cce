//! The agents of this machine: found in the PATH of the person's login shell, and started from there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use od_core::agent::AgentListing;
use od_core::ids::AgentName;
use od_ports::access::credential_vault::Secret;
use od_ports::agents::{AgentCatalog, AgentLauncher, AgentProcess, LaunchError};
use tokio::sync::OnceCell;

use crate::catalogue::{AGENTS, KnownAgent, TOKEN_VARIABLE, TokenPlace, find};
use crate::environment::ShellEnvironment;
use crate::process::{AcpProcess, Start};

/// The largest `package.json` that is looked into.
const PACKAGE_MAX: u64 = 262_144;

/// What the daemon and the person say about agents.
#[derive(Clone, Debug, Default)]
pub struct AgentsConfig {
    /// The program that supervises: `od` itself; this very program if absent.
    pub supervisor: Option<PathBuf>,
    /// The PATH that agents are looked for in, instead of the login shell's.
    pub path: Option<OsString>,
    /// Their HOME, instead of the login shell's.
    pub home: Option<PathBuf>,
}

/// Agents that speak the Agent Client Protocol.
#[derive(Debug)]
pub struct AcpAgents {
    config: AgentsConfig,
    environment: OnceCell<ShellEnvironment>,
}

impl AcpAgents {
    /// Makes the agents of this machine. Nothing is looked for yet.
    #[must_use]
    pub fn new(config: AgentsConfig) -> Self {
        Self { config, environment: OnceCell::new() }
    }

    /// Returns the environment of agents; the login shell is asked once.
    async fn environment(&self) -> &ShellEnvironment {
        let read = || async {
            let AgentsConfig { path, home, .. } = &self.config;
            let read = ShellEnvironment::read().await;
            read.with("PATH", path.as_deref()).with("HOME", home.as_ref().map(|p| p.as_os_str()))
        };
        self.environment.get_or_init(read).await
    }
}

#[async_trait]
impl AgentCatalog for AcpAgents {
    async fn list(&self) -> Vec<AgentListing> {
        let environment = self.environment().await;
        AGENTS.iter().filter_map(|agent| listing(agent, environment)).collect()
    }
}

fn listing(agent: &KnownAgent, environment: &ShellEnvironment) -> Option<AgentListing> {
    let program = environment.find(agent.command[0]);
    Some(AgentListing {
        id: agent.id.parse().ok()?,
        name: agent.name.to_owned(),
        version: program.as_deref().and_then(version_of),
        program: program.map(|path| path.to_string_lossy().into_owned()),
        tested_version: agent.tested.map(str::to_owned),
        install: agent.install.to_owned(),
        login: agent.login.to_owned(),
    })
}

/// Returns the version that a program's package says. No program is started for it.
fn version_of(program: &Path) -> Option<String> {
    let real = program.canonicalize().ok()?;
    real.ancestors().skip(1).take(4).find_map(|folder| {
        let path = folder.join("package.json");
        let is_small = path.metadata().is_ok_and(|found| found.len() <= PACKAGE_MAX);
        let text = is_small.then(|| std::fs::read(&path).ok()).flatten()?;
        let package: serde_json::Value = serde_json::from_slice(&text).ok()?;
        // A folder of sources has one without a version.
        let version = package.get("name").and_then(|_| package.get("version")?.as_str())?;
        (version.len() <= 64).then(|| version.to_owned())
    })
}

#[async_trait]
impl AgentLauncher for AcpAgents {
    async fn launch(
        &self,
        agent: &AgentName,
        directory: &Path,
        token: &Secret,
    ) -> Result<Arc<dyn AgentProcess>, LaunchError> {
        let known = find(agent.as_str());
        let known = known.ok_or_else(|| LaunchError::Unknown { agent: agent.clone() })?;
        let environment = self.environment().await;
        let Some(program) = environment.find(known.command[0]) else {
            let (name, install) = (known.name.to_owned(), known.install.to_owned());
            return Err(LaunchError::NotInstalled { name, install });
        };
        let failed = |error: std::io::Error| LaunchError::Failed {
            name: known.name.to_owned(),
            message: error.to_string(),
        };
        let supervisor = match &self.config.supervisor {
            Some(path) => path.clone(),
            None => std::env::current_exe().map_err(failed)?,
        };
        let mut env = environment.of(known);
        if known.token == TokenPlace::Variable {
            env.push((TOKEN_VARIABLE.into(), token.expose().into()));
        }
        let start = Start { supervisor: &supervisor, program: &program, env, directory };
        Ok(Arc::new(AcpProcess::start(known, start).map_err(failed)?))
    }
}
