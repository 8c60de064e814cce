//! The words on the wire: request and response types, events, the error envelope, the route table
//! as data.
//!
//! Must not know: handlers, storage.

pub mod route;
