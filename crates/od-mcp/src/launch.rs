//! Launch descriptors: what a person pastes into an agent's configuration. Nothing here writes it.

use serde_json::{Value, json};

/// The name of the server in a descriptor.
const SERVER: &str = "od";

/// An agent whose configuration format is known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// Qwen Code.
    Qwen,
}

impl Agent {
    /// Every agent, in the order of the documentation.
    pub const ALL: [Self; 6] =
        [Self::Claude, Self::Codex, Self::Cursor, Self::Gemini, Self::Opencode, Self::Qwen];

    /// Returns the name that `--agent` takes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Qwen => "qwen",
        }
    }

    /// Returns the agent of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.as_str() == name)
    }

    /// Returns where the agent reads such a descriptor from, beside its flags.
    #[must_use]
    pub const fn place(self) -> &'static str {
        match self {
            Self::Claude => ".mcp.json, or a file given with `claude --mcp-config FILE`",
            Self::Codex => "config.toml in CODEX_HOME",
            Self::Cursor => ".cursor/mcp.json",
            Self::Gemini => ".gemini/settings.json",
            Self::Opencode => "opencode.json",
            Self::Qwen => ".qwen/settings.json",
        }
    }
}

/// How an agent launches the server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Launch {
    program: String,
    arguments: Vec<String>,
}

impl Launch {
    /// Launches `program`, which is `od`, inside a run of its own: `od run -- od mcp live-artifacts`.
    ///
    /// The run gives the server its token and ends with it, so no descriptor holds a secret.
    #[must_use]
    pub fn in_a_run(program: &str) -> Self {
        let arguments = ["run", "--", program, "mcp", "live-artifacts"];
        Self { program: program.to_owned(), arguments: arguments.map(str::to_owned).to_vec() }
    }

    /// Returns the descriptor as a value, in the agent's own shape.
    #[must_use]
    pub fn descriptor(&self, agent: Agent) -> Value {
        let Self { program, arguments } = self;
        match agent {
            Agent::Claude => json!({ "mcpServers": { SERVER: {
                "type": "stdio", "command": program, "args": arguments,
            } } }),
            Agent::Cursor | Agent::Gemini | Agent::Qwen => json!({ "mcpServers": { SERVER: {
                "command": program, "args": arguments,
            } } }),
            Agent::Codex => json!({ "mcp_servers": { SERVER: {
                "command": program, "args": arguments,
            } } }),
            Agent::Opencode => {
                let command: Vec<&String> = std::iter::once(program).chain(arguments).collect();
                json!({
                    "$schema": "https://opencode.ai/config.json",
                    "mcp": { SERVER: { "type": "local", "command": command, "enabled": true } },
                })
            }
        }
    }

    /// Returns the descriptor as the text of the agent's file.
    #[must_use]
    pub fn text(&self, agent: Agent) -> String {
        match agent {
            Agent::Codex => format!(
                "[mcp_servers.{SERVER}]\ncommand = {}\nargs = [{}]\n",
                toml_text(&self.program),
                self.arguments.iter().map(|word| toml_text(word)).collect::<Vec<_>>().join(", ")
            ),
            Agent::Claude | Agent::Cursor | Agent::Gemini | Agent::Opencode | Agent::Qwen => {
                format!("{:#}\n", self.descriptor(agent))
            }
        }
    }
}

/// Writes a TOML basic string: JSON's escapes are a subset of TOML's, DEL aside.
fn toml_text(text: &str) -> String {
    json!(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_descriptor_goes_through_od_run_and_holds_no_token() {
        let launch = Launch::in_a_run("/opt/od");
        for agent in Agent::ALL {
            assert_eq!(Agent::from_name(agent.as_str()), Some(agent));
            let text = launch.text(agent);
            let words: Vec<&str> = text.split('"').collect();
            for word in ["run", "--", "/opt/od", "mcp", "live-artifacts"] {
                assert!(words.contains(&word), "{word} in {text}");
            }
            assert!(!text.contains("TOKEN") && !text.contains("odt."), "{text}");
        }
        assert_eq!(Agent::from_name("clippy"), None);
    }

    #[test]
    fn codex_reads_toml() {
        assert_eq!(
            Launch::in_a_run("/a \"b\"/od").text(Agent::Codex),
            "[mcp_servers.od]\ncommand = \"/a \\\"b\\\"/od\"\n\
             args = [\"run\", \"--\", \"/a \\\"b\\\"/od\", \"mcp\", \"live-artifacts\"]\n"
        );
    }

    #[test]
    fn opencode_takes_one_list() {
        let descriptor = Launch::in_a_run("od").descriptor(Agent::Opencode);
        assert_eq!(
            descriptor.pointer("/mcp/od/command"),
            Some(&json!(["od", "run", "--", "od", "mcp", "live-artifacts"]))
        );
    }
}
