//! Everything that is only true if a real browser says so.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod console_access;
mod console_clipboard;
mod console_connectors;
mod console_create;
mod console_drift;
mod console_health;
mod console_history;
mod console_home;
mod console_hostile;
mod console_keys;
mod console_links;
mod console_live;
mod console_load;
mod console_refresh;
mod console_scale;
mod console_session;
mod console_shots;
mod console_trust;
mod console_workspace;
mod fake_github;
mod world;
