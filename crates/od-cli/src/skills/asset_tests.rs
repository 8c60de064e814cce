//! The templates that ship with the skill and the demo, under the engine itself.

use od_core::template::{Grammar, Template};
use serde_json::Value;

use super::check::tokens;
use super::{BUILTIN_FILES, GALLERY};

fn file(path: &str) -> &'static str {
    BUILTIN_FILES.iter().find(|file| file.path == path).unwrap().text
}

/// Compiles, checks against the data, renders twice, and wants no issue and no warning.
#[track_caller]
pub(crate) fn check_page(html: &str, data: &str) -> String {
    let data: Value = serde_json::from_str(data).unwrap();
    let (template, warnings) = Template::compile_as(html, Grammar::V2).unwrap_or_else(|issues| {
        panic!("{issues:#?}");
    });
    assert_eq!(format!("{warnings:?}"), format!("{:?}", od_core::template::Warnings::default()));
    let check = template.check(&data);
    assert!(check.errors.is_empty(), "{:?}", check.errors);
    let render = || {
        let mut page = Vec::new();
        template.render(&data, &mut page).unwrap();
        String::from_utf8(page).unwrap()
    };
    let page = render();
    assert_eq!(page, render());
    page
}

#[test]
fn the_dashboard_is_valid_and_shows_its_sample_data() {
    let page = check_page(
        file("assets/templates/dashboard.html"),
        file("assets/templates/dashboard.data.json"),
    );
    for part in
        ["Website relaunch", "Content migration", "<title>Apr 28: 12</title>", "width=\"88%\""]
    {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn the_report_is_valid_and_shows_its_sample_data() {
    let page =
        check_page(file("assets/templates/report.html"), file("assets/templates/report.data.json"));
    assert!(page.contains("Payments waits for a contract"));
}

#[test]
fn every_template_of_the_gallery_is_valid_has_a_line_and_survives_empty_lists() {
    for (name, purpose) in GALLERY {
        let html = file(&format!("assets/templates/{name}.html"));
        let data = file(&format!("assets/templates/{name}.data.json"));
        let page = check_page(html, data);
        assert!(page.contains("<h1>") && !purpose.is_empty(), "{name}");
        let mut data: Value = serde_json::from_str(data).unwrap();
        for value in data.as_object_mut().unwrap().values_mut() {
            if let Some(rows) = value.as_array_mut() {
                rows.clear();
            }
        }
        let (template, _) = Template::compile_as(html, Grammar::V2).unwrap();
        template.render(&data, &mut Vec::new()).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let shipped = BUILTIN_FILES.iter().filter(|file| file.path.ends_with(".html")).count();
    assert_eq!(shipped, GALLERY.len());
}

#[test]
fn one_reference_of_at_most_900_tokens_says_what_a_template_can() {
    let reference = file("references/template.md");
    let count = tokens(reference);
    assert!(count <= 900, "about {count} tokens");
    for word in [
        "data-od-if",
        "data-od-else",
        "data-od-repeat",
        "@index",
        "currency",
        "since",
        "or:",
        "data-od-chart",
        "stacked-bar",
    ] {
        assert!(reference.contains(word), "{word}");
    }
    // Its examples are templates: each block compiles and fits some data.
    for block in reference.split("```html").skip(1).map(|part| part.split("```").next().unwrap()) {
        let html = format!("<h1>x</h1>{block}");
        Template::compile_as(&html, Grammar::V2).unwrap_or_else(|issues| panic!("{issues:#?}"));
    }
}

#[test]
fn every_shipped_template_prints_and_knows_dark_mode() {
    for file in BUILTIN_FILES.iter().filter(|file| file.path.ends_with(".html")) {
        for need in ["prefers-color-scheme: dark", "@media print", "lang=\"en\"", "<main>"] {
            assert!(file.text.contains(need), "{}: {need}", file.path);
        }
    }
}
