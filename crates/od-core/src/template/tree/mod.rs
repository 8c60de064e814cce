//! Tree construction: which element is open where, what HTML would move, drop or add, and which
//! steps the accepted template becomes.

mod block;
pub(crate) mod compiler;
mod directive;
mod document;
pub(crate) mod element;
mod end_tag;
mod foreign;
mod open_elements;
mod start_tag;
mod table;
mod text;
