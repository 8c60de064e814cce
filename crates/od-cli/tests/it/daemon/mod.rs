//! Verbs that start a daemon, stay with one, or wait for one.

mod impostor;
mod opening;
mod running;
mod serving;
mod waiting;
