//! Nothing that an artifact says ever becomes part of the console.

use serde_json::json;

use crate::world::{World, place};

const BOMB: &str =
    "\"><img src=x onerror=document.title='owned'><script>document.title='owned'</script>{{7*7}}";

#[tokio::test(flavor = "multi_thread")]
async fn titles_data_files_and_errors_stay_text() {
    let world = World::start().await;
    let project = world.project("web", &[("<img src=x>.json", json!({ "a": 1 }))]).await;
    let body = json!({
        "input": {
            "title": BOMB,
            "document": {
                "format": "html_template_v1",
                "dataJson": { "value": BOMB, "<b>key</b>": [{ "id": BOMB }] },
                "sourceJson": {
                    "type": "local_file",
                    "input": { "path": "<img src=x>.json" },
                    "refreshPermission": "manual_refresh_granted_for_read_only",
                },
            },
        },
        "templateHtml": "<p>{{data.value}}</p>",
        "provenanceJson": {
            "generatedAt": "2026-04-30T00:00:00.000Z", "generatedBy": "agent", "notes": BOMB,
            "sources": [{ "label": BOMB, "type": "derived", "ref": "javascript:alert(1)" }],
        },
    });
    let id = world.artifact(&project, body).await;
    let tab = world.console("").await;
    for name in ["preview", "preview?inspect=1", "source", "data", "provenance", "history"] {
        tab.go(&place(&project, &id, name)).await;
        tab.until("document.querySelector('main h1')?.innerText.includes('onerror')").await;
        tab.until("!document.querySelector('img, main script, b, a[href^=javascript]')").await;
    }
    tab.go("#/designs").await;
    tab.until("document.querySelector('.card-title')?.innerText.includes('onerror')").await;
    std::fs::remove_file(world.path("web", "<img src=x>.json")).unwrap();
    tab.go(&place(&project, &id, "preview")).await;
    tab.click_named("button", "Refresh").await;
    tab.sees("Refresh failed:").await;
    tab.until("!document.querySelector('img') && !document.title.includes('owned ')").await;
    world.assert_clean(&tab, &["/refresh"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_policy_refuses_html_from_strings() {
    let world = World::start().await;
    let tab = world.console("").await;
    let refused = tab.run("(() => { try { document.body['inner' + 'HTML'] = '<p>'; return false; } catch { return true; } })()").await;
    assert_eq!(refused, true);
    world.end().await;
}
