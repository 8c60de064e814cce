//! What od adds between a person and an agent: to the first word, and while much is said.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use od_agents::AgentsConfig;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use super::daemon::child::Child;
use super::daemon::http_load::Connection;
use super::daemon::person_token;
use super::store::timed;
use crate::measure;
use crate::row::{Row, Target};
use crate::world::{Outcome, World, sized, told};

/// The program that od takes this one for.
pub(crate) const AGENT: &str = "gemini";
/// Longer than changes are held back for a bundle: a person is slower.
const PAUSE: Duration = Duration::from_millis(120);
const STREAMED: Duration = Duration::from_secs(10);
const EVENTS_PER_SECOND: u64 = 100;

/// Measures every row with an agent that answers at once.
pub(crate) fn measure() -> Outcome<Vec<Row>> {
    let world = World::make()?;
    let bin = world.path().join("bin");
    std::fs::create_dir_all(&bin).map_err(told)?;
    let exe = std::env::current_exe().map_err(told)?;
    std::os::unix::fs::symlink(exe, bin.join(AGENT)).map_err(told)?;
    let child = Child::spawn(world.path())?;
    let chat = Chat { child: &child, world: &world };
    // The first one asks the login shell for its environment, once in the life of a daemon.
    let session = chat.open(None)?;
    chat.until_idle(&session)?;
    let rows = vec![chat.next_message(&session)?, chat.load(&session)?];
    chat.end(&session)?;
    Ok([vec![chat.first_message(&bin)?], rows].concat())
}

struct Chat<'w> {
    child: &'w Child,
    world: &'w World,
}

