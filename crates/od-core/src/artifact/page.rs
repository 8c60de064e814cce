//! The page of an artifact: compiled, checked and rendered; and the default page of an artifact
//! whose author gave no template.

use std::fmt::Write as _;

use crate::error::Issue;
use crate::json::{Map, Value};
use crate::template::{Inspection, RenderError, Template, TemplateIssue, TemplateWarning, is_key};

/// Compiles a template, compares it with data and renders the page: for what is about to be stored.
/// Returns the page, and remarks for the author of the template.
///
/// # Errors
///
/// Returns every fault of the template, or every binding that the data does not fit.
pub fn render_page(html: &str, data: &Value) -> Result<(Vec<u8>, Vec<Issue>), PageRefused> {
    let (template, remarks) = Template::compile(html).map_err(PageRefused::Template)?;
    let check = template.check(data);
    if !check.errors.is_empty() {
        return Err(PageRefused::Data(check.errors));
    }
    // Only rendering shows the rest, such as a page that is too large.
    let mut page = Vec::new();
    template.render(data, &mut page).map_err(|fault| PageRefused::Data(vec![fault]))?;
    Ok((page, remarks.iter().chain(&check.warnings).map(remark).collect()))
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

fn remark(warning: &TemplateWarning) -> Issue {
    let path = format!("template.html:{}:{}", warning.line, warning.column);
    Issue::new(&path, warning.code.as_str(), warning.message.clone()).got(&warning.found)
}

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1f2937}\
dt{font-weight:600}dd{margin:0 0 .75rem}table{border-collapse:collapse;margin:.5rem 0 1.5rem}\
th,td{border:1px solid #d1d5db;padding:.25rem .75rem;text-align:left}\
h1{font-size:1.4rem}h2{font-size:1.1rem}section section{margin-left:1rem}";

/// Columns of a table; wide rows would not be read anyway.
const COLUMNS_MAX: usize = 12;

/// Values, lists and tables on one page.
const PARTS_MAX: usize = 400;

/// The longest path that is bound, in bytes.
const PATH_MAX: usize = 400;

/// Returns a plain template for some data: the title, a list of its values, a table for each list
/// of objects, a section for each object inside it.
///
/// Keys that no binding can name are left out.
#[must_use]
pub fn default_template(title: &str, data: &Map) -> String {
    let title = as_text(title);
    let mut page = Page { html: String::new(), parts: 0 };
    page.object("data", data);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
         {}</body>\n</html>\n",
        page.html
    )
}

struct Page {
    html: String,
    parts: usize,
}

impl Page {
    /// Shows an object: its values first, then what is inside it. Data is at most 8 levels deep.
    fn object(&mut self, path: &str, object: &Map) {
        let mut is_listing = false;
        for (key, _) in bindable(object).filter(|(_, value)| is_scalar(value)) {
            let Some(path) = self.part(path, key) else { continue };
            if !is_listing {
                self.line("<dl>");
                is_listing = true;
            }
            self.line(&format!("<dt>{key}</dt><dd>{{{{{path}}}}}</dd>"));
        }
        if is_listing {
            self.line("</dl>");
        }
        for (key, value) in bindable(object) {
            match value {
                Value::Object(inner) if !inner.is_empty() => {
                    self.section(path, key, |page, path| page.object(path, inner));
                }
                Value::Array(rows) => self.section(path, key, |page, path| page.list(path, rows)),
                Value::Object(_)
                | Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_) => {}
            }
        }
    }

    fn section(&mut self, path: &str, key: &str, inside: impl FnOnce(&mut Self, &str)) {
        let Some(path) = self.part(path, key) else { return };
        self.line(&format!("<section>\n<h2>{key}</h2>"));
        inside(self, &path);
        self.line("</section>");
    }

    /// Shows a list: values as they are, objects as the rows of a table.
    fn list(&mut self, path: &str, rows: &[Value]) {
        if rows.iter().all(is_scalar) {
            // An empty list may be filled by a refresh, with either.
            if !rows.is_empty() {
                self.line(&format!(
                    "<ul>\n<li data-od-repeat=\"row in {path}\">{{{{row}}}}</li>\n</ul>"
                ));
            }
            return;
        }
        let columns = columns(rows);
        if columns.is_empty() || !rows.iter().all(Value::is_object) {
            return;
        }
        let head: String = columns.iter().map(|name| format!("<th>{name}</th>")).collect();
        let cells: String =
            columns.iter().map(|name| format!("<td>{{{{row.{name}}}}}</td>")).collect();
        self.line(&format!(
            "<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n\
             <tr data-od-repeat=\"row in {path}\">{cells}</tr>\n</tbody>\n</table>"
        ));
    }

    /// Returns the path of one more part, if the page has room for it.
    fn part(&mut self, path: &str, key: &str) -> Option<String> {
        let path = format!("{path}.{key}");
        if self.parts >= PARTS_MAX || path.len() > PATH_MAX {
            return None;
        }
        self.parts += 1;
        Some(path)
    }

    fn line(&mut self, line: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.html, "{line}");
    }
}

