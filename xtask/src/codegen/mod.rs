//! Derived files: one table of generators, one comparison.

mod cli;
mod compare;
mod table;

pub(crate) use compare::run;
