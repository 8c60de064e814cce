//! Exported pages as a reader opens them: from a disk, without the daemon that made them.

use std::path::{Path, PathBuf};

use od_app::Caller;
use od_app::artifacts::{Address, ExportArtifact, export};
use od_core::export::ExportFormat;
use serde_json::{Value, json};

use crate::world::{World, from_file, place, sample};

const GALLERY: [&str; 8] =
    ["costs", "dashboard", "metrics", "releases", "report", "sprint", "status", "table"];

fn template(name: &str) -> (String, Value) {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills/live-artifact/assets/templates");
    let read = |file: String| std::fs::read_to_string(folder.join(file)).unwrap();
    let data = read(format!("{name}.data.json"));
    (read(format!("{name}.html")), serde_json::from_str(&data).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_page_of_the_gallery_opens_from_a_disk_without_a_request_or_a_violation() {
    let world = World::start().await;
    let project = world.project("web", &[]).await;
    let folder = tempfile::tempdir().unwrap();
    for name in GALLERY {
        let (html, data) = template(name);
        let title = format!("Exported {name}");
        let body = json!({
            "input": {
                "title": title,
                "document": { "format": "html_template_v2", "dataJson": data },
            },
            "templateHtml": html,
        });
        let artifact = world.artifact(&project, body).await;
        let address = Address { project: Some(project.clone()), artifact };
        let request = ExportArtifact { address, format: ExportFormat::Html, table: None };
        let file = export(world.daemon().app(), &Caller::Person, request).await.unwrap();
        let path: PathBuf = folder.path().join(&file.name);
        std::fs::write(&path, &file.text).unwrap();
        let url = format!("file://{}", path.display());
        for theme in ["light", "dark"] {
            let tab = world.browser.bare_tab().await;
            tab.prefer(&[("prefers-color-scheme", theme)]).await;
            tab.open(&url).await;
            tab.until("document.readyState === 'complete'").await;
            // The footer names what was exported, and the page above it has contents of its own.
            tab.sees(&title).await;
            tab.sees("sha256:").await;
            tab.until("document.body.querySelector('h1, h2, table, svg') !== null").await;
            assert_eq!(tab.problems(), [], "{name}, {theme}");
            let asked: Vec<String> = tab.requests().into_iter().map(|it| it.url).collect();
            assert!(asked.iter().all(|asked| *asked == url || asked == "about:blank"), "{asked:?}");
            tab.close().await;
        }
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_export_dialog_says_what_each_form_contains_and_saves_the_chosen_one() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(3))).await;
    let tab = world.console(&place(&project, &id, "preview")).await;
    // What a browser would save is only named: no test leaves files in somebody's downloads.
    tab.run(
        "(() => { window.saved = []; HTMLAnchorElement.prototype.click = function () { saved.push(this.download); }; })()",
    )
    .await;
    tab.click_named("button", "Export").await;
    for form in ["Page", "Table", "Markdown", "JSON", "Bundle", "Picture", "PDF"] {
        tab.until(&format!(
            "[...document.querySelectorAll('dialog .strong')].some((it) => it.textContent === '{form}' && \
             it.parentElement.textContent.length > 40)"
        ))
        .await;
    }
    tab.click("dialog details summary").await;
    tab.sees(&format!("od artifacts export {id} --bundle fleet.odb")).await;
    tab.click("dialog input[value=csv]").await;
    tab.click("dialog input[name=table]").await;
    tab.type_text("rows").await;
    tab.click_named("dialog button", "Download").await;
    tab.until("saved[0] === 'fleet-rows.csv'").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}
