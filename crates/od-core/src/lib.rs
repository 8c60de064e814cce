//! The rules of live artifacts as pure code.
//!
//! Ids, bounded JSON, artifacts and their validation, the template compiler, refresh, connector
//! safety, tokens, errors. A caller hands in bytes, values and times, and gets back checked values,
//! decisions and faults with the place, the rule and the fix.
//!
//! Must not know: files, sockets, the clock, the environment, randomness, async, HTTP words.

pub mod artifact;
pub mod connector;
pub mod credential;
pub mod decide;
pub mod error;
pub mod event;
pub mod format;
pub mod ids;
pub mod input;
pub mod intake;
pub mod json;
pub mod ledger;
pub mod limits;
pub mod query;
pub mod refresh;
pub mod schema;
pub mod template;
pub mod token;
mod words;
