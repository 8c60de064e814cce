//! The connectors through their public interface, against real files, real git and a local server.

mod catalogs;
mod git;
mod github;
mod http_server;
mod project_files;
mod refresh;
mod refresh_failures;
mod scene;
mod scripted;
mod world;
