//! What can be copied, and what opens in a tab of its own.

use serde_json::Value;

use crate::world::{World, from_file, place, sample};

const COPIED: &str = "navigator.clipboard.readText()";

#[tokio::test(flavor = "multi_thread")]
async fn a_path_of_the_data_is_copied_as_a_template_names_it() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(3))).await;
    world.browser.allow_clipboard(world.daemon().url()).await;
    let tab = world.console(&place(&project, &id, "data?path=rows.1.state")).await;
    tab.click("[aria-label='Copy path rows.1.state']").await;
    tab.until("document.querySelector('[aria-live]')?.innerText !== undefined").await;
    tab.until("[...document.querySelectorAll('.sr')].some((el) => el.innerText === 'Copied path')")
        .await;
    assert_eq!(tab.run(COPIED).await, "rows.1.state");
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_that_starts_an_agent_is_copied_whole() {
    let world = World::start().await;
    world.project("web", &[]).await;
    world.browser.allow_clipboard(world.daemon().url()).await;
    let tab = world.console("#/new?project=web").await;
    let command = "od run --project web -- claude";
    tab.sees(command).await;
    let button = "[...document.querySelectorAll('.copyable')].find((el) => \
        el.innerText.includes('od run')).querySelector('button')";
    tab.run(&format!("void {button}.click()")).await;
    tab.until(
        "[...document.querySelectorAll('.sr')].some((el) => el.innerText === 'Copied command')",
    )
    .await;
    assert_eq!(tab.run(COPIED).await, Value::from(command));
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_opens_in_a_tab_of_its_own_on_the_preview_origin() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(3))).await;
    let tab = world.console(&place(&project, &id, "preview")).await;
    tab.shows_preview().await;
    let preview = format!("{}/preview/", world.daemon().preview_url());
    let click = tab.click_named(".icon-button", "Open in a new tab");
    world.browser.tab_opened_by(click, &preview, "Fleet").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}
