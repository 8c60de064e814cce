//! Where each value comes from.

use crate::world::{World, from_file, place, sample};

#[tokio::test(flavor = "multi_thread")]
async fn inspect_lists_every_binding_and_each_leads_to_its_data() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(3))).await;
    let tab = world.console(&place(&project, &id, "preview")).await;
    tab.click_named(".segments button", "Inspect").await;
    tab.until("document.querySelectorAll('.bindings li').length === 4").await;
    tab.until("document.querySelector('.preview-frame')?.src.includes('/preview/')").await;
    tab.click_named(".bindings a", "total\n3").await;
    tab.until("location.hash.includes('/data?path=total')").await;
    tab.until("document.querySelector('.data-row.selected')?.innerText.includes('total')").await;
    tab.press("/").await;
    tab.until("document.activeElement?.type === 'search'").await;
    tab.type_text("busy").await;
    tab.until("document.querySelectorAll('.data-row').length === 3").await;
    tab.sees("1 match").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn previews_are_sandboxed_on_their_own_origin() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(3))).await;
    let tab = world.console(&place(&project, &id, "preview")).await;
    let origin = world.daemon().preview_url();
    tab.until(&format!("document.querySelector('.preview-frame')?.src.startsWith('{origin}/')"))
        .await;
    tab.until(
        "document.querySelector('.preview-frame').getAttribute('sandbox') === \
         'allow-popups allow-popups-to-escape-sandbox'",
    )
    .await;
    tab.until(
        "[...document.querySelectorAll('iframe')].every((el) => el.contentDocument === null)",
    )
    .await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}
