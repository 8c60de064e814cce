//! The calls as files.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};

/// A way into the daemon.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DoorName {
    /// `od tools …`
    Cli,
    /// `/api/tools/…`
    Http,
    /// `od mcp live-artifacts`
    Mcp,
}

impl DoorName {
    pub(crate) const ALL: [Self; 3] = [Self::Cli, Self::Http, Self::Mcp];
}

/// What is asked for.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Tool {
    Create,
    List,
    Get,
    Update,
    Refresh,
    Delete,
    Validate,
    Connectors,
    Execute,
}

impl Tool {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::List => "list",
            Self::Get => "get",
            Self::Update => "update",
            Self::Refresh => "refresh",
            Self::Delete => "delete",
            Self::Validate => "validate",
            Self::Connectors => "connectors",
            Self::Execute => "execute",
        }
    }
}

/// Whose token the call carries.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BearerName {
    /// A run of its own for each call: what one run may ask for in a minute is bounded.
    #[default]
    New,
    /// One run for the scene.
    Kept,
    Ended,
    Garbage,
    Expired,
    Lists,
    Reads,
}

/// What happens before a call.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Before {
    /// Files of each project; a text is the file's own, anything else its JSON.
    Write(Map<String, Value>),
    /// A git repository with one commit of everything.
    Commit(String),
    /// The artifact's head is cut off.
    Damage(String),
    /// A person brings a revision of the artifact back.
    Restore(String, u64),
    /// A person switches a connector off.
    Disconnect(String),
    /// A person switches a connector on.
    Connect(String),
    /// A person refreshes the artifact, whose provider keeps them waiting.
    Hold(String),
    /// The provider gives up on all who wait.
    Release,
}

/// What happens while a call waits for its provider.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Meanwhile {
    /// A person cancels the refresh.
    Cancelled,
    /// The time of the refresh is over.
    Late,
}

/// One call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) call: String,
    pub(crate) tool: Tool,
    pub(crate) arguments: Value,
    pub(crate) gives: String,
    /// What has to stand in the answer, by JSON pointer; without it only the doors are compared.
    #[serde(default)]
    pub(crate) holds: Map<String, Value>,
    pub(crate) keep: Option<String>,
    #[serde(default)]
    pub(crate) before: Vec<Before>,
    /// Of a call that refreshes what was kept under this name.
    pub(crate) meanwhile: Option<(String, Meanwhile)>,
    #[serde(default)]
    pub(crate) bearer: BearerName,
    #[serde(default = "once")]
    pub(crate) times: usize,
    #[serde(default = "every_door")]
    pub(crate) doors: Vec<DoorName>,
}

fn once() -> usize {
    1
}

fn every_door() -> Vec<DoorName> {
    DoorName::ALL.to_vec()
}

/// Calls in order.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) name: &'static str,
    pub(crate) calls: Vec<Call>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/doors")
}

/// The scenes that lie in the folder.
pub(crate) fn files() -> BTreeSet<String> {
    std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

impl Scene {
    pub(crate) fn read(name: &'static str) -> Self {
        let text = std::fs::read_to_string(folder().join(format!("{name}.json"))).unwrap();
        // A scanner for leaks must find nothing in the files.
        let key = ["gh", "p_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
        let mut calls: Vec<Call> =
            serde_json::from_str(&text.replace("{{provider_key}}", &key)).unwrap();
        for call in &mut calls {
            grow(&mut call.arguments);
            for before in &mut call.before {
                if let Before::Write(files) = before {
                    files.values_mut().for_each(grow);
                }
            }
        }
        Self { name, calls }
    }
}

/// Puts long, deep and many things where the files only name them.
fn grow(value: &mut Value) {
    match value {
        Value::String(text) => {
            let inner = text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}"));
            let Some((kind, count)) = inner.and_then(|inner| inner.split_once(':')) else { return };
            let count: usize = count.parse().unwrap();
            *value = match kind {
                "long" => Value::String("x".repeat(count)),
                "deep" => {
                    (0..count).fold(Value::Null, |inner, _| serde_json::json!({ "a": inner }))
                }
                "many" => (0..count).collect(),
                other => panic!("nothing is `{other}`"),
            };
        }
        Value::Array(items) => items.iter_mut().for_each(grow),
        Value::Object(fields) => fields.values_mut().for_each(grow),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
