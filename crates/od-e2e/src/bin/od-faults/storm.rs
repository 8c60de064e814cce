//! Kill and load: eight clients change artifacts of a real daemon process that is killed again and
//! again, and after each start everything acknowledged has to be there.
//!
//! Each client has artifacts of its own, so what it was told is an exact model of what must be seen:
//! the state of the last acknowledgement, or, for the one call that was under way, that or the next.

mod client;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use od_client::{Bearer, CallError, Client};
use od_core::ids::{ArtifactId, Timestamp, TokenId};
use od_core::limits::CLI_TOKEN_LIFETIME;
use od_core::token::{Claims, CliClaims};
use od_daemon::{Announcement, LogSink, Port, ServeConfig};
use od_fs::{DataDir, FileProjectRegistry, FileTokenAuthority, Lane, SystemClock, SystemEntropy};
use od_ports::access::token_authority::TokenAuthority as _;
use od_ports::project_registry::{Project, ProjectRegistry as _};
use od_ports::{Clock as _, Entropy as _};
use od_wire::route::{Operation, QueryName};
use serde_json::{Value, json};

use self::client::{Model, Seen, load, matches, next};
use crate::disk::{Disk, FileSystem};
use crate::kill;
use crate::world;

const CLIENTS: usize = 8;

/// Runs a daemon until it is killed, and says where it listens.
pub(crate) fn serve(root: &Path) -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let mut config = ServeConfig::new(root.join("home"), root.join("data"));
        config.port = Port::Any;
        config.access_log = LogSink::Off;
        match od_daemon::serve(config).await {
            Ok(daemon) => {
                println!("{}", daemon.url());
                std::future::pending::<()>().await;
                ExitCode::SUCCESS
            }
            Err(err) => {
                eprintln!("the daemon does not start: {err}");
                ExitCode::FAILURE
            }
        }
    })
}

