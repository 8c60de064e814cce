//! The scenes as files: the grammar of `fixtures/doors`, and what a stranger to the daemon needs beyond it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::Outcome;
use crate::grow::{amount, grow, grow_text};

/// One call of the agent's, as every door can say it.
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

/// The token that a call carries.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Bearer {
    /// A run of its own for each call: what one run may ask for in a minute is bounded.
    #[default]
    New,
    /// One run for the scene.
    Kept,
    Ended,
    Garbage,
    Expired,
    /// It would expire later than a token may.
    Long,
    /// It was made later than a clock may be behind.
    Early,
    Lists,
    Reads,
}

/// A step that stands before a call.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Before {
    /// Files of the project; a text is the file's own, anything else its JSON.
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
    /// The provider gives up on all who wait, and on all who come.
    Release,
    /// The provider answers everything so from now on.
    Provider(Provided),
    /// Somebody outside holds the commit lock of the artifact until the call is over.
    Lock(String),
    /// A file is overwritten behind the daemon's back: its path below `home/` or `data/`, and its text.
    Overwrite(String, String),
    /// So many streams of events are opened, and stay open.
    Follow(Value),
    /// The daemon is killed, and another is started over the same folders.
    Kill,
    /// The daemon is told to stop.
    Stop,
}

/// An answer of the provider.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Provided {
    pub(crate) status: u16,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

/// What happens while a call waits for its provider.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Meanwhile {
    /// A person cancels the refresh.
    Cancelled,
    /// The time of the refresh is over: two minutes that nobody waits for here.
    Late,
}

/// Whoever sends a raw request.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sender {
    #[default]
    Person,
    Agent,
    Nobody,
}

/// A request by its own words.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Headers that replace or join those of every request.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Option<Value>,
    /// A body as it stands, where `body` could not say it.
    pub(crate) raw: Option<String>,
    #[serde(default, rename = "as")]
    pub(crate) sender: Sender,
}

/// The thing that is asked for.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    Tool(Tool, Value),
    Request(Request),
    /// Arguments of the program, as the person.
    Command(Vec<String>),
}

/// One call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) ask: Ask,
    pub(crate) gives: String,
    /// Limits that a refusal has to print.
    pub(crate) limits: Vec<&'static od_core::limits::Limit>,
    pub(crate) holds: Map<String, Value>,
    pub(crate) says: Vec<String>,
    pub(crate) counts: BTreeMap<String, usize>,
    /// The most bytes of what stands at a pointer, as compact JSON.
    pub(crate) most: BTreeMap<String, usize>,
    pub(crate) keep: Option<String>,
    pub(crate) keeps: BTreeMap<String, String>,
    pub(crate) before: Vec<Before>,
    pub(crate) meanwhile: Option<(String, Meanwhile)>,
    pub(crate) bearer: Bearer,
    pub(crate) times: usize,
    pub(crate) doors: Vec<String>,
}

/// A call as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    call: String,
    tool: Option<Tool>,
    arguments: Option<Value>,
    request: Option<Request>,
    command: Option<Vec<String>>,
    gives: String,
    #[serde(default)]
    proves: Vec<String>,
    /// The reason why a refusal does not print the limit.
    unprinted: Option<String>,
    #[serde(default)]
    holds: Map<String, Value>,
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    counts: BTreeMap<String, Value>,
    #[serde(default)]
    most: BTreeMap<String, Value>,
    keep: Option<String>,
    #[serde(default)]
    keeps: BTreeMap<String, String>,
    #[serde(default)]
    before: Vec<Before>,
    meanwhile: Option<(String, Meanwhile)>,
    #[serde(default)]
    bearer: Bearer,
    times: Option<Value>,
    doors: Option<Vec<String>>,
}

/// Calls in order.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) name: String,
    pub(crate) calls: Vec<Call>,
}

impl Scene {
    /// Reads a file of calls.
    pub(crate) fn read(path: &Path) -> Outcome<Self> {
        let told = |err: String| format!("{}: {err}", path.display());
        let text = std::fs::read_to_string(path).map_err(|err| told(err.to_string()))?;
        // A scanner for leaks must find nothing in the files.
        let key = ["gh", "p_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
        let written: Vec<Written> = serde_json::from_str(&text.replace("{{provider_key}}", &key))
            .map_err(|err| told(err.to_string()))?;
        let calls: Outcome<Vec<Call>> = written
            .into_iter()
            .map(|call| {
                let name = call.call.clone();
                Call::parse(call).map_err(|err| told(format!("`{name}`: {err}")))
            })
            .collect();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, calls: calls? })
    }
}

