//! Tree construction: which element is open where, what HTML would move, drop or add, and which
//! steps the accepted template becomes.

pub(crate) mod compiler;
mod document;
pub(crate) mod element;
mod end_tag;
mod foreign;
mod open_elements;
mod repeat;
mod start_tag;
mod table;
mod text;
