//! From template and data to the page, with everything that is wrong as issues.

use std::io::Write;

use crate::error::Issue;
use crate::json::Value;
use crate::template::{Template, TemplateWarning};

/// Compiles a template.
///
/// # Errors
///
/// Returns everything that is wrong with it, by position.
pub fn compile(html: &str) -> Result<(Template, Vec<Issue>), Vec<Issue>> {
    match Template::compile(html) {
        Ok((template, warnings)) => Ok((template, warnings.iter().map(remark).collect())),
        Err(faults) => Err(faults.iter().map(Issue::from).collect()),
    }
}

/// Checks a template against data and writes the page. Returns what its author should know.
///
/// # Errors
///
/// Returns every binding that does not fit the data, or why the page cannot be written.
pub fn draw<W: Write>(
    template: &Template,
    data: &Value,
    out: &mut W,
) -> Result<Vec<Issue>, Vec<Issue>> {
    let check = template.check(data);
    if !check.errors.is_empty() {
        return Err(check.errors.iter().map(Issue::from).collect());
    }
    // What the check does not see, such as a page that is too large.
    template.render(data, out).map_err(|err| vec![Issue::from(&err)])?;
    Ok(check.warnings.iter().map(remark).collect())
}

fn remark(warning: &TemplateWarning) -> Issue {
    let path = format!("template.html:{}:{}", warning.line, warning.column);
    Issue::new(&path, warning.code.as_str(), warning.message.clone()).got(&warning.found)
}
