//! Playing a scene: what stands before each call, the call, and the judgement.

use std::collections::BTreeMap;
use std::fs::File;

use serde_json::{Value, json};

use crate::case::{Ask, Before, Call, Meanwhile, Request, Scene, Sender, Tool, amount_of};
use crate::judge::{Said, judge, of_command, of_http, of_tool};
use crate::world::{Door, World};
use crate::{Outcome, cli, http};

/// How many calls were as the scenes say.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) held: usize,
    pub(crate) failed: usize,
    pub(crate) left_out: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.held += other.held;
        self.failed += other.failed;
        self.left_out += other.left_out;
    }

    pub(crate) fn line(self) -> String {
        let Self { held, failed, left_out } = self;
        format!("conformance: {held} calls hold, {failed} do not, {left_out} left out at a door")
    }
}

/// What became of one call.
enum Played {
    Held,
    /// The door cannot say it, or nobody here can bring it about.
    LeftOut,
}

/// Plays a scene to its end, or to the first call that is not as it says: those behind it lean on it.
pub(crate) fn play(world: &mut World, scene: &Scene) -> Tally {
    let mut tally = Tally::default();
    if world.own.is_none() && !scene.calls.iter().all(is_of_any_agent) {
        tally.left_out = scene.calls.len();
        return tally;
    }
    for call in &scene.calls {
        match play_call(world, call) {
            Ok(Played::Held) => tally.held += 1,
            Ok(Played::LeftOut) => tally.left_out += 1,
            Err(message) => {
                let door = world.door.as_str();
                println!("{}: {}: through {door}: {message}", scene.name, call.name);
                tally.failed += 1;
                return tally;
            }
        }
    }
    tally
}

/// Returns whether an agent with nothing but its token can make the call and what stands before it.
fn is_of_any_agent(call: &Call) -> bool {
    matches!(call.ask, Ask::Tool(..))
        && matches!(call.bearer, crate::case::Bearer::New | crate::case::Bearer::Kept)
        && call.meanwhile.is_none()
        && call.before.iter().all(|before| matches!(before, Before::Write(_)))
}

fn play_call(world: &mut World, call: &Call) -> Outcome<Played> {
    let is_late = matches!(call.meanwhile, Some((_, Meanwhile::Late)));
    for before in &call.before {
        prepare(world, before).map_err(|err| format!("before it: {err}"))?;
    }
    if is_late || !call.is_of(world.door.as_str()) {
        return Ok(Played::LeftOut);
    }
    for turn in 0..call.times {
        world.kept.insert("turn".to_owned(), turn.to_string());
        let Some(said) = ask(world, call)? else { return Ok(Played::LeftOut) };
        judge(call, &said)?;
        keep(world, call, &said.json)?;
    }
    world.locked = None;
    Ok(Played::Held)
}

/// Remembers what later calls name.
fn keep(world: &mut World, call: &Call, json: &Value) -> Outcome<()> {
    let artifact = call.keep.as_ref().map(|name| (name, "/artifact/id"));
    let others = call.keeps.iter().map(|(name, pointer)| (name, pointer.as_str()));
    for (name, pointer) in artifact.into_iter().chain(others) {
        let found = json.pointer(pointer).ok_or_else(|| format!("nothing stands at {pointer}"))?;
        let text = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
        world.kept.insert(name.clone(), text);
    }
    Ok(())
}

fn ask(world: &mut World, call: &Call) -> Outcome<Option<Said>> {
    match &call.ask {
        Ask::Tool(tool, arguments) => {
            let token = world.bearer(call.bearer)?;
            let arguments = filled_in(world, arguments)?;
            match (world.door, &call.meanwhile) {
                (Door::Http, None) => {
                    of_http(&tool_request(world, &token, *tool, &arguments)?.answer()?).map(Some)
                }
                (Door::CommandLine, None) => {
                    cli::tool(world, &token, *tool, &arguments)?.as_ref().map(of_tool).transpose()
                }
                (_, Some((name, _))) => {
                    cancelled(world, &token, (*tool, &arguments), name).map(Some)
                }
            }
        }
        Ask::Request(request) => of_http(&raw(world, request, call)?).map(Some),
        Ask::Command(words) => {
            let words: Outcome<Vec<String>> =
                words.iter().map(|word| with_names(world, word)).collect();
            of_command(&cli::command(world, &words?)?).map(Some)
        }
    }
}

