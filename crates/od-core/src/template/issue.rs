//! Refusals of a template: code, place, and the edit that puts it right.

use std::fmt;

/// The most refusals that one compilation reports.
pub const ISSUES_MAX: usize = crate::limits::TEMPLATE_ISSUES.max();
/// The most refusals that are collected: a template this broken is not read to its end.
const DRAFTS_MAX: usize = 400;
/// The most characters of the offending text that are quoted.
const FOUND_CHARS_MAX: usize = 120;

macro_rules! issue_codes {
    ($($(#[$doc:meta])* $variant:ident => $name:literal, $allowed:literal;)*) => {
        /// The reasons for refusing a template. Adding a variant is an API change.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum IssueCode { $($(#[$doc])* $variant,)* }

        impl IssueCode {
            /// Every code, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the code as clients know it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns what is allowed instead.
            #[must_use]
            pub const fn allowed(self) -> &'static str {
                match self { $(Self::$variant => $allowed,)* }
            }
        }
    };
}

#[rustfmt::skip]
issue_codes! {
    /// The template is larger than the limit.
    TooLarge => "template_too_large", "at most 1,048,576 bytes of template";
    /// A NUL character, which HTML drops or replaces.
    NulCharacter => "nul_character", "text without NUL characters";
    /// `{{` without `}}` in the same text or attribute value.
    UnclosedBinding => "unclosed_binding", "{{data.path}} wholly inside one text or one attribute value; write literal braces as &#123;&#123;";
    /// `{{{x}}}` or `{{& x}}`.
    RawBinding => "raw_binding", "{{data.path}}: every value is escaped, there is no raw form";
    /// Mustache sections, partials, comments and the like.
    UnsupportedDirective => "unsupported_directive", "{{data.path}} for values and data-od-repeat=\"item in data.items\" for lists; there are no sections, conditions, partials or helpers";
    /// Something between the braces that is not a path.
    InvalidPath => "invalid_path", "data.key.key or alias.key, keys of letters, digits, _ and - that do not begin with a digit or -, array positions as numbers (data.rows.0.name)";
    /// A format that does not exist.
    UnknownFormat => "unknown_format", "number percent currency compact bytes duration date time datetime since delta plural count upper lower title truncate, and or:'text'";
    /// A format with arguments that it does not take, or two formats.
    FormatArguments => "format_arguments", "{{data.path | format:argument | or:'text'}}, one format and one `or` a binding";
    /// A format in a URL, or one in a style that CSS cannot hold.
    FormatPlacement => "format_placement", "formats in text and ordinary attributes; number and percent in style; only `or` in URLs";
    /// The path begins with neither `data` nor the alias of the repeat around it.
    UnknownRoot => "unknown_root", "paths that begin with data, or with the alias of the data-od-repeat around them";
    /// A binding in a tag or attribute name, or between attributes.
    BindingInTag => "binding_in_tag", "bindings in text and inside quoted attribute values";
    /// A binding in an attribute value without quotes.
    BindingUnquoted => "binding_unquoted", "bindings inside quoted attribute values";
    /// A binding in `<style>`.
    BindingInStyle => "binding_in_style", "bindings in style attributes, also as CSS variables: style=\"--color: {{data.color}}\" and var(--color) in the style sheet";
    /// A binding in the doctype.
    BindingInDoctype => "binding_in_doctype", "<!doctype html>";
    /// A binding where the body has not begun.
    BindingBeforeBody => "binding_before_body", "text bindings inside the body or in <title>";
    /// A binding after the body.
    ContentAfterBody => "content_after_body", "only white space and comments after </body>";
    /// Text directly in a table, section, row or column group.
    TextInTable => "text_in_table", "text inside <td>, <th> or <caption>";
    /// A binding directly in `<select>`.
    TextInSelect => "text_in_select", "text inside <option>";
    /// A binding right behind an unfinished character reference.
    BindingAfterReference => "binding_after_reference", "&amp; for an ampersand, and finished references such as &nbsp; before a binding";
    /// A binding right behind `<`.
    BindingAfterBracket => "binding_after_bracket", "&lt; for a less-than sign before a binding";
    /// A binding in an attribute whose value must be literal.
    BindingInAttribute => "binding_in_attribute", "a literal value here";
    /// A binding in CSS `url()`, a CSS comment, or joined to CSS text.
    BindingInCss => "binding_in_css", "bindings as whole CSS values: style=\"width: {{data.width}}%\"";
    /// An element that may not be in a template.
    RefusedElement => "refused_element", "elements that neither run nor embed anything";
    /// An attribute that may not be in a template.
    RefusedAttribute => "refused_attribute", "attributes that run nothing";
    /// A `data-od-*` attribute that does not exist.
    UnknownDirective => "unknown_directive", "data-od-repeat=\"item in data.items\" and data-od-id; in html_template_v2 also data-od-if, data-od-else-if, data-od-else and data-od-chart";
    /// The value of `data-od-if` or `data-od-else-if` cannot be read.
    ConditionSyntax => "condition_syntax", "data-od-if=\"data.path\", \"!data.path\" or \"data.path >= 0.9\", with == != < <= > >= and a number, a 'text', true, false or null behind them";
    /// An `else` with nothing before it.
    ElsePlacement => "else_placement", "data-od-else and data-od-else-if on the next sibling of an element with data-od-if or data-od-else-if, data-od-else also behind data-od-repeat";
    /// Two directives on one element.
    DirectiveConflict => "directive_conflict", "one of data-od-repeat, data-od-if, data-od-else-if and data-od-else on an element";
    /// A kind of chart that does not exist.
    ChartUnknown => "chart_unknown", "data-od-chart=\"spark\", \"line\", \"area\", \"bar\", \"stacked-bar\", \"progress\" or \"donut\"";
    /// An attribute of a chart is missing or cannot be read.
    ChartArguments => "chart_arguments", "data-od-repeat=\"d in data.days\" data-od-x=\"d.day\" data-od-y=\"d.visits\" on a chart, and data-od-labels, data-od-title, data-od-format, data-od-min, data-od-max, data-od-height; data-od-y=\"data.share\" on progress";
    /// A chart on an element that cannot hold one.
    ChartPlacement => "chart_placement", "charts on figure, div, section, article, li, dd, td and th";
    /// Something in a chart's element.
    ChartContent => "chart_content", "an empty element for a chart: its title is data-od-title";
    /// The same attribute twice.
    DuplicateAttribute => "duplicate_attribute", "every attribute once";
    /// An attribute name with quotes, brackets or other marks.
    MalformedAttribute => "malformed_attribute", "attribute names of letters, digits and - _ : . @, values in quotes";
    /// A tag name with odd characters.
    MalformedTag => "malformed_tag", "tag names of letters, digits and - _ : .; write a less-than sign as &lt;";
    /// A tag that never ends.
    UnclosedTag => "unclosed_tag", "tags that end with >";
    /// A comment that never ends.
    UnclosedComment => "unclosed_comment", "comments that end with -->";
    /// `<title>`, `<style>` or `<textarea>` without its end tag.
    UnclosedRawText => "unclosed_raw_text", "the end tag of title, style and textarea";
    /// `<!…>`, `<?…>` and `</…>` that HTML turns into comments.
    BogusComment => "bogus_comment", "comments as <!-- … -->";
    /// A CDATA section.
    Cdata => "cdata", "escaped text in place of CDATA";
    /// A doctype behind content.
    DoctypeMisplaced => "doctype_misplaced", "one doctype, before everything else";
    /// `<div/>`: HTML ignores the slash.
    SelfClosedHtml => "self_closed_html", "/> on void elements and inside svg or math only";
    /// An end tag that closes nothing.
    StrayEndTag => "stray_end_tag", "end tags that close an open element";
    /// A block inside `<p>`, or an end tag across open elements: HTML would restructure it.
    Misnested => "misnested", "elements that close in the reverse order of opening, and no blocks inside <p>";
    /// A formatting element that HTML would close and open again elsewhere.
    UnclosedFormatting => "unclosed_formatting", "formatting elements (a, b, em, strong, …) with their end tags, in order";
    /// `<a>` in `<a>`, `<button>` in `<button>`, `<form>` in `<form>`, heading in heading.
    NestedInteractive => "nested_interactive", "no link in a link, button in a button, form in a form, heading in a heading";
    /// `<tr>`, `<td>` and kin without a table around them.
    TablePartOutside => "table_part_outside", "table parts inside <table>";
    /// An element directly in a table where HTML would move it out.
    ElementInTable => "element_in_table", "caption, colgroup, thead, tbody, tfoot, tr in tables, tr in sections, td and th in rows";
    /// An element in `<select>` other than its options.
    ElementInSelect => "element_in_select", "option, optgroup and hr in select, text in option";
    /// An HTML element in `<svg>` or `<math>`, which would end it.
    HtmlInForeign => "html_in_foreign", "SVG elements in svg and MathML elements in math";
    /// An element in an SVG title, desc or style, or a MathML text element.
    MarkupInForeignText => "markup_in_foreign_text", "text only in SVG title, desc and style and in MathML mi, mn, mo, ms, mtext";
    /// A second `<html>`, `<head>` or `<body>`.
    DuplicateDocumentTag => "duplicate_document_tag", "html, head and body once each, in that order";
    /// More open elements than browsers keep.
    TooDeep => "too_deep", "at most 256 elements inside one another";
    /// More attributes on one element than allowed.
    TooManyAttributes => "too_many_attributes", "at most 128 attributes on one element";
    /// A URL that is not allowed.
    UrlRefused => "url_refused", "http:, https:, relative paths and fragments";
    /// A `<link>` that is not a literal style sheet or icon.
    LinkRefused => "link_refused", "<link rel=\"stylesheet\" href=\"…\"> and <link rel=\"icon\" href=\"…\"> with literal values";
    /// `<meta http-equiv>` or a charset other than UTF-8.
    MetaRefused => "meta_refused", "<meta charset=\"utf-8\"> and <meta name=\"…\" content=\"…\">";
    /// An SVG animation of a link or an event handler.
    AnimationRefused => "animation_refused", "animation of literal attributes other than href and on*";
    /// The value of `data-od-repeat` cannot be read.
    RepeatSyntax => "repeat_syntax", "data-od-repeat=\"alias in data.path\"; the alias of letters, digits and _, not data";
    /// A repeat inside more repeats than the grammar allows.
    RepeatNested => "repeat_nested", "one level of data-od-repeat";
    /// A repeated element, or one inside it, without its own end tag.
    RepeatUnclosed => "repeat_unclosed", "repeated elements, and everything in them, with their own end tags";
    /// A repeat where HTML would add or close something around it.
    RepeatPlacement => "repeat_placement", "repeats inside the body, where neither end tags nor elements are implied around them";
    /// Something that looks like a credential.
    Credential => "credential", "templates without keys, tokens, passwords or URLs with user names";
}

impl fmt::Display for IssueCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Replaces the bytes `start..end` of the template with `text`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Edit {
    /// First byte replaced.
    pub start: usize,
    /// Byte after the last one replaced; equal to `start` for an insertion.
    pub end: usize,
    /// The text that stands there afterwards.
    pub text: String,
    /// Order among the edits of one compilation at the same place.
    pub order: usize,
}

/// A way out that works when applied as it stands.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Fix {
    /// The instruction, for people and agents.
    pub summary: String,
    /// The same as edits, by position, not overlapping.
    pub edits: Vec<Edit>,
}

