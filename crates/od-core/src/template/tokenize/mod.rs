//! Reading: HTML tokens, character references, and where they stand in the source.

pub(crate) mod position;
pub(crate) mod reference;
pub(crate) mod scanner;
