//! One file for each verb, or a folder for each noun: typed arguments in, answer out.

pub(crate) mod artifacts;
pub(crate) mod connectors;
pub(crate) mod daemon;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod keys;
pub(crate) mod mcp;
pub(crate) mod projects;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod skills;
pub(crate) mod tools;
