//! The daemon: serving in the foreground, starting one in the background, opening its console.

mod browser;
mod log_file;
mod open;
mod process;
mod serve;

pub(crate) use browser::open_browser;
pub(crate) use open::{open_artifact, open_console};
pub(crate) use process::{default_or_free_port, ensure, person_client, running, stop};
pub(crate) use serve::{EndSignals, serve, serve_config, start_error};
