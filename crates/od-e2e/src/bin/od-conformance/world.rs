//! The daemon under test: one that is started for a scene, or one that somebody else runs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use od_core::ids::TokenId;
use od_core::token::{Claims, CliClaims, Endpoint, Operation, ToolClaims};
use od_daemon::Announcement;
use od_fs::{FileTokenAuthority, SystemClock, SystemEntropy};
use od_ports::access::token_authority::TokenAuthority as _;
use od_ports::system::Clock as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Outcome;
use crate::case::Bearer;
use crate::http::{self, Answer, Sent};
use crate::provider::Provider;

/// The door that an agent's calls are made through.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Door {
    Http,
    CommandLine,
}

impl Door {
    /// Returns the door's name in scenes.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::CommandLine => "cli",
        }
    }
}

/// A daemon that this program started, with everything that is the person's.
pub(crate) struct Own {
    folders: TempDir,
    program: PathBuf,
    child: Option<Child>,
    pub(crate) provider: Provider,
}

/// A daemon, a project of it, and what the scene has seen so far.
pub(crate) struct World {
    pub(crate) door: Door,
    pub(crate) url: String,
    pub(crate) root: PathBuf,
    /// `None` for a daemon of somebody else.
    pub(crate) own: Option<Own>,
    /// The token of the environment, or of the run that a scene keeps.
    kept_token: Option<String>,
    /// Names and what they stand for.
    pub(crate) kept: BTreeMap<String, String>,
    pub(crate) open_streams: Vec<Sent>,
    pub(crate) held: Vec<Sent>,
    pub(crate) locked: Option<File>,
}

impl World {
    /// Starts a daemon over new folders, with a project.
    pub(crate) fn start(program: &Path, door: Door) -> Outcome<Self> {
        let folders = tempfile::tempdir().map_err(|err| err.to_string())?;
        let root = folders.path().join("root");
        std::fs::create_dir_all(&root).map_err(|err| err.to_string())?;
        let root = root.canonicalize().map_err(|err| err.to_string())?;
        let program = program.to_owned();
        let own = Own { folders, program, child: None, provider: Provider::start()? };
        let mut world = Self::of(door, String::new(), root, Some(own), None);
        world.wake()?;
        let made = crate::cli::command(&world, &["init".to_owned(), "--json".to_owned()])?;
        let answer: Value = serde_json::from_str(&made.out).unwrap_or_default();
        let id = answer["project"]["id"].as_str();
        let id = id.ok_or_else(|| format!("no project: {}{}", made.out, made.err))?;
        world.kept.insert("project".to_owned(), id.to_owned());
        let named = ["run", "--no-skill", "--", "printenv", "OD_DAEMON_ID"].map(str::to_owned);
        let named = crate::cli::command(&world, &named)?;
        world.kept.insert("daemon".to_owned(), named.out.trim().to_owned());
        Ok(world)
    }

    /// Takes the daemon at an address, and the token of a run.
    pub(crate) fn attach(url: &str, token: &str) -> Outcome<Self> {
        let root = std::env::current_dir().map_err(|err| err.to_string())?;
        Ok(Self::of(Door::Http, url.to_owned(), root, None, Some(token.to_owned())))
    }

    fn of(
        door: Door,
        url: String,
        root: PathBuf,
        own: Option<Own>,
        kept_token: Option<String>,
    ) -> Self {
        let (kept, open_streams, held) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { door, url, root, own, kept_token, kept, open_streams, held, locked: None }
    }

    /// Returns what only a daemon of our own has.
    pub(crate) fn own(&self) -> Outcome<&Own> {
        self.own.as_ref().ok_or_else(|| "this takes a daemon of our own".to_owned())
    }

    /// Returns the id of the scene's project.
    pub(crate) fn project(&self) -> Outcome<&str> {
        self.kept.get("project").map(String::as_str).ok_or_else(|| "no project".to_owned())
    }

    pub(crate) fn home(&self) -> Outcome<PathBuf> {
        Ok(self.own()?.folders.path().join("home"))
    }

    pub(crate) fn data(&self) -> Outcome<PathBuf> {
        Ok(self.own()?.folders.path().join("data"))
    }

    /// Returns the folder of everything that is of this daemon alone.
    pub(crate) fn folders(&self) -> Outcome<&Path> {
        Ok(self.own()?.folders.path())
    }

    /// Returns the folder for files of single calls.
    pub(crate) fn scratch(&self) -> Outcome<PathBuf> {
        Ok(self.own()?.folders.path().join("files"))
    }

