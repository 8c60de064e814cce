//! One client's server: a message in, at most one answer out, whatever carries them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use od_core::error::nearest_name;
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

use crate::call;
use crate::door::{ClientFacts, Door};
use crate::message::{self, Fault, Incoming, Request};
use crate::resources::{self, GuidePage};
use crate::tool::ToolName;

/// The revisions that are spoken, oldest first.
const VERSIONS: [&str; 5] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", WITHOUT_HANDSHAKE];
/// The newest revision that opens with `initialize`.
const NEWEST_HANDSHAKE: &str = "2025-11-25";
/// The revision whose requests carry version and client with them.
const WITHOUT_HANDSHAKE: &str = "2026-07-28";
/// The longest that a client may take to say in which directories it works.
const ROOTS_MAX: Duration = Duration::from_secs(2);
const INSTRUCTIONS: &str = "Live artifacts: HTML pages bound to JSON that a person opens, \
    refreshes and audits in a console. Connectors only read. After creating, changing or \
    refreshing an artifact, give the person its consoleUrl. The guide is the resource od://guide.";

/// The way back to the client.
pub trait Peer: Send + Sync {
    /// Sends a message of the server's own; says whether it went out.
    fn send(&self, message: Value) -> bool;
}

/// A client that hears answers only: of a transport without a way for the server's own messages.
#[derive(Clone, Copy, Debug)]
pub struct Unreachable;

impl Peer for Unreachable {
    fn send(&self, _: Value) -> bool {
        false
    }
}

/// The tools, resources and prompts for one client. It knows no transport: [`Self::receive`] takes a
/// message, and what comes of it gives the answer.
#[derive(Debug)]
pub struct Server {
    pub(crate) door: Door,
    pub(crate) guide: Vec<GuidePage>,
    session: Mutex<Session>,
    /// The requests under way, so that they can be cancelled.
    under_way: Mutex<HashMap<String, Arc<Notify>>>,
    /// Our own questions that wait for the client's answer.
    questions: Mutex<HashMap<u64, oneshot::Sender<Value>>>,
    last_question: AtomicU64,
    /// Whether the client works elsewhere since the project was found.
    moved: AtomicBool,
}

/// The client, as it has introduced itself.
#[derive(Debug, Default)]
struct Session {
    client_name: Option<String>,
    tells_roots: bool,
    /// The directories that the client last told: a run that is over is replaced in the same project.
    roots: Vec<PathBuf>,
}

/// A message, read.
#[derive(Debug)]
pub enum Received {
    /// Nothing: it told something.
    Nothing,
    /// It was no message; this says so.
    Refused(Value),
    /// An answer, which may take a while.
    Request(Pending),
}

/// A request whose answer is not there yet. It can be cancelled from the moment it was received.
#[derive(Debug)]
pub struct Pending {
    server: Arc<Server>,
    request: Request,
    cancelled: Arc<Notify>,
}

impl Server {
    /// Makes a server for one client.
    #[must_use]
    pub fn new(door: Door, guide: Vec<GuidePage>) -> Arc<Self> {
        Arc::new(Self {
            door,
            guide,
            session: Mutex::default(),
            under_way: Mutex::default(),
            questions: Mutex::default(),
            last_question: AtomicU64::new(0),
            moved: AtomicBool::new(false),
        })
    }

    /// Takes one message of the client.
    pub fn receive(self: &Arc<Self>, bytes: &[u8]) -> Received {
        match message::read(bytes) {
            Err(refusal) => Received::Refused(refusal),
            Ok(Incoming::Notification { method, params }) => {
                self.hear(&method, &params);
                Received::Nothing
            }
            Ok(Incoming::Response { id, result }) => {
                let question = id.as_u64().and_then(|id| lock(&self.questions).remove(&id));
                if let (Some(question), Some(result)) = (question, result) {
                    // Whoever asked may have stopped waiting.
                    let _ = question.send(result);
                }
                Received::Nothing
            }
            Ok(Incoming::Request(request)) => {
                // Noted before anybody runs it: a cancellation may be the very next message.
                let cancelled = Arc::new(Notify::new());
                lock(&self.under_way).insert(request.id.to_string(), Arc::clone(&cancelled));
                Received::Request(Pending { server: Arc::clone(self), request, cancelled })
            }
        }
    }

