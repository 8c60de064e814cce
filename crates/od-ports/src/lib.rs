//! What the rules need from outside: one small, object-safe trait each, and the contract test-suite\n//! that every adapter and every fake runs.
//!
//! Must not know: any adapter.
