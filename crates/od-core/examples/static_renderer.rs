//! A static renderer: a template and its data become a page, by the rules and with the refusals that the
//! daemon has. It needs the feature `template` alone: no store, no cryptography.
//!
//! `cargo run -p od-core --example static_renderer -- template.html data.json > page.html`

#![expect(clippy::disallowed_methods, reason = "a program of its own; the core reads nothing")]

use std::error::Error;
use std::io::{BufWriter, Write};

use od_core::json::BoundedObject;
use od_core::template::{Grammar, Template};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let page = match words.as_slice() {
        [template, data] => render(&std::fs::read_to_string(template)?, &std::fs::read(data)?)?,
        // Without arguments it shows what it does.
        _ => render(EXAMPLE, br#"{ "title": "Builds", "rows": [{ "day": "Mon", "n": 1234.5 }] }"#)?,
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    out.write_all(&page)?;
    Ok(out.flush()?)
}

const EXAMPLE: &str = "<!doctype html><title>{{data.title}}</title><h1>{{data.title}}</h1>\
    <ul><li data-od-repeat=\"row in data.rows\">{{row.day}}: {{row.n | number:1}}</li></ul>";

/// Renders a page, or names everything that is wrong with the template or the data.
pub(crate) fn render(template: &str, data: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let data = BoundedObject::parse(data)?;
    let (template, warnings) = Template::compile_as(template, Grammar::V2).map_err(|issues| {
        let lines: Vec<String> = issues.iter().map(ToString::to_string).collect();
        lines.join("\n")
    })?;
    for warning in warnings {
        writeln!(std::io::stderr(), "{}:{} {}", warning.line, warning.column, warning.message)?;
    }
    let mut page = Vec::new();
    template.render(data.value(), &mut page)?;
    Ok(page)
}
