//! `POST /mcp`: the agent's tools for clients that speak the Model Context Protocol over HTTP.
//!
//! The messages are another crate's, which stands beside this one: the program puts its server in. An
//! answer is plain JSON; there is no stream, no session and nothing of the server's own to send, so GET
//! and DELETE are refused like any method that a route does not take.

use std::fmt;
use std::pin::Pin;

use hyper::StatusCode;
use hyper::body::{Bytes, Incoming};
use od_core::error::{ErrorCode, Failure};
use serde_json::Value;

use crate::auth;
use crate::exchange::Exchange;
use crate::http::reply::Reply;

/// An answer being made; nothing for a message that takes none.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Option<Value>> + Send + 'a>>;

/// Answers messages of the Model Context Protocol.
///
/// # Contract
///
/// - Each message stands alone: of two that carry the same id neither knows of the other.
/// - Whatever is no message gets an answer that says so.
pub trait McpServer: fmt::Debug + Send + Sync {
    /// Takes one message of an agent whose token was found to be live.
    fn answer<'a>(&'a self, message: McpMessage<'a>) -> Answering<'a>;
}

/// One message, and where its tools are to be called.
#[derive(Clone, Copy)]
pub struct McpMessage<'a> {
    /// The URL of this daemon.
    pub daemon_url: &'a str,
    /// The token that the message came with.
    pub token: &'a str,
    /// The message as it was received.
    pub body: &'a [u8],
}

impl fmt::Debug for McpMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Never the token.
        f.debug_struct("McpMessage").field("len", &self.body.len()).finish_non_exhaustive()
    }
}

/// Hands a message on and answers it.
pub(crate) async fn receive(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let Some(server) = &exchange.daemon.mcp else {
        return Err(Failure::new(ErrorCode::NotFound, "this daemon serves no MCP")
            .suggest("start it with `od serve`"));
    };
    let body = exchange.bytes(body).await?;
    let token = auth::bearer(&exchange.head.headers).unwrap_or_default();
    let daemon_url = exchange.daemon.urls.api.as_str();
    let answer = server.answer(McpMessage { daemon_url, token, body: &body }).await;
    Ok(match answer {
        Some(answer) => Reply::json(&answer),
        None => Reply::Json { status: StatusCode::ACCEPTED, body: Bytes::new(), header: None },
    })
}
