//! Repairs of templates: marks of other languages are read loosely and rewritten in ours, and what
//! the compiler refuses is told with the line that it would accept.

mod lists;
mod misfits;
mod outline;
mod page;
mod roots;
mod translate;

pub use page::foreign_marks;
pub(super) use page::{mend, renamed};
pub(crate) use roots::{instead, meant_path};
pub(super) use translate::{length_tests, style_place};
