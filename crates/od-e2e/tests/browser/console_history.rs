//! Past refreshes, their states, and what lies between two of them.

use serde_json::json;

use crate::world::{TEMPLATE, World, from_file, place, sample};

#[tokio::test(flavor = "multi_thread")]
async fn snapshots_open_and_compare_row_by_row() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(2))).await;
    let tab = world.console(&place(&project, &id, "history")).await;
    tab.sees("Never refreshed").await;
    tab.click_named("button", "Refresh").await;
    tab.sees("1 value changed").await;
    let mut next = sample(4);
    next["rows"].as_array_mut().unwrap().insert(0, json!({ "id": "a-0", "state": "new" }));
    next["rows"][2]["state"] = json!("gone");
    world.write("web", "fleet.json", &next.to_string());
    tab.click_named("button", "Refresh").await;
    tab.until("document.querySelectorAll('.refresh').length === 2").await;
    tab.until("!document.querySelector('.progress')").await;
    tab.click(".refresh .disclose").await;
    tab.sees("Reading the source").await;
    tab.click_named(".refresh a", "Open refresh-000001").await;
    tab.sees("An earlier state").await;
    tab.until("document.querySelector('.preview-frame')").await;
    tab.click_named("a", "Back to history").await;
    tab.click_named(".refresh a", "Changes of refresh-000002").await;
    tab.until("location.hash.endsWith('/history/refresh-000001..refresh-000002')").await;
    tab.until("document.querySelectorAll('.diff tbody tr').length === 3").await;
    for path in ["total", "rows[id=a-0]", "rows[id=a-2].state"] {
        tab.until(&format!(
            "[...document.querySelectorAll('.diff .path')].some((el) => el.innerText === '{path}')"
        ))
        .await;
    }
    tab.click_named(".segments button", "Added 1").await;
    tab.until("document.querySelectorAll('.diff tbody tr').length === 1").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

/// Returns where the row of a refresh offers its state; it does not where that state is shown.
fn offers(row: usize) -> String {
    format!("document.querySelectorAll('.refresh')[{row}].innerText.includes('Restore')")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_state_is_restored_and_the_restoring_undone() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(2))).await;
    let tab = world.console(&place(&project, &id, "history")).await;
    tab.click_named("button", "Refresh").await;
    tab.sees("1 value changed").await;
    world.write("web", "fleet.json", &sample(4).to_string());
    tab.click_named("button", "Refresh").await;
    tab.until("document.querySelectorAll('.refresh').length === 2").await;
    tab.until("!document.querySelector('.progress')").await;
    // The newest is first, and is shown.
    tab.until(&format!("!{} && {}", offers(0), offers(1))).await;
    tab.click_named(".refresh button", "Restore this state, refresh-000001").await;
    tab.sees("Restored the state of refresh-000001").await;
    tab.until(&format!("{} && !{}", offers(0), offers(1))).await;
    tab.click_named(".toast button", "Undo").await;
    tab.until(&format!("!{} && {}", offers(0), offers(1))).await;
    // An edit by hand is no stored state; undone, it is there as it was.
    world.edit(&project, &id, "data.json", &sample(9).to_string()).await;
    tab.run("void dispatchEvent(new Event('focus'))").await;
    tab.sees("Edited by hand:").await;
    tab.until(&format!("{} && {}", offers(0), offers(1))).await;
    tab.click_named(".refresh a", "Open refresh-000001").await;
    tab.sees("An earlier state").await;
    tab.click_named("button", "Restore this state, refresh-000001").await;
    tab.until("!document.body.innerText.includes('Edited by hand:')").await;
    tab.run("void [...document.querySelectorAll('.toast button')].findLast((el) => el.innerText === 'Undo').click()").await;
    tab.go(&place(&project, &id, "data")).await;
    tab.until("document.querySelector('.data-tree')?.innerText.match(/total\\s*9/)").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_refresh_stays_in_the_history_with_its_error() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(2))).await;
    world.write("web", "fleet.json", "{ broken");
    let tab = world.console(&place(&project, &id, "history")).await;
    tab.click_named("button", "Refresh").await;
    tab.until("document.querySelector('.refresh .badge')?.innerText === 'Failed'").await;
    tab.sees("Refresh failed:").await;
    tab.click(".refresh .disclose").await;
    tab.until("document.querySelector('.refresh .problem')").await;
    world.assert_clean(&tab, &["/refresh"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_whose_template_is_gone_still_shows_its_values() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(2))).await;
    let tab = world.console(&place(&project, &id, "history")).await;
    tab.click_named("button", "Refresh").await;
    tab.sees("1 value changed").await;
    // The page is made anew, for data that the earlier state does not have.
    let mut data = sample(3);
    data["crew"] = json!([{ "name": "Ann" }]);
    world.edit(&project, &id, "data.json", &data.to_string()).await;
    let template = TEMPLATE.replace("row in data.rows", "row in data.crew");
    world.edit(&project, &id, "template.html", &template).await;
    tab.run("void dispatchEvent(new Event('focus'))").await;
    tab.sees("Edited by hand:").await;
    tab.click_named(".refresh a", "Open refresh-000001").await;
    tab.sees("The template has changed since then.").await;
    tab.until("document.querySelector('.outgrown .data-tree')?.innerText.includes('rows')").await;
    assert_eq!(
        tab.run("document.querySelector('main .problem, .preview-frame')").await,
        json!(null)
    );
    // With a template that fits them its page is there again.
    world.edit(&project, &id, "template.html", TEMPLATE).await;
    tab.run("void dispatchEvent(new Event('focus'))").await;
    tab.shows_preview().await;
    world.assert_clean(&tab, &["422 /preview-ticket"]);
    world.end().await;
}
