//! `od artifacts …`

mod change;
mod check;
mod list;
mod show;

pub(crate) use change::{delete, refresh, restore, roll_back};
pub(crate) use check::{repair, verify};
pub(crate) use list::{list, list_trash};
pub(crate) use show::{find, history, show};
