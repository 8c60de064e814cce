//! Flags and settings that make an agent see od's tools when `od run --agent` starts it.
//!
//! Each was tried with the real program (`cargo xtask agents`). None holds the token: the server takes it
//! from the environment that the agent hands on.

use std::ffi::OsString;
use std::path::Path;

use od_mcp::launch::{SERVER, toml_text};
use serde_json::{Value, json};

use crate::args::RunAgent;

/// The variables of a run that its server needs.
const RUN_VARIABLES: [&str; 6] =
    ["OD_DAEMON_ID", "OD_DAEMON_URL", "OD_DATA_DIR", "OD_HOME", "OD_RUN_ID", "OD_TOOL_TOKEN"];

/// Changes to the command that a person wrote.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct Additions {
    /// Stand before the command's own arguments.
    pub(super) arguments: Vec<OsString>,
    /// Variables besides those of the run.
    pub(super) env: Vec<(&'static str, OsString)>,
    /// A settings file, and the variable that names it to the agent.
    pub(super) settings: Option<(&'static str, Value)>,
    /// What the person has to know.
    pub(super) remark: Option<&'static str>,
}

/// Returns what has to be added for an agent; `od` is this program.
pub(super) fn additions(agent: RunAgent, od: &Path) -> Additions {
    let od = od.to_string_lossy();
    let arguments = json!(["mcp", "live-artifacts"]);
    let servers = |server: Value| json!({ "mcpServers": { SERVER: server } });
    match agent {
        RunAgent::Claude => {
            let config = servers(json!({ "type": "stdio", "command": od, "args": arguments }));
            Additions {
                // With `=`: both flags take many values and would swallow a prompt that follows.
                arguments: vec![
                    format!("--mcp-config={config}").into(),
                    format!("--allowedTools=mcp__{SERVER}__*").into(),
                ],
                ..Additions::default()
            }
        }
        RunAgent::Codex => {
            // Codex hands an MCP server none but the variables that it is told by name, and without a
            // person to ask it cancels the calls of tools that may replace something.
            let config = format!(
                "mcp_servers.{SERVER}={{command={},args={arguments},env_vars={},\
                 default_tools_approval_mode=\"approve\"}}",
                toml_text(&od),
                json!(RUN_VARIABLES)
            );
            Additions { arguments: vec!["-c".into(), config.into()], ..Additions::default() }
        }
        RunAgent::Copilot => {
            let config = servers(json!({
                "type": "local", "command": od, "args": arguments, "tools": ["*"],
                "env": expanded("${", "}"),
            }));
            Additions {
                arguments: vec![
                    "--additional-mcp-config".into(),
                    config.to_string().into(),
                    format!("--allow-tool={SERVER}").into(),
                ],
                ..Additions::default()
            }
        }
        RunAgent::Gemini => Additions {
            settings: Some(("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", trusted_server(&od))),
            remark: Some(
                "Gemini passes od's tools over in a folder that it does not trust (add `--skip-trust`), and \
                 where others may write to a directory above OD_HOME, as /tmp is (add the entry of \
                 `od mcp config --agent gemini` to its settings then)",
            ),
            ..Additions::default()
        },
        RunAgent::Qwen => {
            // It hands its own environment on, and expands nothing in a flag.
            let inherited = servers(json!({ "command": od, "args": arguments, "trust": true }));
            Additions {
                arguments: vec!["--mcp-config".into(), inherited.to_string().into()],
                ..Additions::default()
            }
        }
        RunAgent::Opencode => {
            let config = json!({ "mcp": { SERVER: {
                "type": "local", "command": [od, "mcp", "live-artifacts"], "enabled": true,
            } } });
            Additions {
                env: vec![("OPENCODE_CONFIG_CONTENT", config.to_string().into())],
                ..Additions::default()
            }
        }
        RunAgent::Cursor => Additions {
            remark: Some(
                "Cursor reads MCP servers from its own files: `od mcp config --agent cursor` \
                 prints the entry; its shell commands have od's variables",
            ),
            ..Additions::default()
        },
    }
}

/// Returns a server in the settings of Gemini, whose tools run without a question each.
fn trusted_server(od: &str) -> Value {
    json!({ "mcpServers": { SERVER: {
        "command": od, "args": ["mcp", "live-artifacts"], "env": expanded("$", ""), "trust": true,
    } } })
}

/// Returns the variables of the run as references that the agent expands: names like TOKEN are taken out of
/// the environment of a server otherwise.
fn expanded(open: &str, close: &str) -> Value {
    let pairs = RUN_VARIABLES.map(|name| (name.to_owned(), json!(format!("{open}{name}{close}"))));
    Value::Object(pairs.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_but_cursor_is_told_of_the_server_and_none_of_the_token() {
        for agent in RunAgent::ALL {
            let added = additions(agent, Path::new("/opt/od"));
            let said = format!("{added:?}");
            assert!(said.contains("live-artifacts") || agent == RunAgent::Cursor, "{said}");
            assert!(!said.contains("odt."), "{said}");
        }
    }

    #[test]
    fn codex_gets_one_table_in_toml() {
        let added = additions(RunAgent::Codex, Path::new("/o d/od"));
        assert_eq!(
            added.arguments,
            [
                "-c",
                "mcp_servers.od={command=\"/o d/od\",args=[\"mcp\",\"live-artifacts\"],\
             env_vars=[\"OD_DAEMON_ID\",\"OD_DAEMON_URL\",\"OD_DATA_DIR\",\"OD_HOME\",\"OD_RUN_ID\",\"OD_TOOL_TOKEN\"],\
             default_tools_approval_mode=\"approve\"}",
            ]
        );
    }
}
