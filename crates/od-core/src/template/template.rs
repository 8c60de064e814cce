//! The compiled template.

use std::io::Write;

use serde_json::Value;

use super::issue::TemplateIssue;
use super::program::{Binding, Program, Repeat};
use super::render::error::RenderError;
use super::render::inspect::{INSPECTION_STYLE, Inspection};
use super::render::renderer::RenderReport;
use super::warning::Warnings;
use crate::chart::ChartTable;
use crate::format::Context;

/// The largest template, in bytes.
pub const TEMPLATE_BYTES_MAX: usize = crate::limits::TEMPLATE.max();

/// A version of the template language, named by `document.format`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Grammar {
    /// `html_template_v1`: bindings and one level of repeats.
    #[default]
    V1,
    /// `html_template_v2`: also conditions, nested repeats, row variables, formats and charts.
    V2,
}

/// A compiled template; it exists only if it was accepted.
///
/// ```
/// use od_core::template::Template;
///
/// let (template, _warnings) = Template::compile("<!doctype html><p>{{data.name}}</p>").unwrap();
/// let mut page = Vec::new();
/// template.render(&serde_json::json!({ "name": "<b>" }), &mut page).unwrap();
/// assert_eq!(page, b"<!doctype html><p>&lt;b&gt;</p>");
///
/// let faults = Template::compile("<p onclick='x()'>{{name}}</p>").unwrap_err();
/// assert_eq!(faults.len(), 2);
/// ```
#[derive(Debug)]
pub struct Template {
    pub(super) source: Box<str>,
    pub(super) program: Program,
}

impl Template {
    /// Compiles a template of `html_template_v1`, as [`Self::compile_as`] does.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::compile_as`] does.
    pub fn compile(html: &str) -> Result<(Self, Warnings), Vec<TemplateIssue>> {
        Self::compile_as(html, Grammar::V1)
    }

    /// Compiles a template of the given grammar, in time linear in its length.
    ///
    /// # Errors
    ///
    /// Returns every refusal by position, at most [`super::ISSUES_MAX`], each with a fix.
    pub fn compile_as(
        html: &str,
        grammar: Grammar,
    ) -> Result<(Self, Warnings), Vec<TemplateIssue>> {
        super::tree::compiler::compile(html, grammar)
    }

    /// Returns the template as it was written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns every path that the template reads, by position.
    #[must_use]
    pub fn bindings(&self) -> &[Binding] {
        &self.program.bindings
    }

    /// Returns the template's repeats, by position.
    #[must_use]
    pub fn repeats(&self) -> &[Repeat] {
        &self.program.repeats
    }

    /// Writes the page for `data`. The same template and data give the same bytes.
    ///
    /// # Errors
    ///
    /// Fails when the data does not fit the template (see [`RenderError`]), when the page would be
    /// larger than [`super::RENDERED_BYTES_MAX`], and when `out` fails; what was written by then is
    /// to be thrown away.
    pub fn render<W: Write>(&self, data: &Value, out: &mut W) -> Result<RenderReport, RenderError> {
        self.render_with(data, &Context::default(), out)
    }

    /// Writes the page for `data` in a locale and a zone, as [`Self::render`] does in English and UTC.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::render`] does.
    pub fn render_with<W: Write>(
        &self,
        data: &Value,
        context: &Context,
        out: &mut W,
    ) -> Result<RenderReport, RenderError> {
        super::render::renderer::render(&self.program, data, context, None, out)
    }

    /// Returns the values of every chart that the page for `data` has, in the order of the page.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::render`] does.
    pub fn chart_tables(
        &self,
        data: &Value,
        context: &Context,
    ) -> Result<Vec<ChartTable>, RenderError> {
        super::render::chart::chart_tables(&self.program, data, context)
    }

    /// Writes the page as [`Self::render`] does, with the path, source and time of every value on
    /// its element, and a style sheet that shows them on hover and focus.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::render`] does.
    pub fn render_inspect<W: Write>(
        &self,
        data: &Value,
        inspection: Inspection<'_>,
        out: &mut W,
    ) -> Result<RenderReport, RenderError> {
        self.render_inspect_with(data, &Context::default(), inspection, out)
    }

