//! Warnings about templates that are accepted.

use super::tokenize::position::LineCursor;

/// The kinds of warnings. Adding a variant is an API change.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum WarningCode {
    /// The preview will not load this style sheet, font, image or file.
    WillNotLoad,
    /// A `<link>` was left out of the output.
    LinkDropped,
    /// An element has no end tag of its own.
    Unclosed,
    /// A path leads nowhere in this data.
    Unresolved,
    /// A number or date of the data stands literally in the template.
    HardCoded,
    /// A binding in a comment stays as it is.
    BindingInComment,
    /// A repeated element begins the body; `<body>` was put before it.
    BodyBegun,
}

impl WarningCode {
    /// Returns the code as clients know it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WillNotLoad => "will_not_load",
            Self::LinkDropped => "link_dropped",
            Self::Unclosed => "unclosed_element",
            Self::Unresolved => "unresolved_path",
            Self::HardCoded => "hard_coded_value",
            Self::BindingInComment => "binding_in_comment",
            Self::BodyBegun => "body_begun",
        }
    }
}

/// One remark about an accepted template.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TemplateWarning {
    /// The kind.
    pub code: WarningCode,
    /// First byte of the text it is about.
    pub offset: usize,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The text it is about, shortened.
    pub found: String,
    /// The remark for the author.
    pub message: String,
}

/// The remarks about one template, by position, at most fifty.
pub type Warnings = Vec<TemplateWarning>;

const WARNINGS_MAX: usize = crate::limits::TEMPLATE_WARNINGS.max();

/// Collects warnings while the template is read.
#[derive(Debug, Default)]
pub(super) struct WarningDrafts(Vec<(WarningCode, usize, String, String)>);

impl WarningDrafts {
    pub(super) fn add(
        &mut self,
        code: WarningCode,
        source: &str,
        span: std::ops::Range<usize>,
        message: impl Into<String>,
    ) {
        if self.0.len() < WARNINGS_MAX {
            let found = super::issue::shorten(source.get(span.clone()).unwrap_or_default());
            self.0.push((code, span.start, found, message.into()));
        }
    }

    pub(super) fn finish(mut self, source: &str) -> Warnings {
        self.0.sort_by_key(|(_, offset, _, _)| *offset);
        let mut lines = LineCursor::new(source);
        let warning = |(code, offset, found, message)| {
            let (line, column) = lines.at(offset);
            TemplateWarning { code, offset, line, column, found, message }
        };
        self.0.into_iter().map(warning).collect()
    }
}
