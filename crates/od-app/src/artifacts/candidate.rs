//! From checked parts to a state that may be stored: what create, update and validate share.

use std::sync::Arc;

use od_core::error::Issue;
use od_core::json::Value;
use od_core::limits;
use od_core::template::{Template, TemplateWarning};

/// A template that compiles and fits its data, with the page it makes.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) page: Arc<[u8]>,
    pub(super) warnings: Vec<Issue>,
}

/// Compiles a template; what is wrong with it as issues.
pub(super) fn compile(html: &str) -> Result<(Template, Vec<Issue>), Vec<Issue>> {
    match Template::compile(html) {
        Ok((template, warnings)) => Ok((template, warnings.iter().map(remark).collect())),
        Err(faults) => Err(faults.iter().map(Issue::from).collect()),
    }
}

/// Checks a template against data and renders the page.
pub(super) fn draw(template: &Template, data: &Value) -> Result<Drawn, Vec<Issue>> {
    let check = template.check(data);
    if !check.errors.is_empty() {
        return Err(check.errors.iter().map(Issue::from).collect());
    }
    let mut page = Vec::new();
    // What the check does not see, such as a page that is too large.
    template.render(data, &mut page).map_err(|err| vec![Issue::from(&err)])?;
    Ok(Drawn { page: page.into(), warnings: check.warnings.iter().map(remark).collect() })
}

fn remark(warning: &TemplateWarning) -> Issue {
    let path = format!("template.html:{}:{}", warning.line, warning.column);
    Issue::new(&path, warning.code.as_str(), warning.message.clone()).got(&warning.found)
}

/// Keeps a report to the length of every report.
pub(super) fn bounded(mut issues: Vec<Issue>) -> Vec<Issue> {
    issues.truncate(limits::JSON_FAULTS.max());
    issues
}
