//! Policy: which attributes, URLs and CSS values a template and its data may have.

pub(crate) mod attribute;
pub(crate) mod css;
mod guarded;
pub(crate) mod url;
