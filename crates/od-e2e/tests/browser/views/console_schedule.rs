//! A schedule is set, seen and switched off on the Source tab.

use od_app::refresh::run::{Cause, RunRefresh};
use od_app::{Caller, Mode};
use od_e2e::browser::Tab;
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

/// Replaces the text of a field as a hand does.
async fn write(tab: &Tab, field: &str, text: &str) {
    tab.click(field).await;
    tab.run("void document.activeElement.select()").await;
    tab.type_text(text).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_writes_a_check_sees_it_on_todays_data_and_the_list_says_that_it_fails() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(3))).await;
    let tab = world.console(&place(&project, &id, "source")).await;
    tab.sees("Nothing says what has to hold of its data").await;
    tab.click_named("button", "Add a check").await;
    write(&tab, "input[name='path-0']", "rows").await;
    write(&tab, "input[name='message-0']", "Too many ships").await;
    write(&tab, "input[name='value-0']", "2").await;
    tab.sees("Does not hold").await;
    tab.sees("3 items").await;
    write(&tab, "input[name='path-0']", "absent").await;
    tab.sees("Unknown").await;
    write(&tab, "input[name='path-0']", "rows").await;
    tab.sees("3 items").await;
    if let Some(folder) = std::env::var_os("OD_SCREENSHOTS") {
        for (scheme, width) in [("light", 360), ("dark", 360), ("light", 1280), ("dark", 1280)] {
            tab.prefer(&[("prefers-color-scheme", scheme)]).await;
            tab.resize(width, 900).await;
            tab.run("document.getElementById('checks-title').scrollIntoView()").await;
            let file = format!("checks-{scheme}-{width}.png");
            tab.screenshot(&std::path::Path::new(&folder).join(file)).await;
        }
    }
    tab.click_named("button", "Save checks").await;
    tab.sees("The checks are saved").await;
    tab.sees("1 check failing").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_changes_is_told_wherever_the_person_is_and_its_words_are_text() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let hostile = "<img src=x onerror=document.title='owned'>";
    let mut body = from_file(hostile, "fleet.json", &sample(3));
    body["input"]["document"]["checks"] =
        json!([{ "id": "ships", "path": "total", "op": "lte", "value": 3, "message": hostile }]);
    let id = world.artifact(&project, body).await;
    let tab = world.console("#/").await;
    tab.sees(hostile).await;
    world.write("web", "fleet.json", &sample(5).to_string());
    let request = RunRefresh {
        caller: Caller::Person,
        project: project.clone(),
        artifact: id.clone(),
        accept_drift: false,
        cause: Cause::Asked,
    };
    od_app::refresh::run(world.daemon().app(), request, Mode::Commit).await.unwrap();
    tab.until("document.querySelector('.toasts')?.innerText.includes('ships does not hold')").await;
    tab.until("document.querySelector('.toasts').innerText.includes('(5)')").await;
    tab.click_named(".toasts button", "Open").await;
    tab.until(&format!("location.hash.includes('{id}')")).await;
    tab.until("document.title !== 'owned'").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}