impl Chat<'_> {
    fn ask(&self, method: &str, target: &str, body: &Value) -> Outcome<Value> {
        let (bearer, body) = (person_token(self.world)?, body.to_string());
        let request = format!(
            "{method} {target} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {bearer}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.child.api,
            body.len()
        );
        let mut connection = Connection::open(self.child.api).map_err(told)?;
        let (status, body) = connection.fetch(request.as_bytes()).map_err(told)?;
        let answer = serde_json::from_slice(&body).unwrap_or_default();
        if status == 200 { Ok(answer) } else { Err(format!("{method} {target}: {answer}")) }
    }

    /// Opens a session; returns its id.
    fn open(&self, prompt: Option<&str>) -> Outcome<String> {
        let mut body = json!({ "projectId": self.world.project, "agent": AGENT });
        if let Some(prompt) = prompt {
            body["prompt"] = prompt.into();
        }
        let opened = self.ask("POST", "/api/agent-sessions", &body)?;
        let id = opened.pointer("/session/id").and_then(Value::as_str);
        id.map(str::to_owned).ok_or_else(|| "no session".to_owned())
    }

    fn status(&self, session: &str) -> Outcome<String> {
        let bearer = person_token(self.world)?;
        let request = self.child.get(&format!("/api/agent-sessions/{session}"), Some(&bearer));
        let mut connection = Connection::open(self.child.api).map_err(told)?;
        let (_, body) = connection.fetch(&request).map_err(told)?;
        let shown: Value = serde_json::from_slice(&body).map_err(told)?;
        Ok(shown.pointer("/session/status").and_then(Value::as_str).unwrap_or_default().to_owned())
    }

    fn until_idle(&self, session: &str) -> Outcome<()> {
        for _ in 0..1_000 {
            match self.status(session)?.as_str() {
                "idle" => return Ok(()),
                "starting" | "working" => thread::sleep(Duration::from_millis(20)),
                other => return Err(format!("the chat is {other}")),
            }
        }
        Err("the agent never answered".to_owned())
    }

    fn events(&self) -> Outcome<Connection> {
        let events = self.child.get("/api/events", Some(&person_token(self.world)?));
        let mut stream = Connection::open(self.child.api).map_err(told)?;
        stream.send(&events).map_err(told)?;
        stream.read_until(b"event: ready").map_err(told)?;
        Ok(stream)
    }

    fn end(&self, session: &str) -> Outcome<()> {
        let target = format!("/api/agent-sessions/{session}");
        self.ask("DELETE", &target, &json!({}))?;
        for _ in 0..1_000 {
            if self.status(session)? == "closed" {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Err("the chat does not end".to_owned())
    }

    /// The time from a message in an open chat until a listener has the agent's first word, without the
    /// agent's own.
    fn next_message(&self, session: &str) -> Outcome<Row> {
        let mut stream = self.events()?;
        let target = format!("/api/agent-sessions/{session}/prompt");
        let mut readings = Vec::new();
        for _ in 0..sized(101, 5) {
            self.until_idle(session)?;
            thread::sleep(PAUSE);
            let began = now_ns();
            self.ask("POST", &target, &json!({ "text": "echo" }))?;
            let (seen, own) = first_word(&mut stream)?;
            readings.push(Duration::from_nanos(seen.saturating_sub(began).saturating_sub(own)));
        }
        let time = measure::median(&mut readings);
        let what = "what od adds from a message to the agent's first word".to_owned();
        Ok(timed(what, time, 1e3, "ms", Target::AtMost(5.0)))
    }

    /// The same for the message that opens a chat, against the same agent without od.
    fn first_message(&self, bin: &Path) -> Outcome<Row> {
        let mut stream = self.events()?;
        let (mut with_od, mut alone) = (Vec::new(), Vec::new());
        for _ in 0..sized(21, 2) {
            let began = now_ns();
            let session = self.open(Some("echo"))?;
            let (seen, _) = first_word(&mut stream)?;
            with_od.push(Duration::from_nanos(seen.saturating_sub(began)));
            self.until_idle(&session)?;
            self.end(&session)?;
            alone.push(without_od(&bin.join(AGENT))?);
        }
        let (with_od, alone) = (measure::median(&mut with_od), measure::median(&mut alone));
        let added = with_od.saturating_sub(alone);
        let what = "what od adds from the message that opens a chat to the first word".to_owned();
        let row = timed(what, added, 1e3, "ms", Target::AtMost(5.0));
        Ok(Row { against: format!("the agent alone {alone:.1?}"), ..row })
    }

    /// The processor time of the daemon while an agent says something a hundred times a second.
    fn load(&self, session: &str) -> Outcome<Row> {
        let mut stream = self.events()?;
        self.until_idle(session)?;
        let target = format!("/api/agent-sessions/{session}/prompt");
        let seconds = sized(usize::try_from(STREAMED.as_secs()).unwrap_or(1), 1);
        let (busy, began) = (cpu_time(self.child.pid())?, Instant::now());
        self.ask("POST", &target, &json!({ "text": format!("stream {seconds}") }))?;
        stream.read_until(b"said all").map_err(told)?;
        let elapsed = began.elapsed();
        let used = cpu_time(self.child.pid())?.saturating_sub(busy);
        let share = 100.0 * used.as_secs_f64() / elapsed.as_secs_f64();
        Ok(Row::alone(
            format!("daemon at {EVENTS_PER_SECOND} events of an agent a second"),
            format!("{used:.0?} in {elapsed:.1?}"),
            (share, "% of a core"),
            Target::AtMost(5.0),
        ))
    }
}

/// Reads the first word; returns when it was here, and the agent's own time for it, in nanoseconds.
fn first_word(stream: &mut Connection) -> Outcome<(u64, u64)> {
    let seen = stream.read_until(b" END").map_err(told)?;
    let now = now_ns();
    let text = String::from_utf8_lossy(&seen);
    let words = text.rsplit("AT ").next().unwrap_or_default();
    let mut numbers = words.split(' ').filter_map(|word| word.parse::<u64>().ok());
    let (Some(heard), Some(said)) = (numbers.next(), numbers.next()) else {
        return Err(format!("no word in {text}"));
    };
    Ok((now, said.saturating_sub(heard)))
}

/// A clock that is the same in every process of the machine.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec * 1_000_000_000 + now.tv_nsec).unwrap_or_default()
}

