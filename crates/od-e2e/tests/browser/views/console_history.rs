//! Past refreshes, their states, and what lies between two of them.

use od_e2e::browser::Chromium;
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
    tab.click_named(".entry a", "Open Revision 2").await;
    tab.sees("An earlier state").await;
    tab.until("document.querySelector('.preview-frame')").await;
    tab.click_named("a", "Back to history").await;
    tab.click_named(".refresh a", "Changes of Revision 3").await;
    tab.until("location.hash.endsWith('/history/2..3')").await;
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
    tab.click_named(".refresh button", "Restore this state, Revision 2").await;
    tab.sees("Restored the state of revision 2").await;
    tab.until(&format!("{} && !{}", offers(0), offers(1))).await;
    tab.click_named(".toast button", "Undo").await;
    tab.until(&format!("!{} && {}", offers(0), offers(1))).await;
    // An edit by hand is no stored state; undone, it is there as it was, but for what the source gives.
    let mut data = sample(9);
    data["note"] = json!("mine");
    world.edit(&project, &id, "data.json", &data.to_string()).await;
    tab.run("void dispatchEvent(new Event('focus'))").await;
    tab.sees("Edited by hand:").await;
    tab.sees("Values that fleet.json gives go back to what it gave last.").await;
    tab.until(&format!("{} && {}", offers(0), offers(1))).await;
    tab.click_named(".entry a", "Open Revision 2").await;
    tab.sees("An earlier state").await;
    tab.click_named("button", "Restore this state, Revision 2").await;
    tab.until("!document.body.innerText.includes('Edited by hand:')").await;
    tab.run("void [...document.querySelectorAll('.toast button')].findLast((el) => el.innerText === 'Undo').click()").await;
    tab.go(&place(&project, &id, "data")).await;
    tab.until("document.querySelector('.data-tree')?.innerText.match(/note\\s*\"mine\"/)").await;
    tab.until("document.querySelector('.data-tree').innerText.match(/total\\s*4\\s/)").await;
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
async fn a_state_looks_as_it_did_whatever_became_of_its_template() {
    let world = World::start_in(Chromium::start_with_frames_in_process().await).await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(2))).await;
    let tab = world.console(&place(&project, &id, "history")).await;
    tab.click_named("button", "Refresh").await;
    tab.sees("1 value changed").await;
    // The page is made anew, for data that the earlier state does not have.
    let mut data = sample(3);
    data["crew"] = json!([{ "name": "Ann" }]);
    world.edit(&project, &id, "data.json", &data.to_string()).await;
    let template = TEMPLATE
        .replace("row in data.rows", "row in data.crew")
        .replace("row.id", "row.name")
        .replace("row.state", "row.name");
    world.edit(&project, &id, "template.html", &template).await;
    tab.run("void dispatchEvent(new Event('focus'))").await;
    tab.sees("Edited by hand:").await;
    tab.click_named("button", "Keep as a revision").await;
    tab.sees("Kept as revision 3").await;
    tab.click_named(".entry a", "Open Revision 2").await;
    tab.sees("An earlier state").await;
    let page = tab.framed(".preview-frame").await;
    page.until("document.querySelector('td').innerText === 'a-1'").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_states_are_picked_by_date_or_preset_and_seen_side_by_side() {
    let world = World::start_in(Chromium::start_with_frames_in_process().await).await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(2))).await;
    let tab = world.console(&place(&project, &id, "history")).await;
    for total in [3, 4] {
        world.write("web", "fleet.json", &sample(total).to_string());
        tab.click_named("button", "Refresh").await;
        tab.until(&format!("document.querySelectorAll('.refresh').length === {}", total - 2)).await;
        tab.until("!document.querySelector('.progress')").await;
    }
    // Nothing is from yesterday, and the picker says so.
    tab.until(
        "[...document.querySelectorAll('.presets button')].map((el) => el.disabled).join() \
         === 'false,true,true,false'",
    )
    .await;
    tab.until("document.querySelector('.compare-bar option').innerText.endsWith('· revision 3')")
        .await;
    tab.run("void [...document.querySelectorAll('.presets button')].at(-1).click()").await;
    tab.until("location.hash.endsWith('/history/1..3')").await;
    tab.until("document.querySelector('.diff .was')?.innerText === '2'").await;
    tab.until("document.querySelector('.diff .now').innerText === '4'").await;
    tab.click_named(".segments button", "Pages").await;
    for (half, total) in [(1, "2"), (2, "4")] {
        let page = tab.framed(&format!(".half:nth-child({half}) .preview-frame")).await;
        page.until(&format!("document.querySelector('p').innerText === '{total}'")).await;
    }
    tab.click_named(".segments button", "Design").await;
    tab.sees("The same design").await;
    tab.run("(() => { const select = document.querySelector('.compare-bar select'); select.value = '2'; \
             select.dispatchEvent(new Event('change')); })()").await;
    tab.until("location.hash.includes('/history/2..3')").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_state_says_so_until_the_next_change() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(2))).await;
    let tab = world.console(&place(&project, &id, "history")).await;
    tab.click_named("button", "Refresh").await;
    tab.sees("1 value changed").await;
    tab.click_named(".entry button", "Restore this state, Revision 1").await;
    for place in [".stage-head .badge", ".tree-leaf .badge"] {
        tab.until(&format!("document.querySelector('{place}')?.innerText === 'Restored'")).await;
    }
    tab.until(
        "/^State of .*, restored just now/.test(document.querySelector('.facts-line').innerText)",
    )
    .await;
    // A refresh that fails changes nothing of that; what is shown is not what was read last.
    world.write("web", "fleet.json", "{ broken");
    tab.click_named("button", "Refresh").await;
    tab.sees("Showing the state of ").await;
    tab.until(
        "[...document.querySelectorAll('.stage-head .badge')].map((el) => el.innerText).join() \
         === 'Failed,Restored'",
    )
    .await;
    world.write("web", "fleet.json", &sample(5).to_string());
    tab.click_named("button", "Refresh").await;
    tab.until("document.querySelector('.stage-head .badge')?.innerText === 'Fresh'").await;
    world.assert_clean(&tab, &["/refresh"]);
    world.end().await;
}
