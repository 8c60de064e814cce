//! HTTP/1.1 over hyper: accept loop, guard, lookup, bodies, answers.

pub(crate) mod accept;
pub(crate) mod access_log;
pub(crate) mod body;
pub(crate) mod error;
pub(crate) mod guard;
pub(crate) mod json_body;
pub(crate) mod lookup;
pub(crate) mod query;
pub(crate) mod reply;
pub(crate) mod slots;
pub(crate) mod stall;