    /// Returns the program with the environment of a person who has this machine.
    pub(crate) fn program(&self) -> Outcome<Command> {
        let own = self.own()?;
        let mut command = Command::new(&own.program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", own.folders.path())
            .env("OD_CEILING", own.folders.path())
            .env("OD_HOME", self.home()?)
            .env("OD_DATA_DIR", self.data()?)
            .env("OD_GITHUB_BASE_URL", &own.provider.url)
            // No agent of the machine is found, whoever runs this.
            .env("OD_AGENTS_PATH", own.folders.path().join("no-agents"))
            .env("OD_AGENTS_HOME", own.folders.path().join("no-home"))
            .current_dir(&self.root)
            .stdin(Stdio::null());
        // So that the portable twins can be chosen, and coverage be written.
        for name in ["OD_PORTABLE", "LLVM_PROFILE_FILE"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        Ok(command)
    }

    /// Starts the daemon.
    pub(crate) fn wake(&mut self) -> Outcome<()> {
        let log = self.own()?.folders.path().join("daemon.log");
        let log = File::options().append(true).create(true).open(log);
        let mut child = self
            .program()?
            .args(["serve", "--port", "0", "--no-code"])
            .stdout(Stdio::piped())
            .stderr(log.map_err(|err| err.to_string())?)
            .spawn()
            .map_err(|err| format!("the program does not start: {err}"))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.as_mut() {
            BufReader::new(stdout).read_line(&mut line).map_err(|err| err.to_string())?;
        }
        if let Some(own) = self.own.as_mut() {
            own.child = Some(child);
        }
        let url = line.trim().strip_prefix("od serves ");
        url.ok_or_else(|| format!("the daemon said `{line}`"))?.clone_into(&mut self.url);
        Ok(())
    }

    /// Kills the daemon, as no process can prevent.
    pub(crate) fn kill(&mut self) -> Outcome<()> {
        let child = self.own.as_mut().and_then(|own| own.child.take());
        let mut child = child.ok_or("no daemon runs")?;
        child.kill().and_then(|()| child.wait()).map_err(|err| err.to_string())?;
        Ok(())
    }

    /// Signs what the contract says of tokens, with the keys of this person.
    fn sign(&self, claims: &Claims) -> Outcome<String> {
        let keys = FileTokenAuthority::open(&self.home()?, &SystemEntropy::new());
        keys.map_err(|err| err.to_string())?.sign(claims).map_err(|err| err.to_string())
    }

    /// Returns a token of the person at the terminal.
    pub(crate) fn person_token(&self) -> Outcome<String> {
        let found = Announcement::of_living_with_audience(&self.data()?);
        let audience = found.and_then(|(_, audience)| audience).ok_or("no daemon is announced")?;
        let issued_at = SystemClock.now();
        self.sign(&Claims::Cli(CliClaims {
            token_id: "cli-conformance".parse().map_err(|_| "no id")?,
            audience,
            issued_at,
            expires_at: issued_at.plus_ms(60_000),
        }))
    }

    /// Calls as the person.
    pub(crate) fn person(&self, at: (&str, &str), body: Option<&Value>) -> Outcome<Answer> {
        self.send_as_person(at, body)?.answer()
    }

    /// Calls as the person and does not wait.
    pub(crate) fn send_as_person(&self, at: (&str, &str), body: Option<&Value>) -> Outcome<Sent> {
        let headers = BTreeMap::from([(
            "authorization".to_owned(),
            format!("Bearer {}", self.person_token()?),
        )]);
        http::send(&self.url, at, &headers, &body.map(Value::to_string).unwrap_or_default())
    }

    /// Returns the token that a call carries.
    pub(crate) fn bearer(&mut self, which: Bearer) -> Outcome<String> {
        if which == Bearer::Garbage {
            return Ok("odt.v1.e30.AAAA".to_owned());
        }
        if let Some(token) =
            self.kept_token.as_ref().filter(|_| which == Bearer::Kept || self.own.is_none())
        {
            return Ok(token.clone());
        }
        let answer =
            self.person(("POST", "/api/runs"), Some(&json!({ "projectId": self.project()? })))?;
        let started = answer.json();
        let token =
            started["toolToken"].as_str().ok_or_else(|| format!("no run: {}", answer.body))?;
        let id = started["run"]["runId"].as_str().unwrap_or_default();
        match which {
            Bearer::New | Bearer::Garbage => {}
            Bearer::Kept => self.kept_token = Some(token.to_owned()),
            Bearer::Ended => {
                let ended = self.person(("DELETE", &format!("/api/runs/{id}")), None)?;
                if ended.status != 200 {
                    return Err(format!("the run does not end: {}", ended.body));
                }
            }
            Bearer::Expired => {
                return self.changed(id, |claims| claims.expires_at = claims.issued_at);
            }
            Bearer::Long => {
                let lifetime = od_core::limits::TOOL_TOKEN_LIFETIME.allowed;
                return self.changed(id, |claims| {
                    claims.expires_at = claims.issued_at.plus_ms(lifetime + 1);
                });
            }
            Bearer::Early => {
                let ahead = od_core::limits::CLOCK_SKEW.allowed + 60_000;
                return self.changed(id, |claims| {
                    claims.issued_at = claims.issued_at.plus_ms(ahead);
                    claims.expires_at = claims.issued_at.plus_ms(60_000);
                });
            }
            Bearer::Lists => {
                return self
                    .changed(id, |claims| claims.endpoints = vec![Endpoint::LiveArtifactsList]);
            }
            Bearer::Reads => {
                return self
                    .changed(id, |claims| claims.operations = vec![Operation::LiveArtifactsList]);
            }
        }
        Ok(token.to_owned())
    }

    /// Signs the claims of a live run, changed.
    fn changed(&self, run: &str, change: impl FnOnce(&mut ToolClaims)) -> Outcome<String> {
        let issued_at = SystemClock.now();
        let mut claims = ToolClaims {
            token_id: TokenId::generate([7; 16]),
            run_id: run.parse().map_err(|_| format!("`{run}` is no run"))?,
            project_id: self.project()?.parse().map_err(|_| "no project")?,
            endpoints: Endpoint::ALL.to_vec(),
            operations: Operation::ALL.to_vec(),
            issued_at,
            expires_at: issued_at.plus_ms(60_000),
        };
        change(&mut claims);
        self.sign(&Claims::Tool(claims))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // One that was stopped already is no fault.
        let _ = self.kill();
    }
}
