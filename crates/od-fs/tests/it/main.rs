//! The adapters through their public API.

mod contract;
mod freshness;
mod keyring;
mod paths;
