//! What a tool may do to the world.

use crate::words::words;

words! {
    /// What a tool may do to the world.
    SideEffect {
        /// Nothing: it only reads.
        Read = "read",
        /// It changes something.
        Write = "write",
        /// It removes something, or cannot be undone.
        Destructive = "destructive",
        /// Nobody knows.
        Unknown = "unknown",
    }
}

words! {
    /// What a tool needs before it runs.
    Approval {
        /// Nothing.
        Auto = "auto",
        /// A person's word, each time.
        Confirm = "confirm",
        /// It does not run.
        Disabled = "disabled",
    }
}

/// How safe a tool is, and why.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ToolSafety {
    /// What it may do to the world.
    pub side_effect: SideEffect,
    /// What it needs before it runs.
    pub approval: Approval,
    /// Why, in one sentence.
    #[schemars(length(max = 1024))]
    pub reason: String,
}

impl ToolSafety {
    /// Returns whether the tool runs for agents and refreshes: read-only, without asking.
    #[must_use]
    pub fn runs(&self) -> bool {
        self.side_effect == SideEffect::Read && self.approval == Approval::Auto
    }
}
