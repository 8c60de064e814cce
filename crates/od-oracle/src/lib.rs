//! Tests only: the template compiler beside a browser-grade parser.
//!
//! Must not know: anything but `od-core`. It is a crate of its own because it needs nothing else,
//! so that a hundred thousand comparisons do not wait for the daemon to compile.

pub mod adversary;
