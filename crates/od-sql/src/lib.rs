//! SQL: the query engine over a source's rows, and databases as sources.
//!
//! Must not know: storage, HTTP, argv.

mod engine;
mod postgres;
mod sqlite;

pub use engine::SqliteEngine;
pub use postgres::PostgresConnector;
pub use sqlite::SqliteConnector;
