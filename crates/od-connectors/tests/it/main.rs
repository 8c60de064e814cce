//! The connectors through their public interface, against real files, real git and a local server.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests stop at the first surprise")]

mod audit;
mod canary;
mod catalogs;
mod contract;
mod crowd;
mod full_disk;
mod git;
mod github;
mod http_server;
mod keyring;
mod project_files;
mod refresh;
mod refresh_failures;
mod scene;
mod scripted;
mod tables;
mod world;
