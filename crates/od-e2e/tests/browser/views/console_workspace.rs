//! The workspace: tree, tabs, toolbar.

use crate::world::{PAGE_GONE, World, from_file, gone, place, sample};

#[tokio::test(flavor = "multi_thread")]
async fn the_tree_shows_artifacts_and_files_and_every_tab_has_an_address() {
    let world = World::start().await;
    let project =
        world.project("web", &[("fleet.json", sample(3)), ("src/a.txt", "x".into())]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(3))).await;
    let tab = world.console(&place(&project, &id, "source")).await;
    tab.sees("What a refresh does").await;
    tab.sees("Reads the file fleet.json of this project.").await;
    tab.until("document.querySelector('.tree')?.textContent.includes('src/a.txt')").await;
    tab.until("document.querySelector('.tree-leaf[aria-selected=true] .badge')?.innerText === 'Never refreshed'").await;
    for (name, shown) in
        [("data", "a-2"), ("provenance", "This state"), ("history", "Never refreshed")]
    {
        tab.go(&place(&project, &id, name)).await;
        tab.sees(shown).await;
        tab.until(&format!("document.querySelector('#tab-{name}').ariaSelected === 'true'")).await;
    }
    tab.go("#/p/web/file/fleet.json").await;
    tab.sees("Turn this file into a live artifact").await;
    tab.go("#/p/web/live/la-gone-000000000000").await;
    tab.sees("There is no such live artifact here").await;
    world.assert_clean(&tab, &["la-gone"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_artifact_is_renamed_and_its_provenance_names_the_account() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let mut body = from_file("Fleet status", "fleet.json", &sample(3));
    body["provenanceJson"] = serde_json::json!({
        "sources": [{ "label": "Releases", "type": "connector", "accountLabel": "octo" }],
    });
    let id = world.artifact(&project, body).await;
    let tab = world.console(&place(&project, &id, "provenance")).await;
    tab.until("document.querySelector('.line')?.innerText.includes('as octo')").await;
    tab.click_named(".icon-button", "Rename").await;
    tab.until("document.activeElement?.value === 'Fleet status'").await;
    tab.run("void document.activeElement.select()").await;
    tab.type_text("Boats").await;
    tab.press("Enter").await;
    tab.until("document.querySelector('h1')?.innerText === 'Boats'").await;
    tab.until("document.querySelector('.tree-leaf')?.innerText.includes('Boats')").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pin_archive_delete_and_undo() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(3))).await;
    let tab = world.console(&place(&project, &id, "preview")).await;
    tab.click_named(".icon-button", "Pin").await;
    tab.until("document.querySelector('[aria-label=Unpin]')?.ariaPressed === 'true'").await;
    tab.click_named(".icon-button", "Archive").await;
    tab.point_at(".toast").await;
    tab.until("document.querySelector('.stage-head')?.innerText.includes('Archived')").await;
    tab.until("![...document.querySelectorAll('button')].some((el) => el.innerText === 'Refresh')")
        .await;
    tab.until("document.querySelector('.tree-leaf .badge')?.innerText === 'Archived'").await;
    tab.click_named(".toast .button", "Undo").await;
    tab.until("document.querySelector('.stage-head')?.innerText.includes('Never refreshed')").await;
    tab.click_named(".icon-button", "Delete").await;
    tab.sees("is kept there for 7 days").await;
    tab.point_at(".toast").await;
    tab.until("location.hash === '#/p/web'").await;
    tab.click_named(".toast .button", "Undo").await;
    tab.until("document.querySelector('.stage-head')?.innerText.includes('Fleet status')").await;
    // What was asked for at the moment of the deletion is rightly answered with 404.
    world.assert_clean(&tab, &[&gone(&id), PAGE_GONE]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_permission_switch_takes_refresh_away_and_gives_it_back() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(3))).await;
    let tab = world.console(&place(&project, &id, "preview")).await;
    let (head, switch) =
        ("document.querySelector('.stage-head')", "document.querySelector('[role=switch]')");
    tab.until(&format!(
        "{switch}?.innerText === 'Allow refresh' && {switch}.ariaChecked === 'true'"
    ))
    .await;
    tab.click("[role=switch]").await;
    tab.until(&format!("{switch}.ariaChecked === 'false' && {head}.innerText.includes('Static')"))
        .await;
    tab.until("![...document.querySelectorAll('.toolbar button')].some((el) => el.innerText === 'Refresh')").await;
    tab.click("[role=switch]").await;
    tab.until("[...document.querySelectorAll('.toolbar button')].some((el) => el.innerText === 'Refresh')").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_alone_are_enough() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(3))).await;
    let tab = world.console("").await;
    tab.until("document.querySelector('.card')").await;
    tab.press("?").await;
    tab.sees("Keyboard shortcuts").await;
    tab.press("Escape").await;
    tab.until("!document.querySelector('dialog')").await;
    // From the heading on, tab reaches the card, and its focus can be seen.
    tab.until("(document.querySelector('.card-title').focus(), true)").await;
    tab.press("Enter").await;
    tab.until("location.hash.endsWith('/preview')").await;
    for (key, name) in
        [("2", "source"), ("3", "data"), ("4", "provenance"), ("5", "history"), ("1", "preview")]
    {
        tab.press(key).await;
        tab.until(&format!("location.hash.endsWith('/{name}')")).await;
    }
    tab.press("3").await;
    tab.until("(document.querySelector('.data-row')?.focus(), document.activeElement.role === 'treeitem')").await;
    tab.press("End").await;
    tab.until("document.activeElement === [...document.querySelectorAll('.data-row')].at(-1)")
        .await;
    tab.press("ArrowLeft").await;
    tab.until("document.activeElement.getAttribute('aria-expanded') === 'true'").await;
    tab.press("ArrowLeft").await;
    tab.until("document.activeElement.getAttribute('aria-expanded') === 'false'").await;
    tab.press("r").await;
    tab.sees("Refreshed: nothing had changed").await;
    tab.press("p").await;
    tab.until("document.querySelector('[aria-label=Unpin]')").await;
    tab.press("g").await;
    tab.press("c").await;
    // The address and its view change in one step: a key pressed now is already one in the new view.
    tab.until("location.hash === '#/connectors'").await;
    tab.until("document.activeElement.matches('main h1')").await;
    tab.press("Tab").await;
    tab.until("getComputedStyle(document.activeElement).outlineStyle !== 'none'").await;
    world.assert_clean(&tab, &[]);
    let _ = id;
    world.end().await;
}
