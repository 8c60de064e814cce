//! What others do appears by itself.

use crate::world::{World, from_file, place, sample};

#[tokio::test(flavor = "multi_thread")]
async fn an_artifact_of_an_agent_opens_by_itself_unless_another_is_being_read() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let tab = world.console("").await;
    tab.sees("No live artifacts yet").await;
    let first = world.agent_artifact(&project, from_file("First", "fleet.json", &sample(3))).await;
    tab.until(&format!("location.hash === '{}'", place(&project, &first, "preview"))).await;
    let second =
        world.agent_artifact(&project, from_file("Second", "fleet.json", &sample(3))).await;
    tab.sees("An agent made a live artifact").await;
    tab.until(&format!("location.hash === '{}'", place(&project, &first, "preview"))).await;
    tab.until("document.querySelector('.tree').innerText.includes('Second')").await;
    tab.click_named(".toast .button", "Open").await;
    tab.until(&format!("location.hash === '{}'", place(&project, &second, "preview"))).await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_tabs_stay_the_same() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(3))).await;
    let first = world.console(&place(&project, &id, "preview")).await;
    let second = world.console("").await;
    second.until("document.querySelector('.card')").await;
    first.press("p").await;
    second.until("document.querySelector('.card .pinned')").await;
    // A page asked for at the moment of its deletion is rightly answered with 404: both have theirs first.
    second.until("document.querySelector('.card .thumb iframe')").await;
    first.until("document.querySelector('[aria-label=Unpin]')").await;
    first.shows_preview().await;
    first.click_named(".icon-button", "Delete").await;
    second.sees("No live artifacts yet").await;
    first.click_named(".toast .button", "Undo").await;
    second.until("document.querySelector('.card')").await;
    world.assert_clean(&first, &[]);
    world.assert_clean(&second, &[]);
    world.end().await;
}