/// The time that a process was on a processor, with its threads that have ended.
fn cpu_time(pid: u32) -> Outcome<Duration> {
    /// What the kernel counts in, on every Linux that has been seen.
    const TICKS_PER_SECOND: u64 = 100;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).map_err(told)?;
    // Behind the name, which may hold anything: the state is the first field, user and system time the 12th and 13th.
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
    let ticks: u64 = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Ok(Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND))
}

/// Starts the agent and asks it as od does; returns the time to its first word.
fn without_od(program: &Path) -> Outcome<Duration> {
    let began = Instant::now();
    let mut process =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(told)?;
    let mut input = process.stdin.take().ok_or("no input")?;
    let mut lines = BufReader::new(process.stdout.take().ok_or("no output")?).lines();
    let mut time = Duration::ZERO;
    for (id, method) in
        ["initialize", "session/new", "session/set_mode", "session/prompt"].into_iter().enumerate()
    {
        let params = json!({ "prompt": [{ "type": "text", "text": "echo" }] });
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(input, "{message}").and_then(|()| input.flush()).map_err(told)?;
        lines.next().ok_or("the agent ended")?.map_err(told)?;
        time = began.elapsed();
    }
    drop(input);
    let _ = process.wait();
    Ok(time)
}

/// Where a daemon that is measured looks for agents.
pub(crate) fn agents(root: &Path) -> AgentsConfig {
    let folders = [root.join("bin"), "/usr/bin".into(), "/bin".into()];
    AgentsConfig {
        supervisor: None,
        path: std::env::join_paths(folders).ok(),
        home: Some(root.join("bin")),
    }
}

/// Is the supervisor of an agent, if the arguments say so.
pub(crate) fn supervise(words: &[String]) -> Option<ExitCode> {
    let [verb, parent, command @ ..] = words else { return None };
    if verb != od_agents::SUPERVISOR_VERB {
        return None;
    }
    let command: Vec<OsString> = command.iter().map(OsString::from).collect();
    let parent = parent.parse().unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    Some(
        runtime
            .block_on(od_agents::supervise(parent, &command))
            .map_or(ExitCode::FAILURE, ExitCode::from),
    )
}

/// Is the agent: speaks as much of the protocol as od needs, each answer at once.
pub(crate) fn play_agent() {
    let mut out = std::io::stdout().lock();
    let mut say = |message: Value| {
        // Whoever closed the pipe has what it wanted.
        let _ = writeln!(out, "{message}").and_then(|()| out.flush());
    };
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let heard = now_ns();
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let Some(id) = message.get("id") else { continue };
        let result = match message["method"].as_str() {
            Some("initialize") => json!({ "protocolVersion": 1,
                "agentCapabilities": { "loadSession": true, "mcpCapabilities": { "http": true } } }),
            Some("session/new") => json!({ "sessionId": "bench" }),
            Some("session/prompt") => {
                let text = message["params"]["prompt"][0]["text"].as_str().unwrap_or_default();
                match text.strip_prefix("stream ").and_then(|seconds| seconds.parse::<u64>().ok()) {
                    Some(seconds) => stream(seconds, &mut say),
                    None => say(words(&format!("AT {heard} {} END", now_ns()))),
                }
                json!({ "stopReason": "end_turn" })
            }
            Some(_) | None => json!({}),
        };
        say(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }
}

/// Says a hundred things a second: mostly words, now and then a call of a tool.
fn stream(seconds: u64, say: &mut impl FnMut(Value)) {
    let began = Instant::now();
    for number in 0..seconds * EVENTS_PER_SECOND {
        let due = Duration::from_millis(number * 1_000 / EVENTS_PER_SECOND);
        thread::sleep(due.saturating_sub(began.elapsed()));
        if number % 10 == 9 {
            let call = json!({ "sessionUpdate": "tool_call", "toolCallId": format!("c{number}"),
                "title": "Read a file", "status": "completed", "rawInput": { "path": "src/main.rs" } });
            say(update(&call));
        } else {
            say(words(&format!("word {number} of a sentence that goes on. ")));
        }
    }
    say(words("said all"));
}

fn words(text: &str) -> Value {
    update(
        &json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }),
    )
}

fn update(update: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "bench", "update": update } })
}
