//! PostgreSQL adapters: the store that a team shares, its projects, its migrations.
//!
//! Must not know: other sources, HTTP, argv.

mod address;
mod adopt;
mod attempts;
mod commit_lock;
mod content;
mod fault;
mod generation;
mod index;
mod log;
mod maintenance;
mod pool;
mod projects;
mod refreshes;
mod retention;
mod revisions;
mod row;
mod schema;
mod store;
mod trash;
mod write;

pub use address::{PasswordSources, StoreAddress, StoreAddressError};
pub use projects::{Machine, PgProjectRegistry};
pub use schema::{SCHEMA_VERSION, SchemaState};
pub use store::PgStore;
#[cfg(feature = "real-postgres")]
pub use store::Planted;
