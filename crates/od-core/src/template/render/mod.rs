//! Rendering: runs a compiled program over data, escapes every value, and marks values for
//! inspection.

pub(crate) mod audit;
pub(crate) mod error;
mod guarded;
pub(crate) mod inspect;
pub(crate) mod output;
pub(crate) mod piped;
pub(crate) mod renderer;
pub(crate) mod row;
