//! The SQL adapters through their public interface.

mod differential;
mod hostile;
mod queries;
mod refused;
mod sqlite;