/// Returns the columns that every row can show, in first-seen order.
fn columns(rows: &[Value]) -> Vec<&str> {
    let mut columns: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().filter_map(Value::as_object).flat_map(bindable) {
        let shown = |row: &Value| row.get(name).is_none_or(is_scalar);
        if columns.len() < COLUMNS_MAX && !columns.contains(&name) && rows.iter().all(shown) {
            columns.push(name);
        }
    }
    columns
}

/// Returns the members that a binding can name. Their names stand in a page as they are.
fn bindable(object: &Map) -> impl Iterator<Item = (&str, &Value)> {
    object
        .iter()
        .filter(|(key, _)| is_key(key) && key.len() <= PATH_MAX)
        .map(|(key, value)| (key.as_str(), value))
}

fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// Writes a text so that neither HTML nor the template reads anything into it.
fn as_text(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            // Two of them would begin a binding.
            '{' => html.push_str("&#123;"),
            c => html.push(c),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn page(title: &str, data: &Value) -> String {
        let html = default_template(title, data.as_object().unwrap());
        let (template, _) = Template::compile(&html).unwrap_or_else(|e| panic!("{e:?}\n{html}"));
        let mut page = Vec::new();
        template.render(data, &mut page).unwrap();
        String::from_utf8(page).unwrap()
    }

    #[test]
    fn any_data_has_a_page_that_shows_it() {
        let shown = page(
            "T",
            &json!({
                "total": 3, "<odd key>": "x", "names": ["a", "b"],
                "rows": [{ "n": 1, "deep": {} }, { "n": 2, "m": null }], "nothing": [],
                "mixed": [1, {}],
            }),
        );
        assert!(shown.contains("<dd>3</dd>"));
        assert!(shown.contains("<li>a</li>") && shown.contains("<td>2</td>"));
        assert!(!shown.contains("odd key"));
        assert!(page("T", &json!({})).contains("<body>"));
    }

    #[test]
    fn what_is_inside_objects_and_under_every_key_a_binding_allows_is_shown() {
        let data = json!({ "summary": { "count": 3, "by": { "day": [{ "n": 8 }] } },
            "my-key": 4, "_x": 5 });
        let shown = page("T", &data);
        for value in ["<dd>3</dd>", "<td>8</td>", "<dd>4</dd>", "<dd>5</dd>"] {
            assert!(shown.contains(value), "{value} in {shown}");
        }
    }

    #[test]
    fn the_title_is_the_artifacts_and_only_text() {
        let shown = page("A & B <script> {{data.x}} {{", &json!({}));
        assert!(shown.contains("<h1>A &amp; B &lt;script&gt; "), "{shown}");
        assert!(!shown.contains("<script>"));
        assert!(!shown.contains("<title>Data"));
    }

    #[test]
    fn the_page_of_the_largest_data_is_within_the_limits() {
        let long = "k".repeat(300);
        let many: Map = (0..99).map(|i| (format!("{long}{i}"), json!(i))).collect();
        let data =
            json!({ "a": many, "b": { "c": many, "d": { "e": many } }, "f": many, "g": many });
        assert!(page("T", &data).contains("<dd>98</dd>"));
        let longest = json!({ "k".repeat(16_000): 1, "a": { "k".repeat(16_000): { "b": 1 } } });
        assert!(page("T", &longest).len() < 5_000);
    }

    #[test]
    fn a_stored_page_is_the_page_that_was_decided() {
        let html = "<!doctype html><title>T</title><p>{{data.n}}</p>";
        let (decided, _) = render_page(html, &json!({ "n": 1 })).unwrap();
        assert_eq!(render_stored(html, &json!({ "n": 1 }), None).unwrap(), decided);
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
