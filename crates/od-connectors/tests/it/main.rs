//! The connectors through their public interface, against real files, real git and a local server.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests stop at the first surprise")]

mod agent_inputs;
mod fixer;
mod http_server;
mod keyring;
mod page_text;
mod requests;
mod revisions;
mod scene;
mod scripted;
mod skill_example;
mod world;

/// Each connector by itself.
mod providers {
    mod catalogs;
    mod contract;
    mod examples;
    mod git;
    mod git_history;
    pub(crate) mod github;
    mod github_activity;
    mod hostile;
    mod project_files;
    mod services;
    mod tables;
}

/// What carries notifications to the outside.
mod outbound {
    mod desktop;
    mod webhook;
}

/// Connectors inside a refresh, and what it records.
mod refreshes {
    mod audit;
    mod canary;
    mod crowd;
    mod dry_run;
    mod full_disk;
    mod hostile_sources;
    mod ordinary_reports;
    mod refresh;
    mod refresh_failures;
    mod several_sources;
}
