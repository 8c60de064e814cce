//! `od demo`: three live artifacts over files and a repository that come with it.

mod content;
mod repository;
mod run;
mod setup;

pub(crate) use run::run;
