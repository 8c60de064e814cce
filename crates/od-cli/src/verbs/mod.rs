//! One file for each verb, or small family of verbs: arguments in, answer out.

pub(crate) mod artifacts_check;
pub(crate) mod artifacts_list;
pub(crate) mod artifacts_show;
pub(crate) mod artifacts_write;
pub(crate) mod connectors;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod help;
pub(crate) mod init;
pub(crate) mod keys;
pub(crate) mod mcp;
pub(crate) mod open;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod skills_check;
pub(crate) mod skills_install;
pub(crate) mod skills_list;
pub(crate) mod skills_show;
pub(crate) mod tool_input;
pub(crate) mod tools;
