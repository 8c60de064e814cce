//! Start, single instance, stop.

pub(crate) mod instance;
