//! Rendering allocates nothing but its output.

use od_core::template::Template;
use serde_json::{Value, json};

const PAGE: &str = "<!doctype html><html lang=\"en\"><head><title>{{data.title}}</title></head><body>\
    <p title=\"{{data.title}}\" style=\"--share: {{data.share}}\">{{data.share}} {{data.on}} {{data.none}}</p>\
    <ul><li data-od-repeat=\"row in data.rows\">{{row.name}}: {{row.count}} {{row.deep.value}}</li></ul></body></html>";

fn data(rows: usize) -> Value {
    let row =
        |n: usize| json!({ "name": format!("R&D <{n}>"), "count": n, "deep": { "value": 0.25 } });
    json!({
        "title": "Weekly \"figures\"", "share": 12.5, "on": true, "none": null,
        "rows": (0..rows).map(row).collect::<Vec<_>>(),
    })
}

#[test]
fn rendering_allocates_nothing_but_its_output() {
    let (template, _) = Template::compile(PAGE).unwrap();
    let data = data(500);
    let mut page = Vec::with_capacity(1 << 20);
    let counted = allocation_counter::measure(|| {
        template.render(&data, &mut page).unwrap();
    });
    assert!(page.len() > 500 * 20);
    assert_eq!(counted.count_total, 0);
}

/// The counter itself counts: the same page with a URL in it is checked as text of its own.
#[test]
fn a_url_made_of_parts_is_the_exception() {
    let html = "<p><a href=\"https://example.com/{{data.title}}\">x</a></p>";
    let (template, _) = Template::compile(html).unwrap();
    let mut page = Vec::with_capacity(1 << 10);
    let counted = allocation_counter::measure(|| {
        template.render(&json!({ "title": "a" }), &mut page).unwrap();
    });
    assert!(counted.count_total > 0);
}
