//! The `od` command: arguments in, text and exit code out.
//!
//! Must not know: rules. The verb table in [`args`] is the source of help, completions and docs.

pub mod args;
mod dispatch;
pub mod help;
mod local;
pub mod output;
mod settings;
pub mod skills;
mod verbs;

pub use dispatch::main;
