//! The language between the braces and in `data-od-*`: paths, bindings, formats, repeats,
//! conditions.

pub(crate) mod binding;
pub(crate) mod condition;
pub(crate) mod dialect;
pub(crate) mod path;
pub(crate) mod pipe;
pub(crate) mod repeat;
