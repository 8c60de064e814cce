//! The words on the wire: request and response types, events, the error envelope, the route table
//! as data.
//!
//! Must not know: handlers, storage.

pub mod agent;
pub mod artifact;
pub mod connector;
pub mod error;
pub mod event;
pub mod export;
pub mod health;
pub mod project;
pub mod refresh;
pub mod revision;
pub mod run;
pub mod service;
pub mod session;
pub mod webhook;

/// The contract as data: the routes, the schemas of what they take and answer, and both as text.
mod api {
    pub mod reference;
    pub mod route;
    pub mod schema;
}

pub use api::{reference, route, schema};

/// The body of a request that has nothing to say.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Empty {}
