//! The policy of permissions: everything is asked, but for od's own tools by their exact names.

use super::{Choice, ChoiceKind};
use crate::words::words;

/// The tools that od hands an agent in a session. A token says what they may do.
pub const OWN_TOOLS: [&str; 9] = [
    "od_live_artifacts_create",
    "od_live_artifacts_list",
    "od_live_artifacts_get",
    "od_live_artifacts_update",
    "od_live_artifacts_refresh",
    "od_live_artifacts_validate",
    "od_live_artifacts_delete",
    "od_connectors_list",
    "od_connectors_execute",
];

/// The name of the tool server of one session.
///
/// It is made anew for each: a server that a project's own settings bring cannot have it, so its tools
/// cannot pass for od's.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolServer(String);

impl ToolServer {
    /// Makes a name that nobody could have known: `od_<8 hex>`.
    #[must_use]
    pub fn generate(entropy: [u8; 4]) -> Self {
        Self(format!("od_{}", crate::ids::hex(&entropy)))
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether an agent's full name of a tool is that of one of od's own, on this server.
    #[must_use]
    pub fn owns(&self, tool: &str) -> bool {
        ["mcp__", "mcp_"].iter().any(|prefix| {
            let rest = tool.strip_prefix(prefix).and_then(|rest| rest.strip_prefix(&self.0));
            rest.is_some_and(|rest| {
                let name = rest.strip_prefix(if *prefix == "mcp__" { "__" } else { "_" });
                name.is_some_and(|name| OWN_TOOLS.contains(&name))
            })
        })
    }
}

words! {
    /// A person's answer, whatever the agent calls it.
    Reply {
        /// Yes, to this call.
        Allow = "allow",
        /// No, to this call.
        Reject = "reject",
    }
}

/// Chooses among an agent's answers by their kind, never by their words or order: the narrowest that
/// means what was said.
#[must_use]
pub fn choose(reply: Reply, choices: &[Choice]) -> Option<&Choice> {
    let kinds = match reply {
        // Never "always": what was allowed for good would not be asked again.
        Reply::Allow => [ChoiceKind::AllowOnce, ChoiceKind::AllowOnce],
        Reply::Reject => [ChoiceKind::RejectOnce, ChoiceKind::RejectAlways],
    };
    kinds.into_iter().find_map(|kind| choices.iter().find(|choice| choice.kind == kind))
}

/// Decides about a question by itself, if the policy may: od's own tools are allowed, once each.
#[must_use]
pub fn decide<'c>(
    server: &ToolServer,
    tool: Option<&str>,
    choices: &'c [Choice],
) -> Option<&'c Choice> {
    tool.filter(|tool| server.owns(tool)).and_then(|_| choose(Reply::Allow, choices))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn choice(id: &str, kind: ChoiceKind) -> Choice {
        Choice { id: id.to_owned(), name: "Yes".to_owned(), kind }
    }

    fn choices() -> Vec<Choice> {
        vec![
            choice("all", ChoiceKind::AllowAlways),
            choice("no", ChoiceKind::RejectOnce),
            choice("once", ChoiceKind::AllowOnce),
        ]
    }

    #[test]
    fn only_an_own_tool_on_this_sessions_server_is_allowed_unasked() {
        let server = ToolServer::generate([0xab; 4]);
        let choices = choices();
        let check = |tool: Option<&str>, want: Option<&str>| {
            let got = decide(&server, tool, &choices).map(|choice| choice.id.as_str());
            assert_eq!(got, want, "{tool:?}");
        };
        check(Some("mcp__od_abababab__od_live_artifacts_create"), Some("once"));
        check(Some("mcp_od_abababab_od_connectors_execute"), Some("once"));
        for other in [
            "mcp__od__od_live_artifacts_create",
            "od_live_artifacts_create",
            "mcp__od_abababab__od_live_artifacts_create2",
            "mcp__od_abababab__Bash",
            "mcp__od_ababab__od_live_artifacts_create",
            " mcp__od_abababab__od_live_artifacts_create",
            "mcp__od_abababab_od_live_artifacts_create",
            "Bash",
            "",
        ] {
            check(Some(other), None);
        }
        check(None, None);
    }

    #[test]
    fn a_yes_is_never_for_good() {
        let always =
            [choice("all", ChoiceKind::AllowAlways), choice("no", ChoiceKind::RejectAlways)];
        assert_eq!(choose(Reply::Allow, &always), None);
        assert_eq!(choose(Reply::Reject, &always).unwrap().id, "no");
        assert_eq!(choose(Reply::Allow, &choices()).unwrap().id, "once");
    }

    proptest! {
        #[test]
        fn no_other_name_is_ever_allowed_unasked(tool in ".{0,60}") {
            let server = ToolServer::generate([1, 2, 3, 4]);
            let own = OWN_TOOLS.iter().any(|name| {
                tool == format!("mcp__od_01020304__{name}") || tool == format!("mcp_od_01020304_{name}")
            });
            prop_assert_eq!(decide(&server, Some(&tool), &choices()).is_some(), own);
        }
    }
}