/// Makes a call that a person cancels while its provider keeps it waiting.
fn cancelled(
    world: &World,
    token: &str,
    (tool, arguments): (Tool, &Value),
    name: &str,
) -> Outcome<Said> {
    let waiting = tool_request(world, token, tool, arguments)?;
    world.own()?.provider.wait_for_request()?;
    let path = format!("/api/live-artifacts/{}/refresh/cancel", kept(world, name)?);
    expect_ok(world, ("POST", &path), None)?;
    of_http(&waiting.answer()?)
}

fn tool_request(world: &World, token: &str, tool: Tool, arguments: &Value) -> Outcome<http::Sent> {
    let mut arguments = arguments.clone();
    let of_path = match (tool, arguments.as_object_mut()) {
        (Tool::Get, Some(given)) => given.shift_remove("artifactId"),
        _ => None,
    };
    let read = of_path.as_ref().and_then(Value::as_str).map(|id| format!("live-artifacts/{id}"));
    let (method, path) = match tool {
        Tool::Get => ("GET", read.as_deref().ok_or("`get` names its artifact")?),
        Tool::List => ("GET", "live-artifacts/list"),
        Tool::Connectors => ("GET", "connectors/list"),
        Tool::Create => ("POST", "live-artifacts/create"),
        Tool::Update => ("POST", "live-artifacts/update"),
        Tool::Refresh => ("POST", "live-artifacts/refresh"),
        Tool::Delete => ("POST", "live-artifacts/delete"),
        Tool::Validate => ("POST", "live-artifacts/validate"),
        Tool::Execute => ("POST", "connectors/execute"),
    };
    let (query, body) = match method {
        "GET" => (query(&arguments), String::new()),
        _ => (String::new(), arguments.to_string()),
    };
    let headers = BTreeMap::from([("authorization".to_owned(), format!("Bearer {token}"))]);
    http::send(&world.url, (method, &format!("/api/tools/{path}{query}")), &headers, &body)
}

fn query(arguments: &Value) -> String {
    let pairs: Vec<String> = arguments
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("{name}={}", text.replace(' ', "+"))
        })
        .collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

fn raw(world: &mut World, request: &Request, call: &Call) -> Outcome<http::Answer> {
    let mut headers = BTreeMap::new();
    let token = match request.sender {
        Sender::Person => Some(world.person_token()?),
        Sender::Agent => Some(world.bearer(call.bearer)?),
        Sender::Nobody => None,
    };
    if let Some(token) = token {
        headers.insert("authorization".to_owned(), format!("Bearer {token}"));
    }
    for (name, value) in &request.headers {
        headers.insert(name.to_ascii_lowercase(), with_names(world, value)?);
    }
    let body = match (&request.body, &request.raw) {
        (Some(body), _) => filled_in(world, body)?.to_string(),
        (None, raw) => raw.clone().unwrap_or_default(),
    };
    let path = with_names(world, &request.path)?;
    let sent = http::send(&world.url, (&request.method, &path), &headers, &body)?;
    // A stream of events has no end.
    if path.ends_with("/events") { sent.head_or_refusal() } else { sent.answer() }
}

fn kept<'a>(world: &'a World, name: &str) -> Outcome<&'a str> {
    world.kept.get(name).map(String::as_str).ok_or_else(|| format!("nothing is kept as `{name}`"))
}

/// Puts what was kept where `{name}` stands in a path or an argument; other braces stay.
fn with_names(world: &World, text: &str) -> Outcome<String> {
    let mut filled = text.to_owned();
    for (name, value) in &world.kept {
        filled = filled.replace(&format!("{{{name}}}"), value);
    }
    let root = world.root.display().to_string();
    filled = filled.replace("{root}", &root);
    match world.own.as_ref() {
        Some(own) => Ok(filled.replace("{provider}", &own.provider.url)),
        None => Ok(filled),
    }
}

