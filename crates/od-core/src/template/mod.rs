//! `html_template_v1`: HTML with `{{data.path}}` and `data-od-repeat="item in data.items"`.
//!
//! [`Template::compile`] reads a template once, or refuses it with all that is wrong and how to put
//! it right. [`Template::render`] writes the page for some data. Both are functions of their input
//! alone.
//!
//! The compiler follows HTML's tokenizer and tree construction and accepts only what they keep in
//! place whatever the values are: no element, attribute or comment appears, moves or disappears
//! because of data.

mod attribute;
mod binding;
mod check;
mod compile;
mod css_policy;
mod digits;
mod document;
mod element;
mod end_tag;
mod envelope;
mod escape;
mod foreign;
mod guarded;
mod inspect;
mod issue;
mod open;
mod path;
mod position;
mod program;
mod reference;
mod render;
mod render_error;
mod repeat;
mod row;
mod scan;
mod start_tag;
mod table;
mod text;
mod url_policy;
mod warning;

pub use check::{Coverage, DataCheck};
pub use css_policy::CssFault;
pub use inspect::{INSPECTION_STYLE, Inspection};
pub use issue::{Edit, Fix, ISSUES_MAX, IssueCode, TemplateIssue};
pub(crate) use path::is_key;
pub use path::{Path, Root, Segment};
pub use program::{Binding, Place, Repeat};
pub use render::{RENDERED_BYTES_MAX, RenderReport};
pub use render_error::{BindingPlace, RenderError};
pub use template::{TEMPLATE_BYTES_MAX, Template};
pub use url_policy::UrlFault;
pub use warning::{TemplateWarning, WarningCode, Warnings};

#[expect(clippy::module_inception, reason = "the module's one noun")]
mod template;
