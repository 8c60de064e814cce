//! Designs: projects, cards, search, empty states.

use crate::world::{World, from_file, from_github, sample};

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_console_says_what_to_do_next() {
    let world = World::start().await;
    world.project("web", &[]).await;
    let tab = world.console("").await;
    tab.sees("No live artifacts yet").await;
    tab.click_named("button", "New project").await;
    tab.until("document.activeElement?.name === 'name'").await;
    tab.type_text("Fleet <b>status</b>").await;
    tab.press("Enter").await;
    tab.sees("Nothing live in this project yet").await;
    tab.until("document.querySelector('main h1')?.innerText === 'Fleet <b>status</b>'").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cards_show_status_source_age_and_a_small_preview() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(3))).await;
    world.artifact(&project, from_github("Release list")).await;
    let tab = world.console("").await;
    tab.until("document.querySelectorAll('.card').length === 2").await;
    tab.sees("Project web · fleet.json").await;
    tab.sees("Project web · github.list_releases").await;
    tab.sees("Never refreshed").await;
    tab.sees("just now").await;
    tab.sees("2 live artifacts").await;
    tab.until("document.querySelectorAll('.thumb iframe[sandbox=\"\"]').length === 2").await;
    tab.press("/").await;
    tab.until("document.activeElement?.type === 'search'").await;
    tab.type_text("github").await;
    tab.until("document.querySelectorAll('.card').length === 1").await;
    tab.type_text(" nothing").await;
    tab.sees("Nothing matches").await;
    tab.click_named("button", "Clear the search").await;
    tab.until("document.querySelectorAll('.card').length === 2").await;
    tab.click_named("a", "Fleet status").await;
    tab.until("location.hash.endsWith('/preview')").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_preview_follows_an_edit_by_hand() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(3))).await;
    let tab = world.console("").await;
    let mut shown = String::new();
    for total in [3, 71, 72] {
        if total > 3 {
            world.edit(&project, &id, "data.json", &sample(total).to_string()).await;
            tab.run("void dispatchEvent(new Event('focus'))").await;
        }
        let frame = "(document.querySelector('.thumb iframe')?.src ?? '')";
        tab.until(&format!("{frame} && {frame} !== {shown:?}")).await;
        tab.shows_frames(".thumb iframe").await;
        shown = tab.run(frame).await.as_str().unwrap().to_owned();
    }
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn small_previews_come_back_however_often_they_were_left_while_loading() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(2))]).await;
    for name in ["First", "Second"] {
        world.artifact(&project, from_file(name, "fleet.json", &sample(2))).await;
    }
    let tab = world.console("").await;
    for _ in 0..3 {
        tab.go("#/connectors").await;
        // Leaves at the very moment at which a frame is there and has not loaded.
        tab.run(
            "new Promise((left) => { new MutationObserver((_, watching) => { \
             if (!document.querySelector('.thumb iframe')) return; \
             watching.disconnect(); location.hash = '#/connectors'; left(true); \
             }).observe(document.body, { childList: true, subtree: true }); \
             location.hash = '#/designs'; })",
        )
        .await;
        tab.until("!document.querySelector('.thumb')").await;
    }
    tab.go("#/designs").await;
    tab.until("document.querySelectorAll('.thumb iframe').length === 2").await;
    tab.shows_frames(".thumb iframe").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}
