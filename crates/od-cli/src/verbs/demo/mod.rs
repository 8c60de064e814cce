//! `od demo`: three live artifacts over files and a repository that come with it.

mod content;
mod repository;
mod run;
mod stage;

pub(crate) use run::run;
