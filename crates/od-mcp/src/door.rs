//! The way to the daemon: a call of a tool becomes a call of its endpoint, with the token of a run that is
//! live.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use od_client::{Call, CallError, Client};
use od_core::error::{ErrorCode, Failure, Issue, nearest_name};
use od_core::limits;
use od_wire::error::Envelope;
use od_wire::route::{Operation, QueryName};
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

use crate::tool::ToolName;

/// The most times that one call looks for another run: the run may have lapsed, and the daemon may have gone.
const OPENINGS_MAX: usize = 3;

/// The client, as the daemon may record it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ClientFacts {
    /// Its name, as it gives it.
    pub name: Option<String>,
    /// The directories that it works in.
    pub roots: Vec<PathBuf>,
}

/// A client of the daemon being made, or why there is none.
pub type Opening<'a> = Pin<Box<dyn Future<Output = Result<Client, Failure>> + Send + 'a>>;

/// Finds the daemon and gets a run.
///
/// # Contract
///
/// - `open` returns a client whose token is live now, starting what has to be started for it; asked again it
///   returns another one, for the one before is over.
/// - `open_again` returns `None` where the run is another's to renew: then the refusal stands.
pub trait Access: fmt::Debug + Send + Sync {
    /// Opens the way for the first time.
    fn open<'a>(&'a self, facts: &'a ClientFacts) -> Opening<'a>;
    /// Opens it again after the run lapsed or the daemon went.
    fn open_again<'a>(&'a self, facts: &'a ClientFacts) -> Option<Opening<'a>>;
}

/// The run of the environment: what `od run` set, for as long as it lasts.
#[derive(Debug)]
struct Given(std::sync::Mutex<Option<Client>>, Failure);

impl Access for Given {
    fn open<'a>(&'a self, _: &'a ClientFacts) -> Opening<'a> {
        let client = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        Box::pin(std::future::ready(client.ok_or_else(|| self.1.clone())))
    }

    fn open_again<'a>(&'a self, _: &'a ClientFacts) -> Option<Opening<'a>> {
        None
    }
}

/// The daemon as the tools see it.
///
/// A server without a project or a daemon still answers: it lists its tools, and every call says what to do.
#[derive(Debug)]
pub struct Door {
    access: Arc<dyn Access>,
    current: Mutex<Option<Arc<Client>>>,
}

impl Door {
    /// Makes the door of a client that is there, or of the reason why there is none.
    #[must_use]
    pub fn new(client: Result<Client, Failure>) -> Self {
        let gone = || Failure::new(ErrorCode::Internal, "the client was taken twice");
        let (client, reason) = match client {
            Ok(client) => (Some(client), gone()),
            Err(reason) => (None, reason),
        };
        Self::standing(Arc::new(Given(std::sync::Mutex::new(client), reason)))
    }

    /// Makes the door of a server that outlives its runs.
    #[must_use]
    pub fn standing(access: Arc<dyn Access>) -> Self {
        Self { access, current: Mutex::new(None) }
    }

    /// Forgets the run, so that the next call finds its project anew.
    pub(crate) async fn forget(&self) {
        *self.current.lock().await = None;
    }

    /// Returns whether a call would have to find its project first.
    pub(crate) async fn is_closed(&self) -> bool {
        self.current.lock().await.is_none()
    }

    /// Makes the call of a tool and returns the daemon's answer as it is.
    pub(crate) async fn call(
        &self,
        tool: ToolName,
        arguments: &Map<String, Value>,
        facts: &ClientFacts,
    ) -> Result<Value, Envelope> {
        self.exchange(tool, Arguments::Read(arguments), facts).await
    }

    /// As [`Self::call`], for a tool that sends a body: the arguments as the client wrote them.
    pub(crate) async fn call_as_written(
        &self,
        tool: ToolName,
        arguments: &str,
        facts: &ClientFacts,
    ) -> Result<Value, Envelope> {
        self.exchange(tool, Arguments::AsWritten(arguments), facts).await
    }

    async fn exchange(
        &self,
        tool: ToolName,
        arguments: Arguments<'_>,
        facts: &ClientFacts,
    ) -> Result<Value, Envelope> {
        let mut client = self.client(facts).await?;
        let mut openings = 1;
        loop {
            let error = match request(&client, tool, arguments)?.send_value().await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            if openings == OPENINGS_MAX || !is_over(&error, tool) {
                return Err(told(error, tool));
            }
            match self.reopen(&client, facts).await {
                Some(opened) => client = opened?,
                None => return Err(told(error, tool)),
            }
            openings += 1;
        }
    }

    /// Cancels the refresh that a call of this door started. Nobody waits for the outcome.
    pub(crate) async fn cancel_refresh(&self, artifact: &Value) {
        let Some(client) = self.current.lock().await.clone() else { return };
        let call = client.call(Operation::ToolCancelRefresh);
        if let Ok(call) = call.json(&json!({ "artifactId": artifact })) {
            let _over_already = call.send_value().await;
        }
    }

