//! The template of a request, before it is compiled.

use crate::error::Issue;
use crate::fields::{Fields, wrong_type};
use crate::limits;

/// Reads `templateHtml`: its type and its size; the compiler does the rest.
pub(super) fn read_template(fields: &mut Fields<'_, '_>) -> Option<String> {
    let value = fields.get("templateHtml")?;
    let at = fields.at("templateHtml");
    let Some(template) = value.as_str() else {
        fields.issues.push(wrong_type(&at, value, "a string"));
        return None;
    };
    if !limits::TEMPLATE.allows(template.len()) {
        let issue = Issue::new(at.as_str(), "too_long", "the template is too large")
            .got(format!("{} bytes", template.len()))
            .want(limits::TEMPLATE.want());
        fields.issues.push(issue.fix("move content into the data, and repeat over it"));
        return None;
    }
    Some(template.to_owned())
}