impl Fix {
    /// Returns `template` with the edits of all `fixes` applied; an edit that overlaps an earlier one is skipped.
    #[must_use]
    pub fn apply<'f>(template: &str, fixes: impl IntoIterator<Item = &'f Self>) -> String {
        let mut edits: Vec<&Edit> = fixes.into_iter().flat_map(|fix| &fix.edits).collect();
        edits.sort_by_key(|edit| (edit.start, edit.end, edit.order));
        let mut fixed = String::with_capacity(template.len() + 64);
        let mut from = 0;
        for edit in edits {
            if edit.start < from {
                continue;
            }
            fixed.push_str(template.get(from..edit.start).unwrap_or_default());
            fixed.push_str(&edit.text);
            from = edit.end;
        }
        fixed.push_str(template.get(from..).unwrap_or_default());
        fixed
    }
}

/// One refusal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TemplateIssue {
    /// The reason.
    pub code: IssueCode,
    /// First byte of the offending text.
    pub offset: usize,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The offending text, shortened.
    pub found: String,
    /// The fault.
    pub message: String,
    /// The way out.
    pub fix: Fix,
}

impl TemplateIssue {
    /// Returns what is allowed instead.
    #[must_use]
    pub const fn allowed(&self) -> &'static str {
        self.code.allowed()
    }
}

