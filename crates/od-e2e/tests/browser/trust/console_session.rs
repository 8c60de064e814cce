//! Sessions end and daemons restart; the page lives on.

use crate::world::{World, from_file, place, sample};

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_session_says_how_to_get_back_and_keeps_the_place() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(3))).await;
    let tab = world.console(&place(&project, &id, "data")).await;
    tab.sees("a-2").await;
    // A month later.
    world.clock.advance(30 * 24);
    tab.press("r").await;
    tab.sees("Open the console from your terminal").await;
    tab.sees("od open").await;
    // The tab that `od open` opens signs this browser in, and this tab with it.
    let fresh = world.console("").await;
    tab.sees("a-2").await;
    tab.until("location.hash.endsWith('/data') && document.querySelector('.link.live')").await;
    world.assert_clean(&tab, &["401"]);
    world.assert_clean(&fresh, &["401"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_works_once_and_leaves_the_address() {
    let world = World::start().await;
    let url = world.daemon().console_url_with_code().unwrap();
    let tab = world.browser.tab().await;
    tab.follow(&url).await;
    tab.until("document.querySelector('.link.live')").await;
    tab.until("!location.href.includes('code=')").await;
    let length = tab.run("history.length").await;
    assert!(length.as_u64().unwrap() <= 2, "the code stays in the history: {length}");
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_behind_an_artifacts_place_signs_a_new_browser_in_there() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(3))).await;
    // As `od artifacts open` builds it.
    let url = world.daemon().console_url_with_code().unwrap();
    let (origin, sign_in) = url.split_once("/#").unwrap();
    let tab = world.browser.tab().await;
    tab.follow(&format!("{origin}/{}?{sign_in}", place(&project, &id, "preview"))).await;
    tab.shows_preview().await;
    tab.until("location.hash.endsWith('/preview') && document.querySelector('.link.live')").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_of_the_daemon_is_survived_and_caught_up_with() {
    let mut world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(3))).await;
    let tab = world.console(&place(&project, &id, "preview")).await;
    // A page still on its way when the daemon ends would be the browser's own error page.
    tab.shows_preview().await;
    world.stop_daemon().await;
    tab.sees("The daemon does not answer").await;
    tab.until("document.querySelector('.preview-frame')").await;
    world.start_daemon().await;
    tab.until("document.querySelector('.link.live') && !document.querySelector('.offline')").await;
    world.artifact(&project, from_file("Made after the restart", "fleet.json", &sample(3))).await;
    tab.until("document.querySelector('.tree').innerText.includes('Made after the restart')").await;
    tab.click_named("button", "Refresh").await;
    tab.sees("Refreshed: nothing had changed").await;
    world.assert_clean(&tab, &["ERR_CONNECTION", "ERR_INCOMPLETE", "ERR_EMPTY"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_opens_again_after_its_ticket_has_ended() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(3))).await;
    let tab = world.console(&place(&project, &id, "preview")).await;
    tab.shows_preview().await;
    let first = tab.run("document.querySelector('.preview-frame').src").await;
    // An hour later, for the daemon and for the page.
    world.clock.advance(1);
    tab.run("void (Date.now = ((now) => () => now() + 3_600_000)(Date.now))").await;
    tab.press("3").await;
    tab.sees("a-2").await;
    tab.press("1").await;
    tab.until(&format!("(document.querySelector('.preview-frame')?.src ?? {first}) !== {first}"))
        .await;
    tab.shows_preview().await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}
