//! Every place has an address that works from nothing.

use crate::world::{World, from_file, place, sample};

#[tokio::test(flavor = "multi_thread")]
async fn every_address_opens_its_place_in_a_new_tab() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(2))).await;
    // This tab has the session and lends it to the others.
    let first = world.console(&place(&project, &id, "history")).await;
    for total in [3, 4] {
        world.write("web", "fleet.json", &sample(total).to_string());
        first.click_named("button", "Refresh").await;
        let seen = format!("document.querySelectorAll('.refresh').length === {}", total - 2);
        first.until(&seen).await;
        first.until("!document.querySelector('.progress')").await;
    }
    let live = |rest: &str| place(&project, &id, rest);
    let places = [
        ("#/designs".to_owned(), "document.querySelector('.card')"),
        ("#/connectors".to_owned(), "document.querySelector('.connector')"),
        ("#/new?project=web&file=fleet.json".to_owned(), "document.querySelector('input:checked')"),
        ("#/p/web".to_owned(), "document.querySelector('.lines .line')"),
        (
            "#/p/web/file/fleet.json".to_owned(),
            "document.querySelector('h1').innerText === 'fleet.json'",
        ),
        (live("preview"), "document.querySelector('.preview-frame')"),
        (live("preview?inspect=1"), "document.querySelectorAll('.bindings li').length === 4"),
        (live("source"), "document.querySelector('.does')"),
        (live("data"), "document.querySelector('.data-tree')"),
        (
            live("data?path=rows.1.state"),
            "document.querySelector('.data-row.selected').innerText.includes('busy')",
        ),
        (live("provenance"), "document.querySelector('.facts')"),
        (live("history"), "document.querySelectorAll('.refresh').length === 2"),
        (live("history/refresh-000001"), "document.body.innerText.includes('An earlier state')"),
        (
            live("history/refresh-000001..refresh-000002"),
            "document.querySelectorAll('.diff tbody tr').length === 1",
        ),
    ];
    for (address, shown) in &places {
        let tab = world.browser.tab().await;
        tab.follow(&format!("{}/{address}", world.daemon().url())).await;
        tab.until(shown).await;
        tab.until(&format!("location.hash === {address:?}")).await;
        world.assert_clean(&tab, &[]);
        tab.close().await;
    }
    world.assert_clean(&first, &[]);
    world.end().await;
}
