//! A client that writes lines and reads lines, to see exactly what goes over the pipe.

use od_client::{Bearer, Client};
use od_core::error::{ErrorCode, Failure};
use od_mcp::{Door, GuidePage, ServeError, Server};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

/// A server and the two ends of its pipe.
pub(crate) struct Session {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    server: JoinHandle<Result<(), ServeError>>,
    last_id: u64,
}

/// A guide of two pages.
pub(crate) fn guide() -> Vec<GuidePage> {
    vec![
        GuidePage { name: "", text: "# Guide" },
        GuidePage { name: "references/more.md", text: "# More" },
    ]
}

/// A door to the daemon at an address.
pub(crate) fn door(url: &str) -> Door {
    let client = Client::new(url, Bearer::Token("odt.v1.test".to_owned()));
    Door::new(client.map_err(Failure::from))
}

/// A door that leads nowhere, as without `od run`.
pub(crate) fn no_door() -> Door {
    Door::new(Err(Failure::new(ErrorCode::ToolTokenMissing, "OD_TOOL_TOKEN is not set")
        .suggest("start the agent with `od run -- COMMAND`")))
}

impl Session {
    /// Starts a server.
    pub(crate) fn start(door: Door) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        let server = tokio::spawn(od_mcp::serve(Server::new(door, guide()), reader, writer));
        let (reader, writer) = tokio::io::split(ours);
        Self { lines: BufReader::new(reader).lines(), writer, server, last_id: 0 }
    }

    /// Starts a server and opens the protocol by `initialize`.
    pub(crate) async fn initialized(door: Door, version: &str) -> Self {
        let mut session = Self::start(door);
        session.request("initialize", initialize(version)).await;
        session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        session
    }

    /// Writes one message.
    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string()).await;
    }

    /// Writes one line, whatever it is.
    pub(crate) async fn send_line(&mut self, line: &str) {
        self.writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Writes a request and returns its id.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&message).await;
        id
    }

    /// Reads the next message.
    pub(crate) async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().expect("the server is still there");
        serde_json::from_str(&line).unwrap()
    }

    /// Writes a request and reads its answer.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        let answer = self.next().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool and returns the result.
    pub(crate) async fn call(&mut self, name: &str, arguments: Value) -> Value {
        let answer =
            self.request("tools/call", json!({ "name": name, "arguments": arguments })).await;
        answer["result"].clone()
    }

    /// Closes the client's side and returns how the server ended.
    pub(crate) async fn close(mut self) -> Result<(), ServeError> {
        self.writer.shutdown().await.unwrap();
        self.server.await.unwrap()
    }
}

/// The params of `initialize`.
pub(crate) fn initialize(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    })
}

/// The `_meta` that every request of the newer lifecycle carries.
pub(crate) fn request_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}
