//! Server-sent events: frames, the hub that fans them out, and one follower's stream.

pub(crate) mod frame;
pub(crate) mod hub;
mod sink;
pub(crate) mod stream;