    /// Writes the page as [`Self::render_inspect`] does, in a locale and a zone.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::render`] does.
    pub fn render_inspect_with<W: Write>(
        &self,
        data: &Value,
        context: &Context,
        inspection: Inspection<'_>,
        out: &mut W,
    ) -> Result<RenderReport, RenderError> {
        let inspection = Some(inspection);
        let report =
            super::render::renderer::render(&self.program, data, context, inspection, out)?;
        let coverage =
            super::render::inspect::coverage_style(self.check_with(data, context).coverage);
        out.write_all(coverage.as_bytes())?;
        out.write_all(INSPECTION_STYLE.as_bytes())?;
        let added = coverage.len() + INSPECTION_STYLE.len();
        Ok(RenderReport { bytes: report.bytes + added, ..report })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::template::{Fix, IssueCode};

    #[track_caller]
    fn rendered(html: &str, data: &Value, expected: &str) {
        let (template, _) = Template::compile(html).unwrap();
        let mut out = Vec::new();
        template.render(data, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[track_caller]
    fn refused(html: &str, code: IssueCode) {
        let issues = Template::compile(html).unwrap_err();
        assert!(issues.iter().any(|issue| issue.code == code), "{html}: {issues:#?}");
        let fixed = Fix::apply(html, issues.iter().map(|issue| &issue.fix));
        let left = Template::compile(&fixed).err().unwrap_or_default();
        assert!(left.is_empty(), "{html}\n{fixed}\n{left:#?}");
    }

    #[test]
    fn text_attributes_and_rows_are_filled() {
        let data = json!({ "t": "<a & 'b'>", "n": 1e21, "rows": [{ "u": "https://x.test/?a=1&b=2", "w": 50 }, { "u": "/local" }] });
        rendered(
            "<p title='{{data.t}}'>{{ data.n }}",
            &data,
            "<p title='&lt;a &amp; &#39;b&#39;&gt;'>1e+21",
        );
        rendered(
            "<ul><li data-od-repeat=\"r in data.rows\"><a href=\"{{r.u}}\" style=\"width:{{r.w}}%\">{{data.n}}</a></li></ul>",
            &data,
            "<ul><li><a href=\"https://x.test/?a=1&amp;b=2\" style=\"width:50%\" target=\"_blank\" rel=\"noopener noreferrer\">1e+21</a></li>\
             <li><a href=\"/local\" style=\"width:%\">1e+21</a></li></ul>",
        );
        rendered("<pre>{{data.t}}</pre>", &data, "<pre>\n&lt;a &amp; &#39;b&#39;&gt;</pre>");
    }

    #[test]
    fn what_html_would_restructure_is_refused_with_a_fix_that_works() {
        refused("<table>{{data.x}}</table>", IssueCode::TextInTable);
        refused("<ul><li data-od-repeat='i in data.x'>{{i}}</ul>", IssueCode::RepeatUnclosed);
        refused(
            "<table><tr data-od-repeat='i in data.x'><td>{{i}}</td></tr></table>",
            IssueCode::RepeatPlacement,
        );
        refused("<p><span><div>{{data.x}}</div></span></p>", IssueCode::Misnested);
        refused("<div><b>x</div>{{data.x}}", IssueCode::UnclosedFormatting);
        refused("<p>a &am{{data.x}}", IssueCode::BindingAfterReference);
        refused("<p title={{data.x}}>", IssueCode::BindingUnquoted);
        refused("<p><{{data.x}}>", IssueCode::BindingAfterBracket);
        refused("<script>1</script><p>x", IssueCode::RefusedElement);
        refused("<a href='javascript:1'>x</a>", IssueCode::UrlRefused);
        refused("<p>a<svg><div>x</div></svg>", IssueCode::HtmlInForeign);
    }

    #[test]
    fn what_a_formula_cannot_hold_does_not_hide_in_one() {
        // HTML ends the formula at <embed>: what follows would be HTML that nobody had checked.
        refused("<math><embed src='/x'></math>", IssueCode::HtmlInForeign);
        refused("<math><mrow><embed></mrow><mi>x</mi></math>", IssueCode::HtmlInForeign);
        refused("<svg><embed src='/x'></svg>", IssueCode::RefusedElement);
    }

    #[test]
    fn no_template_says_what_other_hosts_learn_of_the_pages_address() {
        refused("<meta name=referrer content=unsafe-url><p>x", IssueCode::MetaRefused);
        refused("<meta name='Re&#102;errer' content=origin><p>x", IssueCode::MetaRefused);
        refused("<meta name='{{data.n}}' content='{{data.c}}'><p>x", IssueCode::MetaRefused);
        rendered(
            "<meta name=viewport content=x><p>x",
            &json!({}),
            "<meta name=viewport content=x><p>x",
        );
        refused("<img attributionsrc='javascript:x' alt=''>", IssueCode::UrlRefused);
    }

    #[test]
    fn no_value_becomes_an_address_in_css() {
        for style in [
            "background:{{data.a}}l({{data.b}})",
            "background:{{data.a}}&#40;x)",
            "background:{{data.a}}rl(x)",
            "background:url(&quot;/a)b{{data.a}}&quot;)",
            "background:image-set(&quot;/a{{data.a}}&quot; 1x)",
            "color:{{data.a}}&#42; x */",
        ] {
            refused(&format!("<p style=\"{style}\">x</p>"), IssueCode::BindingInCss);
        }
        let data = json!({ "a": "1" });
        rendered(
            "<p style=\"width:{{data.a}}px;height:calc({{data.a}}px * 2);content:'{{data.a}}'\">x</p>",
            &data,
            "<p style=\"width:1px;height:calc(1px * 2);content:'1'\">x</p>",
        );
    }
}
