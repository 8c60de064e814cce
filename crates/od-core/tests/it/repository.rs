//! No fixture and no generated file of the repository holds a denied key or what looks like a
//! credential, outside the cases that are there to be refused.
#![expect(
    clippy::disallowed_methods,
    reason = "the test reads the repository; the core reads nothing"
)]

use std::path::{Path, PathBuf};

use od_core::credential;
use od_core::json::{Pointer, Value, is_denied_key, parse_message};

/// Where fixtures and generated files stand.
const ROOTS: &[&str] = &["fixtures", "docs", "skills", "crates/od-daemon/web"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Fields that a person sends or gets once, as the reference describes them: never stored.
const SENT_FIELDS: [&str; 4] = [
    "/components/schemas/AddService/properties/secret",
    "/components/schemas/AddWebhook/properties/secret",
    "/components/schemas/ConnectConnector/properties/secret",
    "/components/schemas/Session/properties/token",
];

/// Whether this is a call that is there to be refused: it names the code that it gives.
fn is_refused_call(value: &Value) -> bool {
    value.get("gives").and_then(Value::as_str).is_some_and(|code| code != "ok")
}

/// Returns the denied keys of a document.
fn denied_keys(value: &Value, at: &Pointer, found: &mut Vec<String>) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        Value::Object(_) if is_refused_call(value) => {}
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                denied_keys(item, &at.clone().index(i), found);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                let here = at.clone().key(key);
                // What a call's source holds is there for the daemon to take out.
                if key == "before" && map.contains_key("call") {
                    continue;
                }
                if is_denied_key(key) {
                    found.push(here.as_str().to_owned());
                }
                denied_keys(item, &here, found);
            }
        }
    }
}

/// Returns what is wrong with one file.
fn faults(name: &str, bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let text = String::from_utf8_lossy(bytes);
    if let Some((kind, _)) = credential::find(&text) {
        found.push(format!("{name}: looks like a credential ({kind})"));
    }
    if name.ends_with(".json")
        && let Ok(value) = parse_message(bytes)
    {
        let mut keys = Vec::new();
        denied_keys(&value, &Pointer::root(), &mut keys);
        keys.retain(|key| !SENT_FIELDS.contains(&key.as_str()));
        found.extend(keys.into_iter().map(|key| format!("{name}: denied key {key}")));
        let values = credential::find_in_json(&value, 20);
        found.extend(values.iter().map(|(at, kind)| format!("{name}{}: {kind}", at.as_str())));
    }
    found
}

/// A case that is there to be refused stands in a folder that says so, or beside the refusal it
/// expects.
fn is_refused_case(path: &Path) -> bool {
    let in_refused_folder =
        path.components().any(|part| part.as_os_str().to_string_lossy().starts_with("refused"));
    let stem = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = stem.split('.').next().unwrap_or_default();
    let has_refusal = ["issues.txt", "error.txt"]
        .iter()
        .any(|ending| path.with_file_name(format!("{stem}.{ending}")).exists());
    // Inputs as models send them: what is wrong with them is the point.
    let is_agent_input = path.components().any(|part| part.as_os_str() == "agent-inputs");
    in_refused_folder || has_refusal || is_agent_input
}

#[test]
fn fixtures_and_generated_files_hold_nothing_forbidden() {
    let root = root();
    let mut paths = Vec::new();
    for folder in ROOTS {
        files(&root.join(folder), &mut paths);
    }
    assert!(paths.len() > 20, "the scan found only {} files", paths.len());
    let mut found = Vec::new();
    for path in paths {
        let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        if !is_refused_case(&path) {
            found.extend(faults(&name, &std::fs::read(&path).unwrap()));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_planted_fault_is_found() {
    let planted = br#"{"rows":[{"set_cookie":"x"}]}"#;
    assert_eq!(faults("a.json", planted), ["a.json: denied key /rows/0/set_cookie"]);
    let key = ["gh", "p_abcdefghij0123456789klmnop"].concat();
    assert_eq!(faults("a.md", key.as_bytes()).len(), 1);
    assert!(faults("a.md", b"an ordinary page").is_empty());
}
