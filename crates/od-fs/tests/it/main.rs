//! The adapters through their public API.

mod contract;
mod freshness;
mod history;
mod keyring;
mod lines;
mod paths;
mod private_dir;
mod restart;
