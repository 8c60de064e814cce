//! The `od` program, started for real.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

/// Agents at work: by the skill, and in a chat.
mod agents {
    mod chat;
    mod skill_agent;
}
mod answers;
mod bench;
mod completions;
mod config;
mod daemon;
mod demo;
mod doctor;
mod fresh_page;
/// Which project a folder is, and what it may do on this machine.
mod projects {
    mod clone;
    pub(crate) mod slugs;
    mod trust;
}
mod schedules;
mod secrecy;
/// Pages outside of od: bundles, sites, drawings.
mod share {
    mod bundles;
    mod drawings;
    mod site;
    mod targets;
    #[cfg(feature = "real-postgres")]
    mod team;
}
