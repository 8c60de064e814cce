//! The adapters through their public API.

mod contract;
