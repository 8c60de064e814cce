//! `html_template_v1`: HTML with `{{data.path}}` and `data-od-repeat="item in data.items"`.
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
mod issue;
mod path;
mod policy;
mod program;
mod render;
mod tokenize;
mod tree;
mod warning;

pub use check::{Coverage, DataCheck};
pub use issue::{Edit, Fix, ISSUES_MAX, IssueCode, TemplateIssue};
pub(crate) use path::is_key;
pub use path::{Path, Root, Segment};
pub use policy::css::CssFault;
pub use policy::url::UrlFault;
pub use program::{Binding, Place, Repeat};
pub use render::error::{BindingPlace, RenderError};
pub use render::inspect::{INSPECTION_STYLE, Inspection};
pub use render::renderer::{RENDERED_BYTES_MAX, RenderReport};
pub use template::{TEMPLATE_BYTES_MAX, Template};
pub use warning::{TemplateWarning, WarningCode, Warnings};

#[expect(clippy::module_inception, reason = "the module's one noun")]
mod template;
