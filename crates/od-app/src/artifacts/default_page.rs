//! The page of an artifact whose author gave no template.

use std::fmt::Write as _;

use od_core::json::{Map, Value};

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
<title>Data</title>\n<style>\
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1f2937}\
dt{font-weight:600}dd{margin:0 0 .75rem}table{border-collapse:collapse;margin:.5rem 0 1.5rem}\
th,td{border:1px solid #d1d5db;padding:.25rem .75rem;text-align:left}h2{font-size:1.1rem}\
</style>\n</head>\n<body>\n";

/// Columns of a table; wide rows would not be read anyway.
const COLUMNS_MAX: usize = 12;

/// Returns a plain template for some data: a list of its values, a table for each list of objects.
pub(super) fn template(data: &Map) -> String {
    let mut html = HEAD.to_owned();
    let scalars: Vec<&String> = data
        .iter()
        .filter(|(key, value)| is_scalar(value) && is_name(key))
        .map(|(k, _)| k)
        .collect();
    if !scalars.is_empty() {
        html.push_str("<dl>\n");
        for key in scalars {
            // Writing to a String cannot fail.
            let _ = writeln!(html, "<dt>{key}</dt><dd>{{{{data.{key}}}}}</dd>");
        }
        html.push_str("</dl>\n");
    }
    for (key, value) in data.iter().filter(|(key, _)| is_name(key)) {
        if let Value::Array(rows) = value {
            table(&mut html, key, rows);
        }
    }
    html.push_str("</body>\n</html>\n");
    html
}

fn table(html: &mut String, key: &str, rows: &[Value]) {
    let _ = writeln!(html, "<h2>{key}</h2>");
    if !rows.is_empty() && rows.iter().all(is_scalar) {
        let _ = writeln!(
            html,
            "<ul>\n<li data-od-repeat=\"row in data.{key}\">{{{{row}}}}</li>\n</ul>"
        );
        return;
    }
    let mut columns: Vec<&String> = Vec::new();
    for row in rows.iter().filter_map(Value::as_object) {
        for name in row.keys().filter(|name| is_name(name)) {
            let bindable = rows.iter().all(|row| row.get(name.as_str()).is_none_or(is_scalar));
            if bindable && !columns.contains(&name) && columns.len() < COLUMNS_MAX {
                columns.push(name);
            }
        }
    }
    if columns.is_empty() || !rows.iter().all(Value::is_object) {
        return;
    }
    let head: String = columns.iter().map(|name| format!("<th>{name}</th>")).collect();
    let cells: String = columns.iter().map(|name| format!("<td>{{{{row.{name}}}}}</td>")).collect();
    let _ = writeln!(
        html,
        "<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n\
         <tr data-od-repeat=\"row in data.{key}\">{cells}</tr>\n</tbody>\n</table>"
    );
}

fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// Tells keys that can stand in a binding and in a page as they are.
fn is_name(key: &str) -> bool {
    let mut bytes = key.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use od_core::template::Template;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn page(data: &Value) -> String {
        let html = template(data.as_object().unwrap());
        let (template, _) = Template::compile(&html).unwrap();
        let mut page = Vec::new();
        template.render(data, &mut page).unwrap();
        String::from_utf8(page).unwrap()
    }

    #[test]
    fn any_data_has_a_page_that_shows_it() {
        let shown = page(&json!({
            "total": 3, "<odd key>": "x", "names": ["a", "b"],
            "rows": [{ "n": 1, "deep": {} }, { "n": 2, "m": null }], "nothing": [],
            "mixed": [1, {}], "nested": { "a": 1 },
        }));
        assert!(shown.contains("<dd>3</dd>"));
        assert!(shown.contains("<li>a</li>") && shown.contains("<td>2</td>"));
        assert!(!shown.contains("odd key"));
        assert!(page(&json!({})).contains("<body>"));
    }
}
