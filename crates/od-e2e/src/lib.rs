//! Tests only: a real browser, real processes, faults.
//!
//! Must not know: nothing; nobody depends on it.

#[cfg(feature = "browser")]
pub mod browser;
