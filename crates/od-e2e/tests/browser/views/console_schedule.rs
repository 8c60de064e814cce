//! A schedule is set, seen and switched off on the Source tab.

use serde_json::json;

use crate::world::{World, from_file, place, sample};

#[tokio::test(flavor = "multi_thread")]
async fn a_person_sets_a_schedule_sees_its_next_runs_and_switches_it_off() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(3))).await;
    let tab = world.console(&place(&project, &id, "source")).await;
    tab.sees("It is refreshed when somebody asks for it").await;
    tab.click_named("button", "Set a schedule").await;
    tab.until("document.querySelectorAll('.next-runs li').length === 5").await;
    tab.click_named("button", "Save and switch on").await;
    tab.sees("Switched on.").await;
    tab.sees("every 1h").await;
    tab.until("/Next run .*20\\d\\d/.test(document.querySelector('main').innerText)").await;
    tab.click_named("button.switch", "Refresh by itself").await;
    tab.sees("Switched off.").await;
    tab.until("!document.querySelector('main').innerText.includes('Next run')").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_sources_show_their_rows_their_queries_and_the_schedule_an_agent_proposed() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let mut body = from_file("Fleet", "fleet.json", &sample(3));
    let document = &mut body["input"]["document"];
    document.as_object_mut().unwrap().remove("sourceJson");
    document["sources"] = json!([
        { "id": "fleet", "type": "local_file", "input": { "path": "fleet.json" }, "rows": "rows" },
    ]);
    document["queries"] =
        json!([{ "to": "total", "sql": "SELECT count(*) FROM fleet", "shape": "value" }]);
    document["refreshPermission"] = json!("manual_refresh_granted_for_read_only");
    document["refresh"] = json!({ "every": "15m" });
    let id = world.artifact(&project, body).await;
    let tab = world.console(&place(&project, &id, "source")).await;
    tab.sees("Nothing runs until you switch it on").await;
    tab.sees("SELECT count(*) FROM fleet").await;
    tab.click_named("button", "Refresh").await;
    tab.sees("3 rows").await;
    tab.click_named("button.switch", "Refresh by itself").await;
    tab.sees("Switched on.").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}