    /// Answers one message that stands alone, as over HTTP: nothing of the server's own goes back, and
    /// what a message that takes no answer told is forgotten with this server.
    pub async fn answer(self: &Arc<Self>, bytes: &[u8]) -> Option<Value> {
        match self.receive(bytes) {
            Received::Nothing => None,
            Received::Refused(refusal) => Some(refusal),
            Received::Request(request) => request.answer(&Unreachable).await,
        }
    }

    fn hear(&self, method: &str, params: &Map<String, Value>) {
        match method {
            "notifications/cancelled" => {
                let id = params.get("requestId").map(ToString::to_string).unwrap_or_default();
                if let Some(call) = lock(&self.under_way).get(&id) {
                    call.notify_one();
                }
            }
            "notifications/roots/list_changed" => self.moved.store(true, Ordering::SeqCst),
            _ => {}
        }
    }

    /// Describes the tools when they are first asked for; they are the same for every client.
    pub(crate) fn tools() -> &'static [Value] {
        static TOOLS: OnceLock<Vec<Value>> = OnceLock::new();
        TOOLS.get_or_init(|| ToolName::ALL.map(ToolName::definition).to_vec())
    }

    async fn perform(&self, request: &Request, peer: &dyn Peer) -> Result<Value, Fault> {
        let Request { method, params, faults, .. } = request;
        if !faults.is_empty() && method != "tools/call" {
            let said: Vec<String> = faults.iter().map(|issue| issue.message.clone()).collect();
            return Err(Fault::new(Fault::INVALID_REQUEST, said.join("; ")));
        }
        match method.as_str() {
            "initialize" => Ok(self.initialize(params)),
            "server/discover" => Ok(json!({
                "supportedVersions": VERSIONS,
                "capabilities": capabilities(),
                "instructions": INSTRUCTIONS,
                "_meta": { "io.modelcontextprotocol/serverInfo": server_info() },
            })),
            "ping" => Ok(json!({})),
            "tools/list" => {
                one_page(params)?;
                Ok(json!({ "tools": Self::tools() }))
            }
            "tools/call" => call::tool(self, request, peer).await,
            "resources/list" => resources::list(self, request, peer).await,
            "resources/templates/list" => {
                one_page(params)?;
                Ok(resources::templates())
            }
            "resources/read" => resources::read(self, request, peer).await,
            "prompts/list" => {
                one_page(params)?;
                Ok(resources::prompts())
            }
            "prompts/get" => resources::prompt(self, params),
            _ => {
                let near = nearest_name(method, METHODS.iter().copied());
                let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
                let message = format!("there is no method {method}{near}");
                Err(Fault::new(Fault::UNKNOWN_METHOD, message))
            }
        }
    }

    fn initialize(&self, params: &Map<String, Value>) -> Value {
        let mut session = lock(&self.session);
        let name = params.get("clientInfo").and_then(|info| info.get("name"));
        session.client_name = name.and_then(Value::as_str).map(str::to_owned);
        session.tells_roots =
            params.get("capabilities").is_some_and(|all| all["roots"].is_object());
        let asked = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        let spoken =
            VERSIONS.iter().find(|version| **version == asked && asked != WITHOUT_HANDSHAKE);
        json!({
            "protocolVersion": spoken.unwrap_or(&NEWEST_HANDSHAKE),
            "capabilities": capabilities(),
            "serverInfo": server_info(),
            "instructions": INSTRUCTIONS,
        })
    }

    /// Returns what is known about the client, asking for its directories if a project has to be found.
    pub(crate) async fn facts(&self, request: &Request, peer: &dyn Peer) -> ClientFacts {
        if self.moved.swap(false, Ordering::SeqCst) {
            self.door.forget().await;
        }
        let tells_roots = lock(&self.session).tells_roots;
        // Asked only where a project has to be found: every question costs a client that does not answer
        // two seconds.
        if tells_roots && self.door.is_closed().await {
            let roots = self.roots(peer).await;
            lock(&self.session).roots = roots;
        }
        let session = lock(&self.session);
        let given = meta(&request.params, "io.modelcontextprotocol/clientInfo");
        let given = given.and_then(|info| info["name"].as_str()).map(str::to_owned);
        ClientFacts {
            name: given.or_else(|| session.client_name.clone()),
            roots: session.roots.clone(),
        }
    }

    async fn roots(&self, peer: &dyn Peer) -> Vec<PathBuf> {
        let id = self.last_question.fetch_add(1, Ordering::SeqCst) + 1;
        let (sender, answer) = oneshot::channel();
        lock(&self.questions).insert(id, sender);
        let question = json!({ "jsonrpc": "2.0", "id": id, "method": "roots/list" });
        let answer = if peer.send(question) { timeout(ROOTS_MAX, answer).await.ok() } else { None };
        // Answered or not: a client that never answers must not let the map grow.
        lock(&self.questions).remove(&id);
        let answer = answer.and_then(Result::ok).unwrap_or_default();
        let roots = answer["roots"].as_array().into_iter().flatten();
        roots.filter_map(|root| directory(root["uri"].as_str()?)).collect()
    }
}

