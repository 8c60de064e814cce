//! `od skills …`

mod check;
mod install;
mod list;

pub(crate) use check::check;
pub(crate) use install::install;
pub(crate) use list::{list, show};
