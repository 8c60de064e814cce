//! The PostgreSQL store on a real server.

#![cfg(feature = "real-postgres")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests stop at the first surprise")]

mod contract;
mod history;
mod hostile;
mod lost_answers;
mod roles;
mod team;
