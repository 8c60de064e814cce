//! The errors of rendering.

use std::io;

use super::renderer::RENDERED_BYTES_MAX;
use crate::format::FormatFault;
use crate::template::policy::css::CssFault;
use crate::template::policy::url::UrlFault;

/// The binding that the data did not fit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BindingPlace {
    /// The path from `data`, with the row's position in it.
    pub path: String,
    /// Line in the template, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// The reasons why a page could not be rendered.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// An object or array is bound where a single value belongs.
    #[error("`{}` is an {found}, bound as a value at {}:{}", .at.path, .at.line, .at.column)]
    NotScalar {
        /// The binding.
        at: BindingPlace,
        /// `object` or `array`.
        found: &'static str,
    },
    /// The list of a repeat is not there, or is no array.
    #[error("`{}` is {found}, but data-od-repeat at {}:{} needs an array", .at.path, .at.line, .at.column)]
    NotArray {
        /// The repeat.
        at: BindingPlace,
        /// The kind of value that was there.
        found: &'static str,
    },
    /// A condition orders values that have no order.
    #[error("`{}` is {found}: the condition at {}:{} compares two numbers or two texts", .at.path, .at.line, .at.column)]
    NoOrder {
        /// The condition's subject.
        at: BindingPlace,
        /// The kind of value that was there.
        found: &'static str,
    },
    /// A format does not take the value.
    #[error("`{}` is {found}: the format `{format}` at {}:{} {fault}", .at.path, .at.line, .at.column)]
    Format {
        /// The binding.
        at: BindingPlace,
        /// The name of the format.
        format: &'static str,
        /// The kind of value that was there.
        found: &'static str,
        /// The fault.
        fault: FormatFault,
    },
    /// A chart is to draw something that is no number.
    #[error("`{}` is {found}: the chart at {}:{} draws numbers, and null as a gap", .at.path, .at.line, .at.column)]
    NotDrawable {
        /// The binding.
        at: BindingPlace,
        /// The kind of value that was there.
        found: &'static str,
    },
    /// A chart has too many points.
    #[error("`{}` has {points} rows: a chart draws at most {} points", .at.path, crate::limits::CHART_POINTS.allowed)]
    TooManyPoints {
        /// The list.
        at: BindingPlace,
        /// Its length.
        points: usize,
    },
    /// The URL is not allowed.
    #[error("the URL `{url}` at {}:{} (`{}`) has {fault}", .at.line, .at.column, .at.path)]
    Url {
        /// The first binding in it.
        at: BindingPlace,
        /// The URL, shortened.
        url: String,
        /// The fault.
        fault: UrlFault,
    },
    /// The value may not stand in CSS.
    #[error("the value `{value}` of `{}` at {}:{} has {fault}, which may not stand in a style", .at.path, .at.line, .at.column)]
    Css {
        /// The binding.
        at: BindingPlace,
        /// The value, shortened.
        value: String,
        /// The fault.
        fault: CssFault,
    },
    /// The page has too many rows.
    #[error("the page has more than {} rows: it was stopped at {rows}", crate::limits::TEMPLATE_ROWS.allowed)]
    TooManyRows {
        /// Rows counted when it was stopped.
        rows: usize,
    },
    /// The page is too large.
    #[error("the page is larger than {RENDERED_BYTES_MAX} bytes: it was stopped at {measured}")]
    TooLarge {
        /// Bytes written before it was stopped.
        measured: usize,
    },
    /// The page could not be written.
    #[error("the page could not be written")]
    Write(#[from] io::Error),
}

impl RenderError {
    /// Returns where in the template the data did not fit, if it was that.
    #[must_use]
    pub const fn place(&self) -> Option<&BindingPlace> {
        match self {
            Self::NotScalar { at, .. }
            | Self::NotArray { at, .. }
            | Self::NoOrder { at, .. }
            | Self::Format { at, .. }
            | Self::NotDrawable { at, .. }
            | Self::TooManyPoints { at, .. }
            | Self::Url { at, .. }
            | Self::Css { at, .. } => Some(at),
            Self::TooManyRows { .. } | Self::TooLarge { .. } | Self::Write(_) => None,
        }
    }

    /// Returns whether a value that is missing or null is at fault.
    pub(crate) fn is_about_nothing(&self) -> bool {
        match self {
            Self::NotScalar { found, .. }
            | Self::NotArray { found, .. }
            | Self::NoOrder { found, .. } => matches!(*found, "missing" | "null"),
            Self::Format { .. }
            | Self::NotDrawable { .. }
            | Self::TooManyPoints { .. }
            | Self::Url { .. }
            | Self::Css { .. }
            | Self::TooManyRows { .. }
            | Self::TooLarge { .. }
            | Self::Write(_) => false,
        }
    }
}
