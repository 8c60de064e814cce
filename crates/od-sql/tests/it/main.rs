//! The SQL adapters through their public interface.

mod differential;
mod hostile;
#[cfg(feature = "real-postgres")]
#[expect(clippy::unwrap_used, clippy::panic, reason = "tests stop at the first surprise")]
mod postgres;
mod queries;
mod refused;
mod sqlite;
