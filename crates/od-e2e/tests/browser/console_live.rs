//! What others do appears by itself.

use crate::world::{PAGE_GONE, World, from_file, gone, place, sample};

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
    tab.point_at(".toast").await;
    tab.until(&format!("location.hash === '{}'", place(&project, &first, "preview"))).await;
    tab.until("document.querySelector('.tree').innerText.includes('Second')").await;
    tab.click_named(".toast .button", "Open").await;
    tab.until(&format!("location.hash === '{}'", place(&project, &second, "preview"))).await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_description_stands_in_the_card_and_under_the_title() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let mut request = from_file("Fleet", "fleet.json", &sample(3));
    request["input"]["description"] = "Vehicles on the road <today>".into();
    let id = world.artifact(&project, request).await;
    let tab = world.console("").await;
    let shown = "innerText.includes('Vehicles on the road <today>')";
    tab.until(&format!("document.querySelector('.card .meta')?.{shown}")).await;
    let opened = world.console(&place(&project, &id, "preview")).await;
    opened.until(&format!("document.querySelector('.title-block')?.{shown}")).await;
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
    first.until("document.querySelector('[aria-label=Pin]')").await;
    first.press("p").await;
    second.until("document.querySelector('.card .pinned')").await;
    second.shows_frames(".card .thumb iframe").await;
    first.until("document.querySelector('[aria-label=Unpin]')").await;
    first.shows_preview().await;
    first.click_named(".icon-button", "Delete").await;
    first.point_at(".toast").await;
    second.sees("No live artifacts yet").await;
    first.click_named(".toast .button", "Undo").await;
    second.until("document.querySelector('.card')").await;
    // What was asked for at the moment of the deletion is rightly answered with 404.
    world.assert_clean(&first, &[&gone(&id), PAGE_GONE]);
    world.assert_clean(&second, &[&gone(&id), PAGE_GONE]);
    world.end().await;
}
