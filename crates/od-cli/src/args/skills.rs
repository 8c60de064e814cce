//! `od skills …`

use std::path::PathBuf;

use super::given::Given;

/// `od skills install`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SkillsInstall {
    /// The project directory, if it was given.
    pub directory: Option<PathBuf>,
    /// Whether to write `.agents/skills`.
    pub agents: bool,
    /// Whether to write `.claude/skills`.
    pub claude: bool,
    /// Whether to overwrite what was changed by hand.
    pub force: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
}

/// `od skills check`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SkillsCheck {
    /// Files or directories.
    pub paths: Vec<PathBuf>,
}

impl SkillsInstall {
    pub(super) fn build(mut given: Given) -> Self {
        let agent = given.text("agent");
        let wants = |name| agent.as_deref().is_none_or(|agent| agent == name || agent == "all");
        Self {
            agents: wants("agents"),
            claude: wants("claude"),
            force: given.has("force"),
            dry_run: given.has("dry-run"),
            directory: given.directory(),
        }
    }
}
