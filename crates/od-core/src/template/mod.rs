//! `html_template_v1` and `html_template_v2`: HTML with `{{data.path}}`, `data-od-repeat`, and in
//! the second conditions, nested repeats, row variables, formats and charts. The first is a subset: one compiler and
//! one renderer serve both, [`Grammar`] only says what is allowed.
//!
//! [`Template::compile`] reads a template once, or refuses it with all that is wrong and how to put
//! it right. [`Template::render`] writes the page for some data. Both are functions of their input
//! alone.
//!
//! The compiler follows HTML's tokenizer and tree construction and accepts only what they keep in
//! place whatever the values are: no element, attribute or comment appears, moves or disappears
//! because of data.
//!
//! ```
//! use od_core::template::{Grammar, Template};
//!
//! let html = "<!doctype html><body><p data-od-if=\"data.n\">{{data.n | number:1}}</p>";
//! let (template, warnings) = Template::compile_as(html, Grammar::V2).unwrap();
//! let mut page = Vec::new();
//! template.render(&serde_json::json!({ "n": 1234.5 }), &mut page).unwrap();
//! assert!(page.ends_with(b"<p>1,234.5</p>"));
//! assert!(warnings.is_empty(), "{warnings:?}");
//! ```

mod check;
/// The language between the braces and in `data-od-*`: paths, bindings, formats, repeats,
/// conditions.
mod expression {
    pub(crate) mod binding;
    pub(crate) mod condition;
    pub(crate) mod dialect;
    pub(crate) mod path;
    pub(crate) mod pipe;
    pub(crate) mod repeat;
}
mod issue;
/// Policy: which attributes, URLs and CSS values a template and its data may have.
mod policy {
    pub(crate) mod attribute;
    pub(crate) mod css;
    mod guarded;
    pub(crate) mod link;
    pub(crate) mod url;
}
mod program;
mod refusal_issues;
/// Rendering: runs a compiled program over data, escapes every value, and marks values for
/// inspection.
mod render {
    pub(crate) mod audit;
    pub(crate) mod chart;
    pub(crate) mod error;
    mod guarded;
    pub(crate) mod inspect;
    pub(crate) mod output;
    pub(crate) mod piped;
    pub(crate) mod renderer;
    pub(crate) mod row_lookup;
}
/// Reading: HTML tokens, character references, and where they stand in the source.
mod tokenize {
    pub(crate) mod position;
    pub(crate) mod reference;
    pub(crate) mod scanner;
}
/// Tree construction: which element is open where, what HTML would move, drop or add, and which
/// steps the accepted template becomes.
mod tree {
    mod bindings;
    mod block;
    pub(crate) mod chart;
    mod chart_content;
    mod chart_settings;
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
}
mod warning;

pub use check::{Coverage, DataCheck, TypedNumber};
pub(crate) use expression::path::is_key;
pub use expression::path::{Path, Root, Segment};
pub use issue::{Edit, Fix, ISSUES_MAX, IssueCode, TemplateIssue};
pub use policy::css::CssFault;
pub use policy::url::UrlFault;
pub use program::{Binding, Place, Repeat};
pub(crate) use refusal_issues::COUNT_ROWS;
pub use render::error::{BindingPlace, RenderError};
pub use render::inspect::{INSPECTION_STYLE, InspectedPath, Inspection};
pub use render::piped::format_value;
pub use render::renderer::{RENDERED_BYTES_MAX, RenderReport};
pub use template::{Grammar, TEMPLATE_BYTES_MAX, Template};
pub(crate) use tokenize::position::LineCursor;
pub(crate) use tokenize::reference::reference as read_reference;
pub(crate) use tokenize::scanner as scan;
pub use warning::{TemplateWarning, WarningCode, Warnings};

#[expect(clippy::module_inception, reason = "the module's one noun")]
mod template;