impl Pending {
    /// Answers the request; a cancelled one has no answer.
    pub async fn answer(self, peer: &dyn Peer) -> Option<Value> {
        let Self { server, request, cancelled } = &self;
        let outcome = tokio::select! {
            biased;
            // First, so that a call whose cancellation came with it does not begin.
            () = cancelled.notified() => {
                call::cancel(server, request).await;
                return None;
            }
            outcome = supported(request, server, peer) => outcome,
        };
        Some(match outcome {
            Ok(result) => message::answer(&request.id, &result),
            Err(fault) => fault.answer(&request.id),
        })
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        lock(&self.server.under_way).remove(&self.request.id.to_string());
    }
}

/// Performs a request in the revision that it names, if it names one.
async fn supported(request: &Request, server: &Server, peer: &dyn Peer) -> Result<Value, Fault> {
    let version = meta(&request.params, "io.modelcontextprotocol/protocolVersion");
    let version = version.and_then(Value::as_str);
    if let Some(asked) = version.filter(|asked| !VERSIONS.contains(asked)) {
        let data = json!({ "requested": asked, "supported": VERSIONS });
        let fault = Fault::new(Fault::UNSUPPORTED_VERSION, "Unsupported protocol version");
        return Err(Fault { data: Some(data), ..fault });
    }
    let is_newest = version == Some(WITHOUT_HANDSHAKE) || request.method == "server/discover";
    let outcome = server.perform(request, peer).await;
    match outcome {
        Ok(Value::Object(mut result)) if is_newest => {
            result.insert("resultType".to_owned(), json!("complete"));
            if request.method != "tools/call" && request.method != "prompts/get" {
                // Lists change with the project: nobody keeps them.
                result.insert("ttlMs".to_owned(), json!(0));
                result.insert("cacheScope".to_owned(), json!("private"));
            }
            Ok(Value::Object(result))
        }
        Err(fault) if is_newest && fault.code == Fault::UNKNOWN_RESOURCE => {
            Err(Fault { code: Fault::INVALID_PARAMS, ..fault })
        }
        outcome => outcome,
    }
}

/// The methods that are answered.
const METHODS: [&str; 10] = [
    "initialize",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "server/discover",
    "tools/call",
    "tools/list",
];

pub(crate) fn meta<'p>(params: &'p Map<String, Value>, key: &str) -> Option<&'p Value> {
    params.get("_meta")?.get(key)
}

fn one_page(params: &Map<String, Value>) -> Result<(), Fault> {
    match params.get("cursor") {
        None | Some(Value::Null) => Ok(()),
        Some(_) => Err(Fault::invalid_params("there is only one page")),
    }
}

/// Returns the directory of a `file:` URI, if it is one on this machine.
fn directory(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            u8::try_from(high * 16 + low).ok()?
        } else {
            byte
        });
    }
    let path = PathBuf::from(String::from_utf8(bytes).ok()?);
    path.is_absolute().then_some(path)
}

fn capabilities() -> Value {
    json!({
        "tools": {},
        "resources": {},
        "prompts": {},
        "extensions": { "io.modelcontextprotocol/ui": {} },
    })
}

fn server_info() -> Value {
    json!({ "name": "od-live-artifacts", "version": env!("CARGO_PKG_VERSION") })
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_of_this_machine_are_roots() {
        assert_eq!(directory("file:///w/my%20site"), Some("/w/my site".into()));
        assert_eq!(directory("file://localhost/w"), Some("/w".into()));
        for other in ["file://host/w", "https://x/y", "file:///%zz", "/w", ""] {
            assert_eq!(directory(other), None, "{other}");
        }
    }
}
