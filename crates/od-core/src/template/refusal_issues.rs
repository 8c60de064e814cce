//! Conversion of refusals to the issues that every door reports.

use std::borrow::Cow;

use super::issue::TemplateIssue;
use super::render::error::RenderError;
use crate::error::{ErrorCode, Issue};
use crate::limits::{CHART_POINTS, RENDERED_PREVIEW, TEMPLATE_ROWS};

impl From<&TemplateIssue> for Issue {
    fn from(issue: &TemplateIssue) -> Self {
        let TemplateIssue { code, line, column, message, found, fix, .. } = issue;
        Self {
            path: format!("template.html:{line}:{column}"),
            code: ErrorCode::TemplateBindingInvalid.as_str().to_owned(),
            message: format!("{code}: {message}"),
            got: Some(found.clone()),
            want: Some(code.allowed().to_owned()),
            fix: Some(fix.summary.clone()),
        }
    }
}

impl From<&RenderError> for Issue {
    fn from(error: &RenderError) -> Self {
        let (want, fix) = advice(error);
        let path = error.place().map_or_else(
            || "template.html".to_owned(),
            |at| format!("template.html:{}:{}", at.line, at.column),
        );
        Self {
            path,
            code: ErrorCode::TemplateBindingInvalid.as_str().to_owned(),
            message: error.to_string(),
            got: got(error),
            want: Some(want.into_owned()),
            fix: Some(fix),
        }
    }
}

/// How the number of rows is compared.
pub(crate) const COUNT_ROWS: &str = "a list has no length: write the number of its rows into the data, or take count(*) in a query, and test that";

/// Returns whether a path asks a list for its length, as other languages do.
fn counts_rows(path: &str) -> bool {
    [".length", ".size", ".count"].iter().any(|end| path.ends_with(end))
}

fn got(error: &RenderError) -> Option<String> {
    match error {
        RenderError::NotScalar { found, .. }
        | RenderError::NotArray { found, .. }
        | RenderError::NoOrder { found, .. } => Some((*found).to_owned()),
        RenderError::Format { found, .. } | RenderError::NotDrawable { found, .. } => {
            Some((*found).to_owned())
        }
        RenderError::TooManyPoints { points, .. } => Some(format!("{points} rows")),
        RenderError::TooManyRows { rows } => Some(format!("{rows} rows when it was stopped")),
        RenderError::Url { url, .. } => Some(url.clone()),
        RenderError::Css { value, .. } => Some(value.clone()),
        RenderError::TooLarge { measured } => Some(format!("{measured} bytes when it was stopped")),
        RenderError::Write(_) => None,
    }
}

fn advice(error: &RenderError) -> (Cow<'static, str>, String) {
    let (want, fix) = match error {
        RenderError::NotScalar { at, .. } => (
            "strings, numbers, booleans and null; lists in data-od-repeat",
            format!("bind a value inside `{}`, or repeat an element over it", at.path),
        ),
        RenderError::NotArray { at, .. } => {
            ("an array; an empty one for no rows", format!("make `{}` an array", at.path))
        }
        RenderError::NoOrder { at, found } if *found == "missing" && counts_rows(&at.path) => {
            ("a number or a text, like the literal beside it", COUNT_ROWS.to_owned())
        }
        RenderError::NoOrder { at, .. } => (
            "a number or a text, like the literal beside it",
            format!("test `{}` for a value first, on an element around it", at.path),
        ),
        RenderError::Format { at, format, fault, .. } => {
            return (
                format!("{format} {fault}").into(),
                format!("put such a value at `{}`, or change the format", at.path),
            );
        }
        RenderError::NotDrawable { at, .. } => (
            "numbers, decimal texts, and null where there is a gap",
            format!("put a number at `{}`, or draw another path", at.path),
        ),
        RenderError::TooManyPoints { at, .. } => {
            return (
                CHART_POINTS.want().into(),
                format!("group or limit `{}` in a query", at.path),
            );
        }
        RenderError::TooManyRows { .. } => {
            return (TEMPLATE_ROWS.want().into(), "show fewer rows".to_owned());
        }
        RenderError::Url { at, .. } => (
            "http:, https:, relative paths and fragments",
            format!("put an allowed URL at `{}`", at.path),
        ),
        RenderError::Css { at, .. } => (
            "letters, digits, spaces and #%.,+-()_/ without url(",
            format!("put a plain CSS value at `{}`", at.path),
        ),
        RenderError::TooLarge { .. } => {
            return (RENDERED_PREVIEW.want().into(), "show fewer rows".to_owned());
        }
        RenderError::Write(_) => ("a place to write to", "try again".to_owned()),
    };
    (want.into(), fix)
}
