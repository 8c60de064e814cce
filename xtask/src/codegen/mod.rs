//! Derived files: one table of generators, one comparison.

mod cli;
mod compare;
mod console;
mod core_docs;
mod http_api;
mod schemas;
mod skill_references;
mod table;
mod templates;

pub(crate) use compare::run;
