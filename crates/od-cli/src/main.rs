//! The `od` binary: arguments in, text and exit code out.
//!
//! Must not know: rules.

fn main() {}
