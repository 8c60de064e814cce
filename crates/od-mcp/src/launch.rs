//! Launch descriptors: what a person pastes into an agent's configuration. Nothing here writes it.

use serde_json::{Map, Value, json};

/// The name of the server in a descriptor.
pub const SERVER: &str = "od";

/// An agent whose configuration format is known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Codex.
    Codex,
    /// Copilot CLI.
    Copilot,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// Qwen Code.
    Qwen,
    /// Visual Studio Code.
    Vscode,
    /// Zed.
    Zed,
}

impl Agent {
    /// Every agent, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Claude,
        Self::ClaudeDesktop,
        Self::Codex,
        Self::Copilot,
        Self::Cursor,
        Self::Gemini,
        Self::Opencode,
        Self::Qwen,
        Self::Vscode,
        Self::Zed,
    ];

    /// Returns the name that `--agent` takes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Qwen => "qwen",
            Self::Vscode => "vscode",
            Self::Zed => "zed",
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
            Self::Claude => {
                ".mcp.json of a project, or `mcpServers` in ~/.claude.json for all of them"
            }
            Self::ClaudeDesktop => "claude_desktop_config.json (Settings, Developer, Edit Config)",
            Self::Codex => "config.toml in CODEX_HOME, which is ~/.codex",
            Self::Copilot => "~/.copilot/mcp-config.json",
            Self::Cursor => "~/.cursor/mcp.json, or .cursor/mcp.json of a project",
            Self::Gemini => "~/.gemini/settings.json, or .gemini/settings.json of a project",
            Self::Opencode => "~/.config/opencode/opencode.json, or opencode.json of a project",
            Self::Qwen => "~/.qwen/settings.json, or .qwen/settings.json of a project",
            Self::Vscode => {
                ".vscode/mcp.json, or the user's mcp.json (MCP: Open User Configuration)"
            }
            Self::Zed => "~/.config/zed/settings.json",
        }
    }
}

/// The command line of a server, as an agent launches it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Launch {
    program: String,
    arguments: Vec<String>,
    env: Vec<(String, String)>,
}

impl Launch {
    /// Launches `program`, which is `od`, as a server that finds daemon, project and run by itself: from any
    /// directory, on any day. No descriptor holds a secret.
    #[must_use]
    pub fn standing(program: &str, project: Option<&str>) -> Self {
        let mut arguments = vec!["mcp".to_owned(), "live-artifacts".to_owned()];
        if let Some(project) = project {
            arguments.extend(["--project".to_owned(), project.to_owned()]);
        }
        Self { program: program.to_owned(), arguments, env: Vec::new() }
    }

    /// Sets variables that the server needs and the agent may not hand on.
    #[must_use]
    pub fn with_env(mut self, env: impl IntoIterator<Item = (String, String)>) -> Self {
        self.env.extend(env);
        self
    }

    /// Returns the descriptor as a value, in the agent's own shape.
    #[must_use]
    pub fn descriptor(&self, agent: Agent) -> Value {
        let (name, entry) = match agent {
            Agent::Claude => ("mcpServers", self.entry(&[("type", json!("stdio"))], "env")),
            Agent::ClaudeDesktop | Agent::Cursor | Agent::Gemini | Agent::Qwen => {
                ("mcpServers", self.entry(&[], "env"))
            }
            Agent::Copilot => {
                let mut entry = self.entry(&[("type", json!("local"))], "env");
                entry.insert("tools".to_owned(), json!(["*"]));
                ("mcpServers", entry)
            }
            Agent::Codex => ("mcp_servers", self.entry(&[], "env")),
            Agent::Vscode => ("servers", self.entry(&[("type", json!("stdio"))], "env")),
            Agent::Zed => ("context_servers", self.entry(&[("source", json!("custom"))], "env")),
            Agent::Opencode => {
                let mut entry = self.entry(&[("type", json!("local"))], "environment");
                let command: Vec<&String> =
                    std::iter::once(&self.program).chain(&self.arguments).collect();
                entry.insert("command".to_owned(), json!(command));
                entry.shift_remove("args");
                entry.insert("enabled".to_owned(), json!(true));
                ("mcp", entry)
            }
        };
        let mut descriptor = json!({ name: { SERVER: entry } });
        if agent == Agent::Opencode {
            descriptor["$schema"] = json!("https://opencode.ai/config.json");
        }
        descriptor
    }

