//! The adapters through their public API.

mod cold_list;
mod contract;
mod frames;
mod freshness;
mod history;
mod keyring;
mod paths;
mod private_dir;
mod restart;
mod revisions;
mod stuck;
