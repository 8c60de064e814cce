//! SQL: the query engine over a source's rows, and databases as sources.
//!
//! Must not know: storage, HTTP, argv.

mod engine;
mod postgres;
/// The connector of SQLite databases.
mod sqlite {
    mod open;
    mod provider;
    mod read;

    pub use provider::SqliteConnector;
}

pub use engine::SqliteEngine;
pub use postgres::PostgresConnector;
pub use sqlite::SqliteConnector;
