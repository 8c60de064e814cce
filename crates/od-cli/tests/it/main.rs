//! The `od` program, started for real.

mod agreement;
mod bench;
mod demo;
mod dry_run;
mod secrecy;
mod skill_agent;
mod transcripts;
