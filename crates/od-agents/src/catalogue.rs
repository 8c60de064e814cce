//! The agents that od knows, as data. It comes with the program and from nowhere else.

use od_ports::agents::OpenConversation;

/// One agent of the catalogue.
#[derive(Debug)]
pub(crate) struct KnownAgent {
    /// The name a session is opened with.
    pub(crate) id: &'static str,
    /// The name that people know.
    pub(crate) name: &'static str,
    /// The program that speaks the protocol, and its arguments.
    pub(crate) command: &'static [&'static str],
    /// Variables that it is given, so that it asks.
    pub(crate) env: &'static [(&'static str, &'static str)],
    /// The beginnings of variables of the person that it is handed on.
    pub(crate) inherits: &'static [&'static str],
    /// The mode in which it asks before it acts; none where it has but one.
    pub(crate) mode: Option<&'static str>,
    /// Where the full name of a tool stands in its questions.
    pub(crate) tool_name: ToolNamePlace,
    /// Where it is told the token of od's tools.
    pub(crate) token: TokenPlace,
    /// The way in which a conversation goes on in another process.
    pub(crate) resume: ResumeKind,
    /// The version that od was tried with.
    pub(crate) tested: Option<&'static str>,
    /// The line that installs it.
    pub(crate) install: &'static str,
    /// The line that signs a person in.
    pub(crate) login: &'static str,
}

/// The place where an agent writes the full name of a tool, and no model does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ToolNamePlace {
    /// In a field of its own, or in `_meta`.
    Field,
    /// In front of `__` in the id of the call.
    CallId,
    /// Nowhere: each of its questions is asked.
    Nowhere,
}

/// The place where an agent finds the token of od's tools.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum TokenPlace {
    /// In the message that opens the conversation.
    Message,
    /// In [`TOKEN_VARIABLE`], which the message names: it hands the message on as an argument of another
    /// process, and puts variables in their places there.
    Variable,
}

/// The variable of an agent whose token stands in one.
pub(crate) const TOKEN_VARIABLE: &str = "OD_CHAT_TOKEN";

/// The request by which a conversation goes on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ResumeKind {
    /// `session/resume`.
    Resume,
    /// `session/load`, which tells everything again.
    Load,
}

impl ResumeKind {
    pub(crate) const fn method(self) -> &'static str {
        match self {
            Self::Resume => "session/resume",
            Self::Load => "session/load",
        }
    }
}

