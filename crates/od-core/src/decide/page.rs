//! The page of a state: the one way from a template and data to HTML.

use crate::error::Issue;
use crate::json::Value;
use crate::template::{Inspection, RenderError, Template, TemplateIssue, TemplateWarning};

/// A page that fits its data, and what the author of its template should know.
#[derive(Clone, Debug)]
pub struct RenderedPage {
    /// The HTML.
    pub bytes: Vec<u8>,
    /// Remarks about the template, alone and with this data.
    pub warnings: Vec<Issue>,
}

/// Why a template and data make no page. The lists are never empty.
#[derive(Debug, thiserror::Error)]
pub enum PageRefused {
    /// The template breaks rules, whatever the data.
    #[error("the template does not compile")]
    Template(Vec<TemplateIssue>),
    /// The data does not fit the template, or the page would be too large. Told by its first fault.
    #[error("{}", .0.first().map(ToString::to_string).unwrap_or_default())]
    Data(Vec<RenderError>),
}

impl PageRefused {
    /// Returns everything that is wrong, by position in the template.
    #[must_use]
    pub fn issues(&self) -> Vec<Issue> {
        match self {
            Self::Template(faults) => faults.iter().map(Issue::from).collect(),
            Self::Data(faults) => faults.iter().map(Issue::from).collect(),
        }
    }
}

/// Compiles a template, compares it with data and renders the page: for what is about to be stored.
///
/// # Errors
///
/// Returns every fault of the template, or every binding that the data does not fit.
pub fn render_page(html: &str, data: &Value) -> Result<RenderedPage, PageRefused> {
    let (template, remarks) = Template::compile(html).map_err(PageRefused::Template)?;
    let check = template.check(data);
    if !check.errors.is_empty() {
        return Err(PageRefused::Data(check.errors));
    }
    // Only rendering shows the rest, such as a page that is too large.
    let mut bytes = Vec::new();
    template.render(data, &mut bytes).map_err(|fault| PageRefused::Data(vec![fault]))?;
    let warnings = remarks.iter().chain(&check.warnings).map(remark).collect();
    Ok(RenderedPage { bytes, warnings })
}

/// Renders the page of a state that was checked when it was stored, with the origin of its values
/// where an inspection is given. Nothing is collected: the first fault ends it.
///
/// # Errors
///
/// Fails where [`render_page`] would, with one fault of the data.
pub fn render_stored(
    html: &str,
    data: &Value,
    inspection: Option<Inspection<'_>>,
) -> Result<Vec<u8>, PageRefused> {
    let (template, _) = Template::compile(html).map_err(PageRefused::Template)?;
    let mut bytes = Vec::new();
    let rendered = match inspection {
        None => template.render(data, &mut bytes),
        Some(inspection) => template.render_inspect(data, inspection, &mut bytes),
    };
    rendered.map_err(|fault| PageRefused::Data(vec![fault]))?;
    Ok(bytes)
}

/// Returns the faults of a template, and of its bindings where the data is known.
#[must_use]
pub fn check_page(html: &str, data: Option<&Value>) -> Vec<Issue> {
    let refused = match data {
        Some(data) => render_page(html, data).err(),
        None => Template::compile(html).err().map(PageRefused::Template),
    };
    refused.map(|refused| refused.issues()).unwrap_or_default()
}

fn remark(warning: &TemplateWarning) -> Issue {
    let path = format!("template.html:{}:{}", warning.line, warning.column);
    Issue::new(&path, warning.code.as_str(), warning.message.clone()).got(&warning.found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_stored_page_is_the_page_that_was_decided() {
        let html = "<!doctype html><title>T</title><p>{{data.n}}</p>";
        let decided = render_page(html, &json!({ "n": 1 })).unwrap();
        assert_eq!(render_stored(html, &json!({ "n": 1 }), None).unwrap(), decided.bytes);
    }

    #[test]
    fn rendering_stops_at_the_first_fault_that_the_check_names() {
        let html = "<ul><li data-od-repeat=\"row in data.rows\">{{row.a}}</li></ul>\
            <a href=\"{{data.url}}\">x</a><p>{{data.o}}</p><p>{{data.l}}</p>";
        let row = |a: Value| json!({ "a": a });
        for data in [
            json!({ "rows": 1, "url": "javascript:x", "o": {}, "l": [] }),
            json!({ "rows": [row(json!(1)), row(json!({}))], "url": "javascript:x", "o": {} }),
            json!({ "rows": [], "url": "javascript:x", "o": {} }),
            json!({ "rows": [], "url": "/x", "o": {}, "l": [1] }),
            json!({ "rows": [], "url": "/x", "l": [1] }),
        ] {
            let first = |refused: PageRefused| match refused {
                PageRefused::Data(faults) => faults[0].to_string(),
                PageRefused::Template(faults) => panic!("{faults:?}"),
            };
            let checked = first(render_page(html, &data).unwrap_err());
            assert_eq!(first(render_stored(html, &data, None).unwrap_err()), checked, "{data}");
        }
    }
}