    async fn client(&self, facts: &ClientFacts) -> Result<Arc<Client>, Failure> {
        // Held while the run is started: of several first calls one starts it, and the others use it.
        let mut current = self.current.lock().await;
        if let Some(client) = &*current {
            return Ok(Arc::clone(client));
        }
        let opened = Arc::new(self.access.open(facts).await?);
        *current = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// Replaces a client whose run or daemon is over, unless another call has done so already.
    async fn reopen(
        &self,
        over: &Arc<Client>,
        facts: &ClientFacts,
    ) -> Option<Result<Arc<Client>, Failure>> {
        let mut current = self.current.lock().await;
        if let Some(other) = current.as_ref().filter(|current| !Arc::ptr_eq(current, over)) {
            return Some(Ok(Arc::clone(other)));
        }
        let opening = self.access.open_again(facts)?;
        let opened = opening.await.map(Arc::new);
        // After a failure the next call starts from the beginning.
        *current = opened.as_ref().ok().cloned();
        Some(opened)
    }
}

/// Returns whether another run, or another daemon, may answer where this one did not: nothing has happened
/// yet, or nothing can have.
fn is_over(error: &CallError, tool: ToolName) -> bool {
    match error {
        CallError::Unreachable { .. } | CallError::Gone { .. } | CallError::Impostor { .. } => true,
        CallError::Refused { envelope, .. } => {
            let failure = &envelope.error.failure;
            let kind = failure.details.as_ref().and_then(|details| details.get("kind"));
            let is_spent = failure.code == ErrorCode::ConnectorRateLimited
                && kind.is_some_and(|kind| kind == "per_run");
            let over = [ErrorCode::ToolTokenExpired, ErrorCode::ToolTokenInvalid];
            over.contains(&failure.code) || is_spent
        }
        // It may have happened: only what changes nothing is done a second time.
        CallError::Broken { .. } => tool.hints().read_only,
        CallError::TimedOut { .. }
        | CallError::Address { .. }
        | CallError::Bearer
        | CallError::Encode { .. }
        | CallError::Decode { .. }
        | CallError::TooLarge { .. } => false,
    }
}

/// Says why a call failed; of one that broke off, that nobody knows whether it happened.
fn told(error: CallError, tool: ToolName) -> Envelope {
    let may_have_happened = matches!(error, CallError::Broken { .. }) && !tool.hints().read_only;
    if !may_have_happened {
        return error.into();
    }
    Failure::new(ErrorCode::DaemonUnavailable, "the daemon ended during the call")
        .suggest(
            "it may or may not have happened: look with od_live_artifacts_list or \
             od_live_artifacts_get, then call again",
        )
        .into()
}

/// The arguments of a call.
#[derive(Clone, Copy, Debug)]
enum Arguments<'a> {
    Read(&'a Map<String, Value>),
    /// The text of an object of which a reader would lose what is wrong with it.
    AsWritten(&'a str),
}

fn request<'c>(
    client: &'c Client,
    tool: ToolName,
    arguments: Arguments<'_>,
) -> Result<Call<'c>, Envelope> {
    let mut call = client.call(tool.operation());
    let body = match arguments {
        Arguments::Read(read) if !tool.sends_body() => return with_parameters(tool, call, read),
        Arguments::Read(read) => {
            let mut read = read.clone();
            // No part of what is saved: the endpoints take it in their query.
            if tool.reads_sources()
                && let Some(Value::Bool(offline)) = read.get("offline").cloned()
            {
                read.remove("offline");
                call = call.maybe_query(QueryName::Offline, offline.then_some(true));
            }
            serde_json::to_vec(&read).map_err(|source| CallError::Encode { source })?
        }
        Arguments::AsWritten(text) => text.as_bytes().to_vec(),
    };
    // The daemon says so, too, but it hangs up before such a body is sent.
    if !limits::REQUEST_BODY.allows(body.len()) {
        let allowed = limits::REQUEST_BODY.allowed;
        let message = format!("the request body is longer than {allowed} bytes");
        return Err(Failure::new(ErrorCode::PayloadTooLarge, message)
            .suggest(format!("send at most {allowed} bytes"))
            .detail("limit", limits::REQUEST_BODY.name)
            .detail("measured", body.len())
            .detail("allowed", allowed)
            .detail("howMeasured", limits::REQUEST_BODY.how_measured)
            .into());
    }
    Ok(call.json_bytes(body))
}

/// Sends the arguments of a tool without a body as path and query of its endpoint, which takes project
/// and run only to compare them with the token's.
fn with_parameters<'c>(
    tool: ToolName,
    mut call: Call<'c>,
    arguments: &Map<String, Value>,
) -> Result<Call<'c>, Envelope> {
    let route = tool.operation().route();
    let mut arguments = arguments.clone();
    let mut issues = Vec::new();
    for parameter in route.parameters() {
        let name = format!("{parameter}Id");
        match arguments.shift_remove(&name).as_ref().and_then(Value::as_str) {
            Some(id) => call = call.parameter(id),
            None => issues.push(
                Issue::new(format!("/{name}"), "required", format!("`{name}` is missing"))
                    .fix(format!("add `{name}`, as the list has it")),
            ),
        }
    }
    for (name, value) in &arguments {
        let known = route.query.iter().find(|known| known.name.as_str() == name);
        let place = format!("/{name}");
        match (known, value) {
            (Some(known), Value::String(text)) => call = call.query(known.name, text),
            (Some(known), Value::Number(number)) => call = call.query(known.name, number),
            // Some clients send what they leave out.
            (Some(_), Value::Null) => {}
            (Some(_), Value::Bool(_) | Value::Array(_) | Value::Object(_)) => issues.push(
                Issue::new(place, "wrong_type", format!("`{name}` is a text or a number"))
                    .fix(format!("send `{name}` as a text")),
            ),
            (None, _) => {
                let names = route.query.iter().map(|known| known.name.as_str());
                let issue = Issue::new(place, "unknown_field", "the tool has no such argument");
                issues.push(match nearest_name(name, names) {
                    Some(near) => issue.fix(format!("rename it to `{near}`")),
                    None => issue.fix(format!("leave `{name}` out")),
                });
            }
        }
    }
    if issues.is_empty() {
        Ok(call)
    } else {
        Err(Failure::validation(ErrorCode::BadRequest, &issues).into())
    }
}
