//! The `od` program as a person and an agent start it: help, one call, MCP, size.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use od_app::runs::{StartRun, start};
use serde_json::{Value, json};

use super::daemon::child::Child as Daemon;
use super::daemon::http_load::Connection;
use super::store::timed;
use crate::measure;
use crate::row::{Row, Target};
use crate::world::{Outcome, World, scratch, told};

const STARTS: usize = 51;
const CALLS: usize = 301;

/// A daemon with a few artifacts, and a run's token for it.
struct Served {
    daemon: Daemon,
    token: String,
    world: World,
}

/// Measures every row.
pub(crate) fn measure() -> Outcome<Vec<Row>> {
    let world = World::make()?;
    world.fill(0, 10)?;
    let request = StartRun { project: world.project.clone(), agent: None };
    let token = world.run(start(&world.app, &od_app::Caller::Person, request)).map_err(told)?.token;
    let daemon = Daemon::spawn(world.path())?;
    let served = Served { daemon, token, world };
    Ok(vec![help()?, list(&served)?, mcp_start(&served)?, mcp_call(&served)?, size()?])
}

/// The program that was built together with this one.
pub(super) fn program() -> Outcome<PathBuf> {
    let path = std::env::current_exe().map_err(told)?.with_file_name("od");
    if path.is_file() { Ok(path) } else { Err("build od-cli with the same profile".to_owned()) }
}

fn help() -> Outcome<Row> {
    let program = program()?;
    let mut ran = true;
    let pair = measure::in_turns(
        STARTS,
        || ran &= succeeds(Command::new(&program).arg("--help")),
        || {
            let _ = succeeds(&mut Command::new("true"));
        },
    );
    if !ran {
        return Err("od --help failed".to_owned());
    }
    Ok(beside_true("od --help", &pair, 5.0))
}

fn list(served: &Served) -> Outcome<Row> {
    let program = program()?;
    let mut ran = true;
    let pair = measure::in_turns(
        STARTS,
        || {
            let mut command = served.command(&program);
            ran &= succeeds(command.args(["tools", "live-artifacts", "list"]));
        },
        || {
            let _ = succeeds(&mut Command::new("true"));
        },
    );
    if !ran {
        return Err("od tools live-artifacts list failed".to_owned());
    }
    Ok(beside_true("od tools live-artifacts list, with a daemon", &pair, 10.0))
}

fn beside_true(what: &str, pair: &measure::Pair, limit: f64) -> Row {
    let row = timed(what.to_owned(), pair.subject, 1e3, "ms", Target::AtMost(limit));
    Row { against: format!("`true` {:.1?}", pair.peer), ..row }
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

impl Served {
    fn command(&self, program: &PathBuf) -> Command {
        let mut command = Command::new(program);
        command
            .env("OD_DAEMON_URL", format!("http://{}", self.daemon.api))
            .env("OD_DATA_DIR", self.world.path().join("data"))
            .env("OD_TOOL_TOKEN", &self.token)
            .env("OD_HOME", self.world.path().join("home"));
        command
    }
}

/// An MCP server as a client starts it.
struct Mcp {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Mcp {
    fn spawn(served: &Served) -> Outcome<Self> {
        let mut process = served
            .command(&program()?)
            .args(["mcp", "live-artifacts"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(told)?;
        let input = process.stdin.take().ok_or("no input")?;
        let output = BufReader::new(process.stdout.take().ok_or("no output")?);
        Ok(Self { process, input, output })
    }

    fn send(&mut self, message: &Value) -> Outcome<()> {
        writeln!(self.input, "{message}").and_then(|()| self.input.flush()).map_err(told)
    }

    fn ask(&mut self, message: &Value) -> Outcome<Value> {
        self.send(message)?;
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(told)?;
        let answer: Value = serde_json::from_str(&line).map_err(told)?;
        if answer.get("result").is_some() { Ok(answer) } else { Err(line) }
    }

    fn greet(&mut self) -> Outcome<()> {
        self.ask(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" } } }))?;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
    }

    fn end(mut self) {
        drop(self.input);
        let _ = self.process.wait();
    }
}

fn mcp_start(served: &Served) -> Outcome<Row> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let mut outcome = Err("never started".to_owned());
        times.push(measure::once(&mut || {
            outcome = Mcp::spawn(served).and_then(|mut mcp| mcp.greet().map(|()| mcp));
        }));
        outcome?.end();
    }
    let what = "od mcp live-artifacts, from start to the first answer".to_owned();
    Ok(timed(what, measure::median(&mut times), 1e3, "ms", Target::AtMost(30.0)))
}

/// One tool call in turns with the HTTP request that it makes.
fn mcp_call(served: &Served) -> Outcome<Row> {
    let mut mcp = Mcp::spawn(served)?;
    mcp.greet()?;
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "od_live_artifacts_list", "arguments": {} } });
    let request = served.daemon.get("/api/tools/live-artifacts/list", Some(&served.token));
    let mut connection = Connection::open(served.daemon.api).map_err(told)?;
    let (mut called, mut fetched) = (Ok(Value::Null), Ok((0, 0)));
    let pair = measure::in_turns(
        CALLS,
        || called = mcp.ask(&call),
        || fetched = connection.exchange(&request),
    );
    let (called, fetched) = (called?, fetched.map_err(told)?);
    mcp.end();
    if called.pointer("/result/isError") == Some(&json!(true)) || fetched.0 != 200 {
        return Err(format!("a call failed: {called}, {fetched:?}"));
    }
    let added = pair.subject.saturating_sub(pair.peer);
    let row = timed(
        "what an MCP tool call adds to its HTTP request".to_owned(),
        added,
        1e3,
        "ms",
        Target::AtMost(2.0),
    );
    Ok(Row { against: format!("HTTP alone {:.0?}", pair.peer), ..row })
}

/// The size of the program as it is shipped: the same code, without the names for profilers.
fn size() -> Outcome<Row> {
    let place = scratch()?;
    let stripped = place.path().join("od");
    fs::copy(program()?, &stripped).map_err(told)?;
    if !succeeds(Command::new("strip").arg("--strip-all").arg(&stripped)) {
        return Err("strip failed; install binutils".to_owned());
    }
    let bytes = fs::metadata(&stripped).map_err(told)?.len();
    Ok(Row::alone(
        "size of the program".to_owned(),
        format!("{bytes} bytes"),
        (bytes as f64 / 1e6, "MB"),
        Target::AtMost(15.0),
    ))
}
