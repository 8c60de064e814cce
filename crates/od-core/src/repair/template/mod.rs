//! Repairs of templates: marks of other languages are read loosely and rewritten in ours, and what
//! the compiler refuses is told with the line that it would accept.

mod blocks;
mod code_marks;
mod dates;
mod expression;
mod lists;
mod marks;
mod objects;
mod outline;
mod outputs;
mod page;
mod roots;
mod row_scopes;
mod second;
mod translate;
mod unroll;

pub use page::foreign_marks;
pub(super) use page::{mend, renamed};
pub(crate) use roots::{instead, meant_path};
pub(super) use translate::style_place;
