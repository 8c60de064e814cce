//! The use cases, one function each. Every door calls this crate and nothing else decides anything.
//!
//! Must not know: HTTP, argv, files.
