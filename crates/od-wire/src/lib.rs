//! The words on the wire: request and response types, events, the error envelope, the route table
//! as data.
//!
//! Must not know: handlers, storage.

pub mod artifact;
pub mod connector;
pub mod error;
pub mod event;
pub mod export;
pub mod health;
pub mod project;
pub mod reference;
pub mod refresh;
pub mod revision;
pub mod route;
pub mod run;
pub mod schema;
pub mod service;
pub mod session;

/// The body of a request that has nothing to say.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Empty {}