/// Every agent, in the order in which people are shown them.
pub(crate) const AGENTS: &[KnownAgent] = &[
    KnownAgent {
        id: "claude",
        name: "Claude Code",
        command: &["claude-agent-acp"],
        env: &[],
        inherits: &["ANTHROPIC_", "CLAUDE_", "AWS_", "GOOGLE_", "VERTEX_", "IS_SANDBOX"],
        mode: Some("default"),
        tool_name: ToolNamePlace::Field,
        token: TokenPlace::Variable,
        resume: ResumeKind::Resume,
        tested: Some("0.100.0"),
        install: "npm install -g @agentclientprotocol/claude-agent-acp",
        login: "claude /login",
    },
    KnownAgent {
        id: "codex",
        name: "Codex",
        command: &["codex-acp"],
        env: &[],
        inherits: &["OPENAI_", "CODEX_"],
        mode: Some("workspace-write"),
        tool_name: ToolNamePlace::Nowhere,
        token: TokenPlace::Message,
        resume: ResumeKind::Resume,
        tested: Some("2.6.0"),
        install: "npm install -g @agentclientprotocol/codex-acp",
        login: "codex login",
    },
    KnownAgent {
        id: "gemini",
        name: "Gemini CLI",
        command: &["gemini", "--acp"],
        env: &[],
        inherits: &["GEMINI_", "GOOGLE_"],
        mode: Some("default"),
        tool_name: ToolNamePlace::CallId,
        token: TokenPlace::Message,
        resume: ResumeKind::Load,
        tested: Some("0.61.0"),
        install: "npm install -g @google/gemini-cli",
        login: "gemini",
    },
    KnownAgent {
        id: "opencode",
        name: "OpenCode",
        command: &["opencode", "acp"],
        env: &[("OPENCODE_PERMISSION", r#"{"bash":"ask","edit":"ask"}"#)],
        inherits: &["OPENCODE_", "ANTHROPIC_", "OPENAI_", "GEMINI_", "OPENROUTER_"],
        mode: None,
        tool_name: ToolNamePlace::Nowhere,
        token: TokenPlace::Message,
        resume: ResumeKind::Resume,
        tested: Some("1.18.33"),
        install: "npm install -g opencode-ai",
        login: "opencode auth login",
    },
    KnownAgent {
        id: "qwen",
        name: "Qwen Code",
        command: &["qwen", "--acp"],
        env: &[],
        inherits: &["QWEN_", "DASHSCOPE_", "OPENAI_"],
        mode: Some("default"),
        tool_name: ToolNamePlace::Field,
        token: TokenPlace::Message,
        resume: ResumeKind::Resume,
        tested: Some("0.24.4"),
        install: "npm install -g @qwen-code/qwen-code",
        login: "qwen",
    },
    KnownAgent {
        id: "copilot",
        name: "GitHub Copilot CLI",
        command: &["copilot", "--acp"],
        env: &[],
        inherits: &["COPILOT_", "GH_", "GITHUB_"],
        mode: None,
        tool_name: ToolNamePlace::Nowhere,
        token: TokenPlace::Message,
        resume: ResumeKind::Load,
        tested: Some("1.0.102"),
        install: "npm install -g @github/copilot",
        login: "copilot login",
    },
    KnownAgent {
        id: "cursor",
        name: "Cursor",
        command: &["cursor-agent", "acp"],
        env: &[],
        inherits: &["CURSOR_"],
        mode: None,
        tool_name: ToolNamePlace::Nowhere,
        token: TokenPlace::Message,
        resume: ResumeKind::Load,
        tested: None,
        install: "curl https://cursor.com/install -fsS | bash",
        login: "cursor-agent login",
    },
];

/// Returns the agent of a name.
pub(crate) fn find(id: &str) -> Option<&'static KnownAgent> {
    AGENTS.iter().find(|agent| agent.id == id)
}

impl KnownAgent {
    /// Returns the full name of the tool that a question is about, where the agent says it.
    pub(crate) fn tool_name(&self, call_id: &str, field: Option<String>) -> Option<String> {
        match self.tool_name {
            ToolNamePlace::Field => field,
            ToolNamePlace::CallId => call_id.split_once("__").map(|(name, _)| name.to_owned()),
            ToolNamePlace::Nowhere => None,
        }
    }

    /// Returns the method and whether it is another's conversation that goes on.
    pub(crate) fn opening(&self, conversation: &OpenConversation) -> &'static str {
        if conversation.resume.is_some() { self.resume.method() } else { "session/new" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_agent_is_started_in_a_mode_that_asks_nothing() {
        for agent in AGENTS {
            let words = agent.command.iter().chain(agent.mode.iter());
            for word in words {
                for bypass in ["bypass", "yolo", "full-access", "allow-all", "dangerously", "auto"]
                {
                    assert!(!word.contains(bypass), "{}: {word}", agent.id);
                }
            }
            assert!(agent.id.parse::<od_core::ids::AgentName>().is_ok());
            assert!(agent.inherits.iter().all(|prefix| !prefix.starts_with("OD_")));
        }
    }

    #[test]
    fn a_shell_command_that_looks_like_a_tool_has_no_tools_name() {
        let gemini = find("gemini").unwrap();
        let call = "run_shell_command__mcp_od_1_od_live_artifacts_create__1";
        assert_eq!(gemini.tool_name(call, None).as_deref(), Some("run_shell_command"));
        let own = "mcp_od_1_od_live_artifacts_create__mcp_od_1_od_live_artifacts_create_17_0";
        assert_eq!(
            gemini.tool_name(own, None).as_deref(),
            Some("mcp_od_1_od_live_artifacts_create")
        );
        assert_eq!(find("codex").unwrap().tool_name(own, Some("x".to_owned())), None);
    }
}
