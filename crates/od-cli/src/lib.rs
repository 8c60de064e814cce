//! The `od` command: arguments in, text and exit code out.
//!
//! Must not know: rules. The verb table in [`args`] is the source of help, completions and docs.

pub mod args;
mod browser;
mod daemon_process;
mod demo;
mod dispatch;
pub mod help;
mod local;
mod log_file;
pub mod output;
mod secret;
mod settings;
pub mod skills;
mod verbs;

pub use dispatch::main;
