//! The `github` connector: public repositories, and private ones with a token.

mod api;
mod cache;
mod catalog;
mod provider;
mod shape;

pub use provider::{GitHub, GitHubConfig};
