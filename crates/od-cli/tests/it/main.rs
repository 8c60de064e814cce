//! The `od` program, started for real.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod agreement;
mod bench;
mod demo;
mod dry_run;
mod secrecy;
mod skill_agent;
mod transcripts;
