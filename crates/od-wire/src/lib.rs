//! The words on the wire: request and response types, events, the error envelope, the route table\n//! as data.
//!
//! Must not know: handlers, storage.
