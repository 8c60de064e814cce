//! `html_template_v1` and `html_template_v2`: HTML with `{{data.path}}`, `data-od-repeat`, and in
//! the second conditions, nested repeats and row variables. The first is a subset: one compiler and
//! one renderer serve both, [`Grammar`] only says what is allowed.
//!
//! [`Template::compile`] reads a template once, or refuses it with all that is wrong and how to put
//! it right. [`Template::render`] writes the page for some data. Both are functions of their input
//! alone.
//!
//! The compiler follows HTML's tokenizer and tree construction and accepts only what they keep in
//! place whatever the values are: no element, attribute or comment appears, moves or disappears
//! because of data.

mod check;
mod envelope;
mod expression;
mod issue;
mod policy;
mod program;
mod render;
mod tokenize;
mod tree;
mod warning;

pub use check::{Coverage, DataCheck};
pub(crate) use expression::path::is_key;
pub use expression::path::{Path, Root, Segment};
pub use issue::{Edit, Fix, ISSUES_MAX, IssueCode, TemplateIssue};
pub use policy::css::CssFault;
pub use policy::url::UrlFault;
pub use program::{Binding, Place, Repeat};
pub use render::error::{BindingPlace, RenderError};
pub use render::inspect::{INSPECTION_STYLE, Inspection};
pub use render::piped::format_value;
pub use render::renderer::{RENDERED_BYTES_MAX, RenderReport};
pub use template::{Grammar, TEMPLATE_BYTES_MAX, Template};
pub(crate) use tokenize::reference::reference as read_reference;
pub use warning::{TemplateWarning, WarningCode, Warnings};

#[expect(clippy::module_inception, reason = "the module's one noun")]
mod template;