    fn entry(&self, first: &[(&str, Value)], env: &str) -> Map<String, Value> {
        let mut entry = Map::new();
        entry.extend(first.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        entry.insert("command".to_owned(), json!(self.program));
        entry.insert("args".to_owned(), json!(self.arguments));
        if !self.env.is_empty() {
            let pairs = self.env.iter().map(|(name, value)| (name.clone(), json!(value)));
            entry.insert(env.to_owned(), Value::Object(pairs.collect()));
        }
        entry
    }

    /// Returns the descriptor as the text of the agent's file.
    #[must_use]
    pub fn text(&self, agent: Agent) -> String {
        match agent {
            Agent::Codex => {
                let words: Vec<String> =
                    self.arguments.iter().map(|word| toml_text(word)).collect();
                let mut text = format!(
                    "[mcp_servers.{SERVER}]\ncommand = {}\nargs = [{}]\n",
                    toml_text(&self.program),
                    words.join(", ")
                );
                if !self.env.is_empty() {
                    let pairs = self.env.iter();
                    let pairs = pairs.map(|(name, value)| format!("{name} = {}", toml_text(value)));
                    text.push_str(&format!(
                        "env = {{ {} }}\n",
                        pairs.collect::<Vec<_>>().join(", ")
                    ));
                }
                text
            }
            Agent::Claude
            | Agent::ClaudeDesktop
            | Agent::Copilot
            | Agent::Cursor
            | Agent::Gemini
            | Agent::Opencode
            | Agent::Qwen
            | Agent::Vscode
            | Agent::Zed => format!("{:#}\n", self.descriptor(agent)),
        }
    }
}

/// Writes a TOML basic string: JSON's escapes are a subset of TOML's, DEL aside.
#[must_use]
pub fn toml_text(text: &str) -> String {
    json!(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_descriptor_launches_the_standing_server_and_holds_no_token() {
        let launch = Launch::standing("/opt/od", Some("site"));
        for agent in Agent::ALL {
            assert_eq!(Agent::from_name(agent.as_str()), Some(agent));
            let text = launch.text(agent);
            let words: Vec<&str> = text.split('"').collect();
            for word in ["/opt/od", "mcp", "live-artifacts", "--project", "site"] {
                assert!(words.contains(&word), "{word} in {text}");
            }
            assert!(!text.contains("TOKEN") && !text.contains("odt."), "{text}");
        }
        assert_eq!(Agent::from_name("clippy"), None);
    }

    #[test]
    fn codex_reads_toml() {
        let env = [("OD_HOME".to_owned(), "/h".to_owned())];
        assert_eq!(
            Launch::standing("/a \"b\"/od", None).with_env(env).text(Agent::Codex),
            "[mcp_servers.od]\ncommand = \"/a \\\"b\\\"/od\"\n\
             args = [\"mcp\", \"live-artifacts\"]\nenv = { OD_HOME = \"/h\" }\n"
        );
    }

    #[test]
    fn opencode_takes_one_list_and_its_own_word_for_variables() {
        let env = [("OD_HOME".to_owned(), "/h".to_owned())];
        let descriptor = Launch::standing("od", None).with_env(env).descriptor(Agent::Opencode);
        assert_eq!(
            descriptor["mcp"]["od"],
            json!({
                "type": "local", "command": ["od", "mcp", "live-artifacts"],
                "environment": { "OD_HOME": "/h" }, "enabled": true,
            })
        );
    }
}