/// Kills a daemon under load so many times, on one file system.
pub(crate) fn run(kind: FileSystem, kills: usize) -> ExitCode {
    let disk = match Disk::make(kind) {
        Ok(disk) => disk,
        Err(reason) => {
            println!("storm on {}: skipped, it cannot be mounted here: {reason}", kind.name());
            return ExitCode::SUCCESS;
        }
    };
    let seed = kill::seed();
    println!("storm on {}: {kills} kills, seed {seed}", kind.name());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut storm = Storm::new(disk.root.join("storm"), seed);
    let outcome = runtime.block_on(async {
        for _ in 0..kills {
            storm.once().await?;
        }
        storm.finish().await
    });
    if let Err(what) = outcome {
        storm.violations.push(what);
    }
    for violation in storm.violations.iter().take(20) {
        eprintln!("WRONG {violation}");
    }
    println!(
        "storm on {}: {} kills, {} acknowledged changes of {} artifacts, {} under way at a kill: {}",
        kind.name(),
        storm.kills,
        storm.acknowledged.load(Ordering::Relaxed),
        storm.models.iter().map(|model| model.artifacts.len()).sum::<usize>(),
        storm.under_way,
        if storm.violations.is_empty() {
            "0 lost, 0 mixed, 0 stuck".to_owned()
        } else {
            format!("{} violations", storm.violations.len())
        },
    );
    if storm.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Storm {
    root: PathBuf,
    random: u64,
    models: Vec<Model>,
    kills: usize,
    acknowledged: Arc<AtomicUsize>,
    under_way: usize,
    violations: Vec<String>,
}

impl Storm {
    fn new(root: PathBuf, seed: u64) -> Self {
        let project_root = root.join("project");
        std::fs::create_dir_all(&project_root).expect("a directory");
        let data_dir = DataDir::open(&root.join("data")).expect("a data directory");
        let registry = FileProjectRegistry::new(data_dir).on(Lane::Inline);
        let created_at = Timestamp::from_unix_ms(1_777_000_000_000);
        let (id, name) = (world::project(), "Storm".to_owned());
        let project =
            Project { id, name, root: Some(project_root), created_at, allow_schedules: false };
        world::wait(registry.create(project)).expect("a project");
        Self {
            root,
            random: seed | 1,
            models: (0..CLIENTS).map(|client| Model::new(client, seed)).collect(),
            kills: 0,
            acknowledged: Arc::default(),
            under_way: 0,
            violations: Vec::new(),
        }
    }

    /// Starts a daemon, compares, loads it, and kills it at a random instant.
    async fn once(&mut self) -> Result<(), String> {
        let mut daemon = Daemon::start(&self.root)?;
        self.compare(&daemon).await?;
        let stop = Arc::new(AtomicBool::new(false));
        let mut clients = Vec::new();
        for model in std::mem::take(&mut self.models) {
            let (client, root) = (daemon.client()?, self.root.clone());
            let (stop, acknowledged) = (Arc::clone(&stop), Arc::clone(&self.acknowledged));
            clients.push(tokio::spawn(load(model, client, root, stop, acknowledged)));
        }
        let instant = Duration::from_micros(next(&mut self.random, 400_000) as u64 + 1_000);
        tokio::time::sleep(instant).await;
        daemon.kill();
        stop.store(true, Ordering::Relaxed);
        self.kills += 1;
        for client in clients {
            let (model, refused) = client.await.map_err(|err| err.to_string())?;
            self.under_way += model.artifacts.iter().filter(|known| known.next.is_some()).count();
            self.models.push(model);
            self.violations.extend(refused);
        }
        Ok(())
    }

    /// Checks everything once more, brings back what is in the trash, and writes every artifact.
    async fn finish(&mut self) -> Result<(), String> {
        let daemon = Daemon::start(&self.root)?;
        self.compare(&daemon).await?;
        let client = daemon.client()?;
        for known in self.models.iter().flat_map(|model| &model.artifacts) {
            let (Some(id), Some(state)) = (&known.id, &known.state) else { continue };
            let stuck = |what: &str, err: CallError| format!("{id} is stuck: {what}: {err}");
            if state.trashed {
                let restored = client.restore(id, Some(&world::project())).await;
                restored.map_err(|err| stuck("restore", err))?;
                let back = Seen { trashed: false, ..state.clone() };
                let page = page(&client, id).await?;
                if !matches(&page, &back) {
                    self.violations.push(format!("LOST in the trash: {id}: {back:?}, {page}"));
                }
            }
            let body = json!({ "input": { "title": "last" } });
            let call = client.call(Operation::UpdateArtifact).parameter(id);
            let updated = call.json(&body).map_err(|err| stuck("update", err))?.send_value().await;
            updated.map_err(|err| stuck("update", err))?;
        }
        Ok(())
    }

    /// Compares what a daemon that has just started shows with what was acknowledged.
    async fn compare(&mut self, daemon: &Daemon) -> Result<(), String> {
        let client = daemon.client()?;
        let list =
            client.call(Operation::ListArtifacts).query(QueryName::ProjectId, world::project());
        let list = list.send_value().await.map_err(|err| format!("no list: {err}"))?;
        let mut lines: BTreeMap<String, Value> = BTreeMap::new();
        for line in list["artifacts"].as_array().into_iter().flatten() {
            lines.insert(line["id"].as_str().unwrap_or_default().to_owned(), line.clone());
        }
        for model in &mut self.models {
            let mut kept = Vec::new();
            for mut known in std::mem::take(&mut model.artifacts) {
                if known.id.is_none() {
                    let prefix = format!("la-{}-", known.slug);
                    let found = lines.keys().find(|id| id.starts_with(&prefix));
                    known.id = found.and_then(|id| id.parse().ok());
                }
                let Some(id) = known.id.clone() else { continue };
                let allowed: Vec<Seen> = known.state.iter().chain(&known.next).cloned().collect();
                let seen = look(&client, &id, lines.get(id.as_str()), &allowed).await?;
                match seen {
                    Ok(state) => {
                        known.state = Some(state);
                        known.next = None;
                        kept.push(known);
                    }
                    Err(violation) => self.violations.push(violation),
                }
            }
            model.artifacts = kept;
        }
        Ok(())
    }
}

/// Returns which of the allowed states an artifact is in, or how it is in none of them.
async fn look(
    client: &Client,
    id: &ArtifactId,
    line: Option<&Value>,
    allowed: &[Seen],
) -> Result<Result<Seen, String>, String> {
    let Some(line) = line else {
        let trashed = allowed.iter().find(|state| state.trashed).cloned();
        return Ok(trashed.ok_or_else(|| format!("LOST {id}: it is gone, not {allowed:?}")));
    };
    if line["health"]["state"] != "healthy" {
        return Ok(Err(format!("STUCK {id}: {}", line["health"])));
    }
    let page = page(client, id).await?;
    let title = line["title"].as_str().unwrap_or_default();
    let found = allowed.iter().find(|state| {
        !state.trashed && matches(&page, state) && title.ends_with(&format!(" {}", state.authored))
    });
    let edited = !line["edited"].is_null();
    Ok(match found {
        Some(state) if !edited => Ok(state.clone()),
        Some(_) => Err(format!("MIXED {id}: taken for an edit")),
        None => Err(format!("LOST or MIXED {id}: `{title}`, {page}, not {allowed:?}")),
    })
}

async fn page(client: &Client, id: &ArtifactId) -> Result<String, String> {
    let call = client.call(Operation::PreviewArtifact).parameter(id);
    let answer = call.send_raw().await.map_err(|err| format!("no page of {id}: {err}"))?;
    Ok(String::from_utf8_lossy(&answer.body).into_owned())
}

/// A daemon in a process of its own.
struct Daemon {
    child: Child,
    root: PathBuf,
    url: String,
}

impl Daemon {
    fn start(root: &Path) -> Result<Self, String> {
        let mut child = Command::new(std::env::current_exe().expect("a program knows its path"))
            .arg("serve")
            .arg(root)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|err| err.to_string())?;
        let mut url = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut url).map_err(|err| err.to_string())?;
        let url = url.trim().to_owned();
        if url.is_empty() {
            let _ = child.kill();
            let _ = child.wait();
            return Err("STUCK: the daemon does not start".to_owned());
        }
        Ok(Self { child, root: root.to_path_buf(), url })
    }

    /// Returns a client with the person's tokens for this very start.
    fn client(&self) -> Result<Client, String> {
        let entropy = SystemEntropy::new();
        let authority = FileTokenAuthority::open(&self.root.join("home"), &entropy)
            .map_err(|err| err.to_string())?;
        let data_dir = self.root.join("data");
        let audience = Announcement::of_living_with_audience(&data_dir)
            .and_then(|(_, audience)| audience)
            .ok_or("the daemon is not announced")?;
        let sign = move || {
            let mut bytes = [0; 16];
            entropy.fill(&mut bytes).expect("random bytes");
            let issued_at = SystemClock.now();
            let lifetime = i64::try_from(CLI_TOKEN_LIFETIME.allowed).unwrap_or(i64::MAX);
            let claims = Claims::Cli(CliClaims {
                token_id: TokenId::generate(bytes),
                audience: audience.clone(),
                issued_at,
                expires_at: Timestamp::from_unix_ms(issued_at.unix_ms().saturating_add(lifetime)),
            });
            Ok(authority.sign(&claims).expect("a token can be signed"))
        };
        Client::new(&self.url, Bearer::Fresh(Arc::new(sign))).map_err(|err| err.to_string())
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
    }
}
