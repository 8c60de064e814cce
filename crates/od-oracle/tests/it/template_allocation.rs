//! Rendering allocates nothing but its output.

use od_core::format::{Context, Locale};
use od_core::template::{Grammar, Template};
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

const PAGE_V2: &str = "<body><h1 data-od-if=\"data.on == true\">{{data.title | upper}}</h1><p data-od-else>{{data.none | or:'–'}}</p>\
    <ul><li data-od-repeat=\"row in data.rows\" style=\"width: {{row.deep.value | percent:1}}\">{{@number | number}} {{row.count | number:2}} \
    {{row.count | currency:EUR}} {{row.count | compact}} {{row.count | bytes}} {{row.count | duration:s}} {{row.count | since:s}} \
    {{row.count | datetime:s:full}} {{row.name | title}} {{row.name | truncate:4}} {{row.count | plural:'row':'rows'}} {{row.count | delta:1:percent}}\
    <b data-od-if=\"row.count >= 250\">{{row.gone | number:1 | or:'–'}}</b><b data-od-else>{{row.deep | count}}</b></li></ul></body>";

#[test]
fn formats_and_conditions_allocate_nothing_either() {
    let (template, _) = Template::compile_as(PAGE_V2, Grammar::V2).unwrap();
    let data = data(500);
    let zone = "Europe/Berlin".parse().unwrap();
    let context = Context { locale: Locale::Fr, zone, ..Context::default() };
    let mut page = Vec::with_capacity(1 << 20);
    let counted = allocation_counter::measure(|| {
        template.render_with(&data, &context, &mut page).unwrap();
    });
    assert!(page.len() > 500 * 200);
    assert_eq!(counted.count_total, 0);
}

const CHART: &str = "<div data-od-chart=\"area\" data-od-repeat=\"row in data.rows\" data-od-x=\"row.name\" \
    data-od-y=\"row.count row.deep.value\" data-od-format=\"currency:EUR\"></div>";

#[test]
fn a_second_chart_uses_the_scratch_space_of_the_first() {
    let data = data(500);
    let count = |charts: usize| {
        let html = format!("<p>x</p>{}", CHART.repeat(charts));
        let (template, _) = Template::compile_as(&html, Grammar::V2).unwrap();
        let mut page = Vec::with_capacity(1 << 20);
        let measured = allocation_counter::measure(|| {
            template.render(&data, &mut page).unwrap();
        });
        assert!(page.len() > charts * 500 * 40);
        measured.count_total
    };
    assert_eq!(count(1), count(6));
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
