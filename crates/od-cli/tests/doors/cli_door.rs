//! The command line: arguments become files and flags, as the skill tells agents to write them.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Map, Value};
use tokio::process::Command;

use crate::corpus::Tool;

/// What the program ended with.
pub(crate) struct Ended {
    pub(crate) exit: i32,
    /// The one document, from stdout or from stderr.
    pub(crate) document: Value,
}

/// Runs `od tools …` with the arguments written out in `folder`.
pub(crate) async fn call(
    (url, daemon_id): (&str, &str),
    token: &str,
    tool: Tool,
    arguments: &Value,
    folder: &Path,
) -> Ended {
    let mut given = arguments.as_object().unwrap().clone();
    let mut words: Vec<String> = match tool {
        Tool::Connectors => vec!["tools".to_owned(), "connectors".to_owned(), "list".to_owned()],
        Tool::Execute => vec!["tools".to_owned(), "connectors".to_owned(), "execute".to_owned()],
        Tool::Create
        | Tool::List
        | Tool::Get
        | Tool::Update
        | Tool::Refresh
        | Tool::Delete
        | Tool::Validate => {
            vec!["tools".to_owned(), "live-artifacts".to_owned(), tool.as_str().to_owned()]
        }
    };
    write_files(&mut given, folder, &mut words);
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
    assert!(given.is_empty(), "the command line cannot say {given:?}");
    let output = Command::new(env!("CARGO_BIN_EXE_od"))
        .args(&words)
        .current_dir(folder)
        .env_clear()
        .env("OD_DAEMON_URL", url)
        .env("OD_DAEMON_ID", daemon_id)
        .env("OD_TOOL_TOKEN", token)
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    let exit = output.status.code().unwrap();
    let (said, silent) =
        if exit == 0 { (&output.stdout, &output.stderr) } else { (&output.stderr, &output.stdout) };
    assert_eq!(String::from_utf8_lossy(silent), "", "{words:?}");
    let document = serde_json::from_slice(said)
        .unwrap_or_else(|error| panic!("{words:?}: {error}: {}", String::from_utf8_lossy(said)));
    Ended { exit, document }
}

fn write_files(given: &mut Map<String, Value>, folder: &Path, words: &mut Vec<String>) {
    let _none = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text).unwrap();
    if let Some(input) = given.remove("input") {
        write("artifact.json", input.to_string());
        words.extend(["--input".to_owned(), "artifact.json".to_owned()]);
    }
    if let Some(html) = given.remove("templateHtml") {
        write("template.html", html.as_str().unwrap().to_owned());
    }
    if let Some(provenance) = given.remove("provenanceJson") {
        write("provenance.json", provenance.to_string());
    }
}
