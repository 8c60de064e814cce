//! `cargo xtask test`: everything CI checks, with what ran and how long it took.

mod run;
mod step;
mod system_tools;

pub(crate) use run::run;
