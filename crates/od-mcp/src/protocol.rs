//! The protocol: the only module that knows the MCP SDK.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use od_wire::error::Envelope;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, Implementation, JsonObject, ListToolsResult, MetaObject,
    PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{Peer, RequestContext, RoleServer, ServerInitializeError};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, interval};

use crate::arguments;
use crate::door::Door;
use crate::outcome::refusal_text;
use crate::tool::ToolName;

/// How often a client that asked hears that a call still runs.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);
/// Where a refused result keeps the daemon's envelope for programs.
const ERROR_META: &str = "od/error";
const INSTRUCTIONS: &str = "Live artifacts: HTML pages bound to JSON that a person opens, \
    refreshes and audits in a console. Connectors only read. After creating, changing or \
    refreshing an artifact, give the person its consoleUrl.";

/// Why the server ended other than by the end of its input.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// No runtime could be started.
    #[error("cannot start: {source}")]
    Runtime {
        /// What the system said.
        source: io::Error,
    },
    /// The client did not speak the protocol, or the connection broke, before a first request.
    #[error("the client did not open the protocol: {reason}")]
    Opening {
        /// What happened.
        reason: String,
    },
    /// The server's loop broke.
    #[error("the server broke off: {reason}")]
    Broken {
        /// What happened.
        reason: String,
    },
}

/// Serves stdin and stdout on this thread until stdin closes.
///
/// # Errors
///
/// Fails if no runtime starts or the client does not speak the protocol.
pub fn serve_stdio(door: Door) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| ServeError::Runtime { source })?;
    let served = runtime.block_on(async {
        let (reader, writer) = rmcp::transport::io::stdio_pipes();
        serve(door, reader, writer).await
    });
    // A blocked read of stdin must not keep the process.
    runtime.shutdown_background();
    served
}

/// Serves one client until its side closes.
///
/// # Errors
///
/// Fails if the client does not speak the protocol.
pub async fn serve(
    door: Door,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), ServeError> {
    let running = match Server::new(door).serve((reader, writer)).await {
        Ok(running) => running,
        // Closed before a first request: nothing was asked.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Opening { reason: error.to_string() }),
    };
    match running.waiting().await {
        Ok(_) => Ok(()),
        Err(error) => Err(ServeError::Broken { reason: error.to_string() }),
    }
}

/// One client's server.
struct Server {
    door: Door,
    tools: OnceLock<Vec<Tool>>,
}

impl Server {
    fn new(door: Door) -> Self {
        Self { door, tools: OnceLock::new() }
    }

    /// The tools are described when they are first asked for.
    fn tools(&self) -> &[Tool] {
        self.tools.get_or_init(|| ToolName::ALL.iter().map(|tool| described(*tool)).collect())
    }

    async fn call(
        &self,
        name: &str,
        mut given: JsonObject,
        whole_was_text: bool,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let described = self.tools().iter().find(|tool| tool.name == name);
        let (Some(tool), Some(described)) = (ToolName::from_name(name), described) else {
            return Err(ErrorData::invalid_params(format!("unknown tool: {name}"), None));
        };
        let mut read = arguments::read_texts(&mut given, &described.input_schema);
        if whole_was_text {
            read.insert(0, "arguments".to_owned());
        }
        let call = self.door.call(tool, given);
        let outcome = tokio::select! {
            outcome = call => outcome,
            // Never ends by itself: it only tells.
            () = tell_progress(tool, context) => return Err(cancelled()),
            // Nobody waits for the answer any more.
            () = context.ct.cancelled() => return Err(cancelled()),
        };
        Ok(result(outcome, &read))
    }
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("the call was cancelled", None)
}

/// Tells a client that asked how long a slow tool has been running; never returns.
async fn tell_progress(tool: ToolName, context: &RequestContext<RoleServer>) {
    if let Some(token) = context.meta.get_progress_token().filter(|_| tool.may_be_slow()) {
        tick(tool, &token, &context.peer).await;
    }
    std::future::pending::<()>().await;
}

async fn tick(tool: ToolName, token: &ProgressToken, peer: &Peer<RoleServer>) {
    let started = Instant::now();
    let mut ticks = interval(PROGRESS_EVERY);
    loop {
        ticks.tick().await;
        let seconds = started.elapsed().as_secs();
        #[expect(clippy::cast_precision_loss, reason = "a call lasts minutes, not 2^52 seconds")]
        let progress = ProgressNotificationParam::new(token.clone(), seconds as f64)
            .with_message(format!("{} running for {seconds} s", tool.as_str()));
        // A client that is gone needs no progress; the loop above ends with its connection.
        if peer.notify_progress(progress).await.is_err() {
            return;
        }
    }
}

fn result(outcome: Result<Value, Envelope>, read_texts: &[String]) -> CallToolResult {
    let mut result = match outcome {
        Ok(payload) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(payload.to_string())]);
            result.structured_content = Some(payload);
            result
        }
        Err(Envelope { error }) => {
            let text = refusal_text(&error.failure);
            let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
            let mut meta = MetaObject::new();
            // Strings, numbers and JSON only: writing them cannot fail.
            let error = serde_json::to_value(error).unwrap_or_default();
            meta.0.insert(ERROR_META.to_owned(), error);
            result.meta = Some(meta);
            result
        }
    };
    if !read_texts.is_empty() {
        result.content.push(ContentBlock::text(format!(
            "Note: {} came as the text of JSON and was read as JSON. Send the object itself.",
            read_texts.join(", ")
        )));
    }
    result
}

fn described(tool: ToolName) -> Tool {
    let hints = tool.hints();
    let annotations = ToolAnnotations::new()
        .read_only(hints.read_only)
        .destructive(hints.destructive)
        .idempotent(hints.idempotent)
        .open_world(hints.open_world);
    Tool::new(tool.as_str(), tool.description(), object(tool.input_schema()))
        .with_raw_output_schema(object(tool.output_schema()))
        .with_annotations(annotations)
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(fields) => Arc::new(fields),
        // Every schema of a struct is an object.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Arc::default()
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("od-live-artifacts", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|page| page.cursor.is_some()) {
            return Err(ErrorData::invalid_params("there is only one page of tools", None));
        }
        Ok(ListToolsResult::with_all_items(self.tools().to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default();
        self.call(&request.name, given, false, &context).await.map(CallToolResponse::Complete)
    }

    /// The SDK hands over what fits none of its types: a call whose arguments are one text, too.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        if method != "tools/call" {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None));
        }
        let params = params.unwrap_or_default();
        let (Some(name), Some(given)) =
            (params.get("name").and_then(Value::as_str), arguments_as_text(&params))
        else {
            let wanted = "tools/call takes `name` and an object `arguments`";
            return Err(ErrorData::invalid_params(wanted, None));
        };
        let result = self.call(name, given, true, &context).await?;
        // Texts, numbers and JSON only: writing them cannot fail.
        Ok(CustomResult::new(serde_json::to_value(result).unwrap_or_default()))
    }
}

fn arguments_as_text(params: &Value) -> Option<Map<String, Value>> {
    let text = params.get("arguments")?.as_str()?;
    if text.trim().is_empty() { Some(Map::new()) } else { serde_json::from_str(text).ok() }
}
