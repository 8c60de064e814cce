//! `od tools …`: the agent's commands, a thin client of `/api/tools/*`.
//!
//! They always answer in JSON: one document on stdout, or an error on stderr with stdout empty.

mod call;
mod input;

pub(crate) use call::{client, client_of_living, perform};
