//! The templates that ship with the skill and the demo, under the engine itself.

use od_core::template::Template;
use serde_json::Value;

use super::BUILTIN_FILES;

fn file(path: &str) -> &'static str {
    BUILTIN_FILES.iter().find(|file| file.path == path).unwrap().text
}

/// Compiles, checks against the data, renders twice, and wants no issue and no warning.
#[track_caller]
pub(crate) fn check_page(html: &str, data: &str) -> String {
    let data: Value = serde_json::from_str(data).unwrap();
    let (template, warnings) = Template::compile(html).unwrap_or_else(|issues| {
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
    for part in ["Website relaunch", "Content migration", "viewBox=\"0 0 10 12\"", "width: 88%"] {
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
fn every_shipped_template_prints_and_knows_dark_mode() {
    for file in BUILTIN_FILES.iter().filter(|file| file.path.ends_with(".html")) {
        for need in ["prefers-color-scheme: dark", "@media print", "lang=\"en\"", "<main>"] {
            assert!(file.text.contains(need), "{}: {need}", file.path);
        }
    }
}
