//! The rules as a library: read data strictly, compile a template, render it, and report every fault.
//!
//! `cargo run -p od-core --example embed`

use std::io::Write;

use od_core::ids::Digest;
use od_core::json::BoundedObject;
use od_core::template::Template;

const TEMPLATE: &str = r#"<!doctype html>
<title>{{data.title}}</title>
<main>
  <h1>{{data.title}}</h1>
  <ul><li data-od-repeat="row in data.rows">{{row.name}}: {{row.count}}</li></ul>
</main>
"#;

const DATA: &[u8] = br#"{
  "title": "Open <issues>",
  "rows": [{ "name": "search", "count": 3 }, { "name": "payments", "count": 0 }]
}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();

    // Bounded, strict JSON: duplicate keys, huge numbers and credential-like keys do not get in.
    let data = BoundedObject::parse(DATA)?;

    // A template is compiled once; a refusal lists every fault with its place and its fix.
    let (template, _warnings) = match Template::compile(TEMPLATE) {
        Ok(compiled) => compiled,
        Err(issues) => return Err(format!("{} faults: {issues:?}", issues.len()).into()),
    };
    let mut page = Vec::new();
    template.render(data.value(), &mut page)?;
    out.write_all(&page)?;

    // The same bytes in give the same bytes out, so a page can be named by its content.
    writeln!(out, "{}", Digest::of_bytes(&page))?;

    let refused = Template::compile("<p onclick='x()'>{{title}}</p>").err().unwrap_or_default();
    for issue in refused {
        writeln!(out, "refused: {issue}")?;
    }
    Ok(())
}
