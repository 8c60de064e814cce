//! A thousand artifacts.

use od_core::ids::ProjectId;
use od_e2e::browser::{Tab, Tasks};

use crate::world::{World, from_file, sample};

/// How much processor time nothing the page does may take at once.
const LONGEST_MS: f64 = 200.0;

/// Goes down to the last of them, in the cards and in the tree, while an agent makes more.
async fn scroll_through(world: &World, project: &ProjectId, tab: &Tab) {
    for (place, list, rows) in
        [("#/designs", ":root", ".card-title"), ("#/p/web", ".tree", ".tree-leaf")]
    {
        tab.go(place).await;
        tab.until(&format!("document.querySelector('{rows}')")).await;
        tab.until(&format!(
            "(document.querySelector('{list}').scrollBy(0, 700), \
             [...document.querySelectorAll('{rows}')].some((el) => el.innerText.trim().split('\\n')[0] === 'Artifact 0'))"
        ))
        .await;
        tab.until(&format!("document.querySelectorAll('{rows}').length < 200")).await;
    }
    for index in 0..20 {
        let body = from_file(&format!("Late {index}"), "fleet.json", &sample(index));
        world.artifact(project, body).await;
    }
    tab.until("(document.querySelector('.tree').scrollTo(0, 0), document.querySelector('.tree').innerText.includes('Late 19'))")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_artifacts_scroll_without_a_long_task() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    for index in 0..1000 {
        let body = from_file(&format!("Artifact {index}"), "fleet.json", &sample(index));
        world.artifact(&project, body).await;
    }
    let tab = world.console("").await;
    tab.until("document.querySelectorAll('.card').length >= 24").await;
    let tasks = Tasks::record(&tab).await;
    scroll_through(&world, &project, &tab).await;
    tab.settles().await;
    let longest = tasks.longest_ms().await;
    println!("longest task while scrolling 1,000 artifacts: {longest} ms of processor time");
    assert!(longest <= LONGEST_MS, "a task took {longest} ms of processor time");
    world.assert_clean(&tab, &[]);
    world.end().await;
}