impl Call {
    fn parse(written: Written) -> Outcome<Self> {
        let ask = match (written.tool, written.request, written.command) {
            (Some(tool), None, None) => {
                Ask::Tool(tool, grow(&written.arguments.ok_or("a tool has `arguments`")?)?)
            }
            (None, Some(request), None) => Ask::Request(Request {
                path: grow_text(&request.path)?,
                headers: request
                    .headers
                    .into_iter()
                    .map(|(name, value)| Ok((name, grow_text(&value)?)))
                    .collect::<Outcome<_>>()?,
                body: request.body.map(|body| grow(&body)).transpose()?,
                raw: request.raw.map(|raw| grow_text(&raw)).transpose()?,
                ..request
            }),
            (None, None, Some(words)) => {
                Ask::Command(words.iter().map(|word| grow_text(word)).collect::<Outcome<_>>()?)
            }
            _ => return Err("one of `tool`, `request` and `command`".to_owned()),
        };
        let limits = written
            .proves
            .iter()
            .filter(|_| written.unprinted.is_none())
            .filter_map(|rule| rule.strip_prefix("limit:"))
            .map(crate::grow::limit)
            .collect::<Outcome<_>>()?;
        Ok(Self {
            name: written.call,
            ask,
            gives: written.gives,
            limits,
            holds: written
                .holds
                .into_iter()
                .map(|(pointer, value)| Ok((pointer, grow(&value)?)))
                .collect::<Outcome<_>>()?,
            says: written.says.iter().map(|text| grow_text(text)).collect::<Outcome<_>>()?,
            counts: amounts(written.counts)?,
            most: amounts(written.most)?,
            keep: written.keep,
            keeps: written.keeps,
            before: written.before.into_iter().map(grown).collect::<Outcome<_>>()?,
            meanwhile: written.meanwhile,
            bearer: written.bearer,
            times: written.times.as_ref().map_or(Ok(1), amount_of)?,
            doors: written.doors.unwrap_or_default(),
        })
    }

    /// Returns whether the call is one of a door's; without a list it is every door's.
    pub(crate) fn is_of(&self, door: &str) -> bool {
        self.doors.is_empty() || self.doors.iter().any(|name| name == door)
    }
}

fn amounts(written: BTreeMap<String, Value>) -> Outcome<BTreeMap<String, usize>> {
    written.into_iter().map(|(pointer, count)| Ok((pointer, amount_of(&count)?))).collect()
}

/// Reads an amount: a number, or a text such as `json_depth+1`.
pub(crate) fn amount_of(value: &Value) -> Outcome<usize> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    amount(&text)
}

fn grown(before: Before) -> Outcome<Before> {
    Ok(match before {
        Before::Write(files) => {
            let mut written = Map::new();
            for (name, content) in files {
                match content.get("{{files}}").and_then(Value::as_array).map(Vec::as_slice) {
                    Some([count, content]) => {
                        let content = grow(content)?;
                        written.extend(
                            (0..amount_of(count)?)
                                .map(|at| (name.replace('#', &at.to_string()), content.clone())),
                        );
                    }
                    _ => {
                        written.insert(grow_text(&name)?, grow(&content)?);
                    }
                }
            }
            Before::Write(written)
        }
        Before::Provider(provided) => {
            let headers = provided.headers.into_iter();
            Before::Provider(Provided {
                status: provided.status,
                headers: headers
                    .map(|(name, value)| Ok((name, grow_text(&value)?)))
                    .collect::<Outcome<_>>()?,
                body: grow(&provided.body)?,
            })
        }
        Before::Overwrite(path, text) => Before::Overwrite(path, grow_text(&text)?),
        Before::Commit(_)
        | Before::Damage(_)
        | Before::Restore(..)
        | Before::Disconnect(_)
        | Before::Connect(_)
        | Before::Hold(_)
        | Before::Release
        | Before::Lock(_)
        | Before::Follow(_)
        | Before::Kill
        | Before::Stop => before,
    })
}
