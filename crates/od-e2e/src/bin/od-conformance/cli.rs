//! The command line: an agent's arguments become files and flags, as the skill tells agents to write them.

use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value};

use crate::Outcome;
use crate::case::Tool;
use crate::world::World;

/// The end of a command.
pub(crate) struct Ended {
    pub(crate) exit: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the program as the person.
pub(crate) fn command(world: &World, words: &[String]) -> Outcome<Ended> {
    run(world.program()?.args(words))
}

/// Runs `od tools …`, or says that the command line has no words for it.
pub(crate) fn tool(
    world: &World,
    token: &str,
    tool: Tool,
    arguments: &Value,
) -> Outcome<Option<Ended>> {
    let folder = world.scratch()?;
    let mut given = arguments.as_object().ok_or("arguments are an object")?.clone();
    let mut words: Vec<String> = verb(tool).split(' ').map(str::to_owned).collect();
    write_files(&mut given, &folder, &mut words).map_err(|err| err.to_string())?;
    for (field, flag) in [
        ("artifactId", "--artifact-id"),
        ("attemptId", "--attempt-id"),
        ("ifRevision", "--if-revision"),
        ("connectorId", "--connector"),
        ("toolName", "--tool"),
        ("query", "--query"),
        ("limit", "--limit"),
        ("cursor", "--cursor"),
        ("path", "--path"),
        ("include", "--include"),
    ] {
        if let Some(value) = given.remove(field) {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            words.extend([flag.to_owned(), text]);
        }
    }
    if !given.is_empty() {
        return Ok(None);
    }
    let mut command = world.program()?;
    command.args(&words).current_dir(&folder);
    // An agent has neither the person's home nor the data directory.
    for name in ["OD_HOME", "OD_DATA_DIR", "OD_GITHUB_BASE_URL"] {
        command.env_remove(name);
    }
    command.env("OD_DAEMON_URL", &world.url).env("OD_TOOL_TOKEN", token);
    command.env("OD_DAEMON_ID", world.kept.get("daemon").map_or("", String::as_str));
    run(&mut command).map(Some)
}

const fn verb(tool: Tool) -> &'static str {
    match tool {
        Tool::Create => "tools live-artifacts create",
        Tool::List => "tools live-artifacts list",
        Tool::Get => "tools live-artifacts get",
        Tool::Update => "tools live-artifacts update",
        Tool::Refresh => "tools live-artifacts refresh",
        Tool::Delete => "tools live-artifacts delete",
        Tool::Validate => "tools live-artifacts validate",
        Tool::Connectors => "tools connectors list",
        Tool::Execute => "tools connectors execute",
    }
}

fn run(command: &mut Command) -> Outcome<Ended> {
    let ended = command.output().map_err(|err| format!("{command:?}: {err}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let exit = ended.status.code().ok_or_else(|| format!("{command:?} was ended by a signal"))?;
    Ok(Ended { exit, out: text(&ended.stdout), err: text(&ended.stderr) })
}

fn write_files(
    given: &mut Map<String, Value>,
    folder: &Path,
    words: &mut Vec<String>,
) -> std::io::Result<()> {
    let _none = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder)?;
    if let Some(input) = given.remove("input") {
        std::fs::write(folder.join("artifact.json"), input.to_string())?;
        words.extend(["--input".to_owned(), "artifact.json".to_owned()]);
    }
    if let Some(html) = given.get("templateHtml").and_then(Value::as_str) {
        std::fs::write(folder.join("template.html"), html)?;
        given.remove("templateHtml");
    }
    if let Some(provenance) = given.remove("provenanceJson") {
        std::fs::write(folder.join("provenance.json"), provenance.to_string())?;
    }
    Ok(())
}

/// Commits everything, the same bytes wherever it is done.
pub(crate) fn commit(root: &Path, message: &str) -> Outcome<()> {
    for arguments in [
        &["init", "--quiet", "--initial-branch", "main"][..],
        &["add", "--all"],
        &["commit", "--quiet", "--message", message],
    ] {
        let mut git = Command::new("git");
        git.args(["-c", "commit.gpgsign=false"]).args(arguments).current_dir(root);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "A");
            git.env(format!("GIT_{who}_EMAIL"), "a@example.com");
            git.env(format!("GIT_{who}_DATE"), "2026-04-30T00:00:00Z");
        }
        let done = run(&mut git)?;
        if done.exit != 0 {
            return Err(format!("git {arguments:?}: {}", done.err));
        }
    }
    Ok(())
}
