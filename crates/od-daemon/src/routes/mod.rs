//! The handlers: parse into core types, call one use case, serialise.

pub(crate) mod about;
pub(crate) mod artifacts;
pub(crate) mod connectors;
pub(crate) mod preview;
pub(crate) mod projects;
pub(crate) mod refreshes;
pub(crate) mod runs;
pub(crate) mod session;
pub(crate) mod tools;
