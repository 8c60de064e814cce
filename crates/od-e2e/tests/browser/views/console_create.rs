//! New live artifact: a file and a template give a working page at once.

use serde_json::{Value, json};

use crate::world::{World, sample, target};

const CHOOSE: &str = "#/new?project=web";

#[tokio::test(flavor = "multi_thread")]
async fn any_json_file_becomes_a_page_that_refreshes() {
    let world = World::start().await;
    world.project("web", &[("data/fleet.json", sample(3)), ("notes.txt", Value::Null)]).await;
    let tab = world.console(CHOOSE).await;
    tab.click("input[value='data/fleet.json']").await;
    tab.click_named("button", "Create live artifact").await;
    tab.until("location.hash.endsWith('/preview') && document.querySelector('.preview-frame')")
        .await;
    tab.sees("Never refreshed").await;
    tab.until("document.querySelector('main h1').innerText === 'Fleet'").await;
    world.write("web", "data/fleet.json", &sample(4).to_string());
    tab.click_named("button", "Refresh").await;
    tab.sees("Refreshed with new data").await;
    tab.press("3").await;
    tab.until("document.querySelector('.data-tree')?.innerText.includes('4')").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_with_the_shape_of_a_bundled_template_gets_that_template() {
    let world = World::start().await;
    let bundled = target("../skills/live-artifact/assets/templates/report.data.json");
    let mut data: Value = serde_json::from_slice(&std::fs::read(bundled).unwrap()).unwrap();
    world.project("web", &[("report.json", data.clone())]).await;
    let tab = world.console("#/new?project=web&file=report.json").await;
    tab.click("input[value='report']").await;
    tab.click_named("button", "Create live artifact").await;
    tab.until("document.querySelector('.preview-frame')").await;
    tab.press("i").await;
    tab.until("document.querySelector('.bindings')?.innerText.includes('findings[].title')").await;
    // Its history begins with the first refresh, and with nothing but what that changed.
    tab.press("5").await;
    tab.sees("Never refreshed").await;
    data["title"] = json!("The report of today");
    world.write("web", "report.json", &data.to_string());
    tab.click_named("button", "Refresh").await;
    tab.sees("1 value changed").await;
    tab.click_named(".refresh a", "Open Revision 2").await;
    tab.shows_preview().await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_at_the_root_works_and_a_broken_file_leaves_nothing_behind() {
    let world = World::start().await;
    world
        .project(
            "web",
            &[("rows.json", json!([{ "id": 1, "name": "one" }, { "id": 2, "name": "two" }]))],
        )
        .await;
    world.write("web", "broken.json", "{ not json");
    let tab = world.console("#/new?project=web&file=broken.json").await;
    tab.click_named("button", "Create live artifact").await;
    tab.until("document.querySelector('.panel .problem')").await;
    tab.go("#/designs").await;
    tab.sees("No live artifacts yet").await;
    tab.go("#/new?project=web&file=rows.json").await;
    tab.click_named("button", "Create live artifact").await;
    tab.until("document.querySelector('.preview-frame')").await;
    // Nothing was made of the broken file, not even for a moment.
    tab.until("document.querySelectorAll('.tree-leaf[href*=live]').length === 1").await;
    world.assert_clean(&tab, &["/files?path=broken.json"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_that_starts_an_agent_can_be_copied() {
    let world = World::start().await;
    world.project("web", &[]).await;
    let tab = world.console(CHOOSE).await;
    tab.sees("No JSON, CSV or SQLite files in this project").await;
    tab.sees("od run --project web -- claude").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}
