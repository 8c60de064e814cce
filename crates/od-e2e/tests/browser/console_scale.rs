//! A thousand artifacts.

use od_core::ids::ProjectId;
use od_e2e::browser::Tab;

use crate::world::{World, from_file, sample};

/// How long nothing the page does may take.
const LONGEST_MS: f64 = 200.0;

/// Goes down to the last of them, in the cards and in the tree, while an agent makes more.
async fn scroll_through(world: &World, project: &ProjectId, tab: &Tab, round: usize) {
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
        let body = from_file(&format!("Late {round} {index}"), "fleet.json", &sample(index));
        world.artifact(project, body).await;
    }
    tab.until(&format!(
        "(document.querySelector('.tree').scrollTo(0, 0), document.querySelector('.tree').innerText.includes('Late {round} 19'))"
    ))
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
    tab.run(
        "void new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) \
         window.longest = Math.max(window.longest, duration); }).observe({ type: 'longtask' })",
    )
    .await;
    // What else runs on the machine can make any task long, now and then; what the page itself does makes
    // it long every time.
    let mut longest = Vec::new();
    for round in 0..3 {
        tab.run("void (window.longest = 0)").await;
        scroll_through(&world, &project, &tab, round).await;
        tab.settles().await;
        longest.push(tab.run("window.longest").await.as_f64().unwrap());
        println!("longest task while scrolling 1,000 artifacts: {} ms", longest[round]);
        if longest[round] <= LONGEST_MS {
            break;
        }
    }
    let best = longest.last().copied().unwrap();
    assert!(best <= LONGEST_MS, "a task took this many ms, every time: {longest:?}");
    world.assert_clean(&tab, &[]);
    world.end().await;
}
