//! One file for each verb, or small family of verbs: arguments in, answer out.

pub(crate) mod help;
pub(crate) mod mcp;
pub(crate) mod skills_check;
pub(crate) mod skills_install;
pub(crate) mod skills_list;
pub(crate) mod skills_show;
pub(crate) mod tool_input;
pub(crate) mod tools;
