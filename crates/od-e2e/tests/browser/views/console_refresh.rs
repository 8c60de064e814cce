//! Refresh: success, failure, cancel, locked.

use crate::fake_github::Mood;
use crate::world::{World, from_file, from_github, place, sample};

#[tokio::test(flavor = "multi_thread")]
async fn success_shows_progress_and_then_the_new_page() {
    let world = World::start().await;
    let project = world.project("web", &[]).await;
    let id = world.artifact(&project, from_github("Releases")).await;
    let tab = world.console(&place(&project, &id, "preview")).await;
    tab.until("document.querySelector('.preview-frame')?.src").await;
    let before = tab.run("document.querySelector('.preview-frame').src").await;
    world.github.be(Mood::Hold);
    tab.click_named("button", "Refresh").await;
    tab.until("document.querySelector('.progress') && document.querySelector('button[aria-busy=true]')?.disabled").await;
    tab.until("document.querySelector('.tree .badge')?.innerText === 'Refreshing…'").await;
    world.github.be(Mood::Answer);
    tab.sees("Refreshed with new data").await;
    tab.until("!document.querySelector('.progress')").await;
    tab.until(&format!("document.querySelector('.preview-frame')?.src !== {before}")).await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failure_keeps_the_last_good_page_and_says_from_when_it_is() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(3))).await;
    std::fs::remove_file(world.path("web", "fleet.json")).unwrap();
    let tab = world.console(&place(&project, &id, "preview")).await;
    tab.click_named("button", "Refresh").await;
    tab.sees("Refresh failed:").await;
    tab.sees("Showing data from").await;
    tab.until("document.querySelector('.preview-frame')").await;
    // Someone who opens the page later sees the same.
    tab.reload().await;
    tab.sees("Refresh failed:").await;
    world.write("web", "fleet.json", &sample(9).to_string());
    tab.click_named("button", "Try again").await;
    tab.sees("Refreshed with new data").await;
    tab.until("!document.querySelector('.notice')").await;
    world.assert_clean(&tab, &["/refresh"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cancel_leaves_everything_as_it_was() {
    let world = World::start().await;
    let project = world.project("web", &[]).await;
    let id = world.artifact(&project, from_github("Releases")).await;
    let tab = world.console(&place(&project, &id, "preview")).await;
    world.github.be(Mood::Hold);
    tab.click_named("button", "Refresh").await;
    world.github.was_asked(1).await;
    tab.click_named("button", "Cancel").await;
    tab.sees("Refresh cancelled").await;
    tab.until("!document.querySelector('.progress') && !document.querySelector('.notice.bad')")
        .await;
    world.github.be(Mood::Answer);
    tab.press("5").await;
    tab.until("document.querySelector('.refresh .badge')?.innerText === 'Cancelled'").await;
    // What was stopped has not failed, here or for whoever opens the page later.
    for look in ["here", "later"] {
        for place in [".stage-head .badge", ".tree-leaf .badge"] {
            let badge =
                format!("document.querySelector('{place}')?.innerText === 'Never refreshed'");
            tab.until(&badge).await;
        }
        if look == "here" {
            tab.reload().await;
        }
    }
    world.assert_clean(&tab, &["/refresh"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_tabs_see_one_refresh() {
    let world = World::start().await;
    let project = world.project("web", &[]).await;
    let id = world.artifact(&project, from_github("Releases")).await;
    let first = world.console(&place(&project, &id, "preview")).await;
    let second = world.console(&place(&project, &id, "preview")).await;
    second
        .until("[...document.querySelectorAll('button')].some((el) => el.innerText === 'Refresh')")
        .await;
    second.until("document.querySelector('.tree .badge')").await;
    world.github.be(Mood::Hold);
    first.click_named("button", "Refresh").await;
    second.until("document.querySelector('.progress')").await;
    // The second tab asks as well, past its disabled button, and is told that it is locked.
    let code = second
        .run(&format!("import('/core/api.js').then(({{ api }}) => api.refresh('{id}')).catch((error) => error.code)"))
        .await;
    assert_eq!(code, "REFRESH_LOCKED");
    // A person who presses Refresh before the news of the other one has arrived is told so, and follows it.
    second
        .run(&format!(
            "Promise.all(['/core/store.js', '/ui/actions.js', '/core/lists.js'].map((name) => import(name)))\
             .then(([{{ state }}, actions, lists]) => \
             {{ state.progress.clear(); return actions.refresh(lists.summary('{id}')); }})"
        ))
        .await;
    second.sees("This artifact is already being refreshed").await;
    second.until("document.querySelector('.progress')").await;
    world.github.be(Mood::Answer);
    first.sees("Refreshed with new data").await;
    second.until("!document.querySelector('.progress')").await;
    second.press("5").await;
    second.until("document.querySelector('.refresh .badge')?.innerText === 'Succeeded'").await;
    world.assert_clean(&first, &[]);
    world.assert_clean(&second, &["/refresh"]);
    world.end().await;
}
