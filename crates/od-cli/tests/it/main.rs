//! The `od` program, started for real.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod agreement;
mod bench;
mod completions;
mod demo;
mod doctor;
mod dry_run;
mod exits;
mod opening;
mod running;
mod secrecy;
mod serving;
mod skill_agent;
mod success;
mod transcripts;
mod trust;
mod waiting;