/// Puts what was kept where `$name` stands as a whole text.
fn filled_in(world: &World, value: &Value) -> Outcome<Value> {
    Ok(match value {
        Value::String(text) => match text.strip_prefix('$') {
            Some(name) if !name.starts_with('.') && !name.is_empty() => json!(kept(world, name)?),
            _ if text.contains("{provider}") || text.contains("{turn}") => {
                json!(with_names(world, text)?)
            }
            _ => value.clone(),
        },
        Value::Array(items) => {
            items.iter().map(|item| filled_in(world, item)).collect::<Outcome<_>>()?
        }
        Value::Object(fields) => fields
            .iter()
            .map(|(name, item)| Ok((name.clone(), filled_in(world, item)?)))
            .collect::<Outcome<_>>()?,
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}

fn expect_ok(world: &World, at: (&str, &str), body: Option<&Value>) -> Outcome<()> {
    let answer = world.person(at, body)?;
    if answer.status == 200 { Ok(()) } else { Err(format!("{} {}: {}", at.0, at.1, answer.body)) }
}

fn prepare(world: &mut World, before: &Before) -> Outcome<()> {
    match before {
        Before::Write(files) => {
            for (name, content) in files {
                let path = world.root.join(name);
                let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
                std::fs::create_dir_all(path.parent().unwrap_or(&world.root))
                    .and_then(|()| std::fs::write(&path, text))
                    .map_err(|err| format!("{name}: {err}"))?;
            }
            Ok(())
        }
        Before::Commit(message) => cli::commit(&world.root, message),
        Before::Damage(name) => {
            let head = artifact_folder(world, name)?.join("artifact.json");
            std::fs::write(head, "{").map_err(|err| err.to_string())
        }
        Before::Overwrite(path, text) => {
            // `home/…` is the person's, `data/…` the daemon's.
            let path = world.folders()?.join(with_names(world, path)?);
            std::fs::write(&path, text).map_err(|err| format!("{}: {err}", path.display()))
        }
        Before::Restore(name, revision) => {
            let id = kept(world, name)?;
            let path = format!("/api/live-artifacts/{id}/revisions/{revision}/restore");
            expect_ok(world, ("POST", &path), None)
        }
        Before::Disconnect(name) => {
            expect_ok(world, ("DELETE", &format!("/api/connectors/{name}/connection")), None)
        }
        Before::Connect(name) => {
            expect_ok(world, ("POST", &format!("/api/connectors/{name}/connect")), Some(&json!({})))
        }
        Before::Hold(name) => {
            let path = format!("/api/live-artifacts/{}/refresh", kept(world, name)?);
            let held = world.send_as_person(("POST", &path), None)?;
            world.held.push(held);
            world.own()?.provider.wait_for_request()
        }
        Before::Release => {
            world.own()?.provider.release();
            world.held.drain(..).try_for_each(|held| held.answer().map(drop))
        }
        Before::Provider(provided) => {
            world.own()?.provider.answer(provided.clone());
            Ok(())
        }
        Before::Lock(name) => lock(world, name),
        Before::Follow(count) => follow(world, amount_of(count)?),
        Before::Kill => world.kill().and_then(|()| world.wake()),
        Before::Stop => world.kill(),
    }
}

fn artifact_folder(world: &World, name: &str) -> Outcome<std::path::PathBuf> {
    let project = world.data()?.join("projects").join(world.project()?);
    Ok(project.join(".live-artifacts").join(kept(world, name)?))
}

fn lock(world: &mut World, name: &str) -> Outcome<()> {
    let folder = artifact_folder(world, name)?;
    let locks = folder.parent().unwrap_or(&folder).join(".locks");
    let path = locks.join(format!("{}.commit", kept(world, name)?));
    let file = File::options().write(true).create(true).truncate(false).open(&path);
    let file = file.map_err(|err| format!("{}: {err}", path.display()))?;
    file.lock().map_err(|err| err.to_string())?;
    world.locked = Some(file);
    Ok(())
}

fn follow(world: &mut World, count: usize) -> Outcome<()> {
    for _ in 0..count {
        let mut stream = world.send_as_person(("GET", "/api/events"), None)?;
        let head = stream.head()?;
        if head.status != 200 {
            return Err(format!("stream {}: {}", world.open_streams.len(), head.head));
        }
        world.open_streams.push(stream);
    }
    Ok(())
}
