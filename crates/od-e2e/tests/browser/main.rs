//! Everything that is only true if a real browser says so.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod console_live;
mod console_load;
mod console_projects;
mod console_scale;
mod console_shots;
mod exported;
mod fake_github;
#[path = "../attack_browser/payloads.rs"]
mod payloads;
mod world;

/// Each view of the console.
mod views {
    mod console_chat;
    mod console_connectors;
    mod console_create;
    mod console_drift;
    mod console_health;
    mod console_history;
    mod console_home;
    mod console_refresh;
    mod console_schedule;
    mod console_tables;
    mod console_workspace;
}

/// Keyboard, clipboard, links and what assistive technology is told.
mod hands {
    mod console_access;
    mod console_clipboard;
    mod console_keys;
    mod console_links;
}

/// Hostile content, sessions, and what a page may not do.
mod trust {
    mod chat_payloads;
    mod console_hostile;
    mod console_session;
    mod console_trust;
    mod impostor;
}
