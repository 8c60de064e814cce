//! One file for each verb, or a folder for each noun: typed arguments in, answer out.

/// `od artifacts …`
pub(crate) mod artifacts {
    mod change;
    mod check;
    mod drawing;
    mod export;
    mod list;
    mod revisions;
    mod schedule;
    mod show;

    pub(crate) use change::{delete, refresh, restore, roll_back};
    pub(crate) use check::{check, repair, verify};
    pub(crate) use export::export;
    pub(crate) use list::{list, list_trash};
    pub(crate) use revisions::{diff, revisions};
    pub(crate) use schedule::schedule;
    pub(crate) use show::{find, history, show};
}
/// `od chat`: a session with the person's own agent, as plain lines.
pub(crate) mod chat {
    mod conversation;
    mod verb;

    pub(crate) use verb::chat;
}
pub(crate) mod config;
/// The daemon: serving in the foreground, starting one in the background, opening its console.
pub(crate) mod daemon {
    mod browser;
    mod log_file;
    mod open;
    mod process;
    mod serve;

    pub(crate) use browser::open_browser;
    pub(crate) use open::{open_artifact, open_console};
    pub(crate) use process::{default_or_free_port, ensure, health, person_client, running, stop};
    pub(crate) use serve::{EndSignals, listen_for, serve, serve_config, start_error};
}
/// `od demo`: three live artifacts over files and a repository that come with it.
pub(crate) mod demo {
    mod content;
    mod remove;
    mod repository;
    mod run;
    mod setup;

    pub(crate) use run::run;
}
pub(crate) mod doctor;
pub(crate) mod sessions;
/// `od mcp live-artifacts` and `od mcp config`
pub(crate) mod mcp {
    mod standing;
    mod verb;

    pub(crate) use verb::{HttpTools, config, serve};
}
pub(crate) mod new_file;
/// Projects, and what each may reach on this machine: trust, connectors, sources.
pub(crate) mod projects {
    pub(crate) mod connectors;
    pub(crate) mod sources;
    pub(crate) mod trust;
    mod verb;

    pub(crate) use verb::*;
}
pub(crate) mod refresh_due;
pub(crate) mod report;
/// `od run`: any agent, with a token for one project and one run.
pub(crate) mod run {
    mod agents;
    mod verb;

    pub(crate) use verb::{keep_alive, run};
}
/// Pages that leave the machine: sites, bundles and the keys that sign them.
pub(crate) mod share {
    pub(crate) mod build;
    pub(crate) mod bundles;
    pub(crate) mod keys;
}
/// `od skills …`
pub(crate) mod skills {
    mod check;
    mod install;
    mod list;

    pub(crate) use check::check;
    pub(crate) use install::{install, make_known};
    pub(crate) use list::{list, list_templates, show, show_template};
}
/// `od tools …`: the agent's commands, a thin client of `/api/tools/*`.
///
/// They always answer in JSON: one document on stdout, or an error on stderr with stdout empty.
pub(crate) mod tools {
    mod call;
    mod input;

    pub(crate) use call::{client, client_of_living, explained, living, perform};
}
pub(crate) mod service;
pub(crate) mod store;
pub(crate) mod webhooks;
