//! The main flow without a mouse.

use crate::world::{World, from_file, sample};

fn focused(text: &str) -> String {
    format!(
        "(document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText).trim() === '{text}'"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn from_the_card_to_the_value_and_a_new_artifact_by_keys_alone() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(2))).await;
    let tab = world.console("").await;
    tab.until("document.querySelector('.card')").await;
    // The first stop leads past the header.
    tab.press("Tab").await;
    tab.until(&focused("Skip to content")).await;
    tab.tab_to(&focused("Fleet status")).await;
    tab.press("Enter").await;
    tab.until("location.hash.endsWith('/preview')").await;
    tab.shows_preview().await;
    tab.tab_to(&focused("Pin")).await;
    tab.press("Enter").await;
    tab.until("document.querySelector('[aria-label=Unpin]')").await;
    tab.tab_to(&focused("Refresh")).await;
    tab.press("Enter").await;
    tab.sees("Refreshed with new data").await;
    tab.tab_to("document.activeElement.role === 'tab'").await;
    tab.press("ArrowRight").await;
    tab.until("location.hash.endsWith('/source') && document.activeElement.id === 'tab-source'")
        .await;
    tab.press("ArrowLeft").await;
    tab.until("location.hash.endsWith('/preview')").await;
    tab.tab_to(&focused("Inspect")).await;
    tab.press("Enter").await;
    tab.until("document.querySelectorAll('.bindings li').length === 4").await;
    tab.tab_to("document.activeElement.closest('.bindings')?.innerText && document.activeElement.innerText.startsWith('total')").await;
    tab.press("Enter").await;
    tab.until("document.querySelector('.data-row.selected')?.innerText.includes('total')").await;
    tab.press("n").await;
    tab.until("location.hash.startsWith('#/new')").await;
    tab.until("document.querySelector('[name=file]')").await;
    tab.tab_to("document.activeElement.name === 'file'").await;
    tab.press(" ").await;
    tab.until("document.querySelector('form [type=submit]')").await;
    tab.tab_to("document.activeElement.type === 'submit'").await;
    tab.press("Enter").await;
    tab.until("location.hash.endsWith('/preview') && document.querySelector('main h1')?.innerText === 'Fleet'")
        .await;
    // A sheet over the page gives the focus back.
    tab.tab_to(&focused("Archive")).await;
    tab.press("?").await;
    tab.sees("Keyboard shortcuts").await;
    tab.press("Escape").await;
    tab.until("!document.querySelector('dialog')").await;
    tab.until(&focused("Archive")).await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}