impl fmt::Display for TemplateIssue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, line, column, message, .. } = self;
        write!(formatter, "{line}:{column} {code}: {message}")
    }
}

/// An issue without its line and column, which are looked up for the reported ones only.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) code: IssueCode,
    pub(super) start: usize,
    pub(super) found: String,
    pub(super) message: String,
    pub(super) fix: Fix,
}

/// Names a draft whose fix is completed later, when the matching end tag turns up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct DraftId(usize);

/// Collects refusals while the template is read.
#[derive(Debug, Default)]
pub(super) struct Issues {
    drafts: Vec<Draft>,
    edits: usize,
}

impl Issues {
    pub(super) fn add(
        &mut self,
        code: IssueCode,
        source: &str,
        span: std::ops::Range<usize>,
        message: impl Into<String>,
        mut fix: Fix,
    ) -> DraftId {
        for edit in &mut fix.edits {
            edit.order = self.edits;
            self.edits += 1;
        }
        let found = shorten(source.get(span.clone()).unwrap_or_default());
        self.drafts.push(Draft { code, start: span.start, found, message: message.into(), fix });
        DraftId(self.drafts.len() - 1)
    }

    /// Adds an edit to the fix of an earlier draft.
    pub(super) fn extend_fix(
        &mut self,
        id: DraftId,
        span: std::ops::Range<usize>,
        text: impl Into<String>,
    ) {
        let edit = Edit { start: span.start, end: span.end, text: text.into(), order: self.edits };
        self.edits += 1;
        if let Some(draft) = self.drafts.get_mut(id.0) {
            draft.fix.edits.push(edit);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.drafts.len() >= DRAFTS_MAX
    }

    /// Returns the first [`ISSUES_MAX`] by position.
    pub(super) fn finish(mut self, source: &str) -> Vec<TemplateIssue> {
        self.drafts.sort_by_key(|draft| draft.start);
        self.drafts.truncate(ISSUES_MAX);
        let mut lines = super::tokenize::position::LineCursor::new(source);
        let issue = |draft: Draft| {
            let Draft { code, start, found, message, mut fix } = draft;
            fix.edits.sort_by_key(|edit| (edit.start, edit.end, edit.order));
            let (line, column) = lines.at(start);
            TemplateIssue { code, offset: start, line, column, found, message, fix }
        };
        self.drafts.into_iter().map(issue).collect()
    }
}

/// Builds a fix of one edit.
pub(super) fn replace(
    span: std::ops::Range<usize>,
    text: impl Into<String>,
    summary: impl Into<String>,
) -> Fix {
    let edit = Edit { start: span.start, end: span.end, text: text.into(), order: 0 };
    Fix { summary: summary.into(), edits: vec![edit] }
}

/// Builds a fix that deletes the span.
pub(super) fn delete(span: std::ops::Range<usize>, summary: impl Into<String>) -> Fix {
    replace(span, "", summary)
}

/// Builds a fix that inserts text.
pub(super) fn insert(at: usize, text: impl Into<String>, summary: impl Into<String>) -> Fix {
    replace(at..at, text, summary)
}

/// Cuts a quotation to a readable length.
pub(super) fn shorten(text: &str) -> String {
    match text.char_indices().nth(FOUND_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
