//! MCP: the SDK's own client on the pipes of `od mcp live-artifacts`.

use std::process::Stdio;

use rmcp::model::{CallToolRequestParams, CallToolResult, ProtocolVersion};
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::Value;
use tokio::process::Command;

use crate::corpus::Tool;

/// What a call came to.
pub(crate) struct Called {
    pub(crate) result: CallToolResult,
    /// The output schema that the server itself lists for the tool.
    pub(crate) output_schema: Value,
}

/// Starts a server, opens the protocol, looks the tool up, calls it, closes.
///
/// Odd turns open by `initialize`, even ones by `server/discover`.
pub(crate) async fn call(
    (url, daemon_id): (&str, &str),
    token: &str,
    tool: Tool,
    arguments: &Value,
    turn: usize,
) -> Called {
    let name = match tool {
        Tool::Create => "od_live_artifacts_create",
        Tool::List => "od_live_artifacts_list",
        Tool::Get => "od_live_artifacts_get",
        Tool::Delete => "od_live_artifacts_delete",
        Tool::Update => "od_live_artifacts_update",
        Tool::Refresh => "od_live_artifacts_refresh",
        Tool::Connectors => "od_connectors_list",
        Tool::Execute => "od_connectors_execute",
        Tool::Validate => "od_live_artifacts_validate",
    };
    let mut server = Command::new(env!("CARGO_BIN_EXE_od"))
        .args(["mcp", "live-artifacts"])
        .env_clear()
        .env("OD_DAEMON_URL", url)
        .env("OD_DAEMON_ID", daemon_id)
        .env("OD_TOOL_TOKEN", token)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let pipes = (server.stdout.take().unwrap(), server.stdin.take().unwrap());
    let mode = if turn % 2 == 1 {
        ClientLifecycleMode::Initialize
    } else {
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
    };
    let client = ().serve_with_lifecycle(pipes, mode).await.unwrap();
    let tools = client.list_all_tools().await.unwrap();
    let listed = tools.iter().find(|listed| listed.name == name).unwrap();
    let output_schema = Value::Object(listed.output_schema.as_deref().unwrap().clone());
    let asked =
        CallToolRequestParams::new(name).with_arguments(arguments.as_object().unwrap().clone());
    let result = client.call_tool(asked).await.unwrap();
    client.cancel().await.unwrap();
    assert!(server.wait().await.unwrap().success(), "the server ends well when its input closes");
    Called { result, output_schema }
}
