//! Queries: SQL over the rows of an artifact's sources, run at every refresh.
//!
//! This module holds what needs no engine: the query's shape, its bounds, the tables it may read, the
//! functions it may call, and the rules from result to JSON. The engine is a port.

mod fault;
mod functions;
mod plan;
mod result;
mod sql_text;

pub use fault::{QueryFault, QueryFaultKind};
pub use functions::{FunctionRule, function_rule};
pub use plan::{Query, Shape, history_table};
pub use result::{ResultSet, SqlValue};
pub use sql_text::{Position, SqlText, SqlTextError};
