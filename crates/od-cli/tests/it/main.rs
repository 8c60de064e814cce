//! The `od` program, started for real.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod answers;
mod bench;
mod bundles;
mod chat;
mod clone;
mod completions;
mod config;
mod daemon;
mod demo;
mod doctor;
mod drawings;
mod fresh_page;
mod schedules;
mod secrecy;
mod site;
mod skill_agent;
mod slugs;
mod targets;
mod trust;
