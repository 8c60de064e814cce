//! `cargo xtask test`: everything CI checks, with what ran and how long it took.

mod console_types;
mod run;
mod step;

pub(crate) use run::run;
pub(crate) use step::{Steps, announce, cargo, present};
