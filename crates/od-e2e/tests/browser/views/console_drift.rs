//! A source that is no longer what it was when the artifact was made.

use crate::world::{World, from_github, place};

#[tokio::test(flavor = "multi_thread")]
async fn another_account_stops_a_refresh_until_the_person_accepts_it() {
    let world = World::start().await;
    let project = world.project("web", &[]).await;
    let id = world.artifact(&project, from_github("Releases")).await;
    let tab = world.console(&place(&project, &id, "preview")).await;
    tab.shows_preview().await;
    let connect = "import('/core/api.js').then(({ api }) => \
        api.connect('github', 'ghp_canarycanarycanarycanarycanarycana')).then(() => true)";
    assert_eq!(tab.run(connect).await, true);
    tab.click_named("button", "Refresh").await;
    tab.sees("is connected to another account than the saved one").await;
    tab.sees("Showing data from").await;
    tab.click_named("button", "Accept and refresh").await;
    tab.sees("Refreshed with new data").await;
    tab.until("document.querySelector('.facts-line')?.innerText.includes('as octo')").await;
    tab.until("!document.querySelector('.notice')").await;
    world.assert_clean(&tab, &["/refresh"]);
    world.end().await;
}
