//! `cargo xtask bench`: every figure against a floor or a peer of the same run.

mod counts;
mod run;
mod valgrind;

pub(crate) use run::run;
