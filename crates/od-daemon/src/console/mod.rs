//! The console: its files, embedded, under its own policy.

mod compact;
mod files;
mod serve;

pub(crate) use serve::{find, is_file};
