//! A thousand artifacts.

use crate::world::{World, from_file, sample};

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_artifacts_scroll_without_a_long_task() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    for index in 0..1000 {
        let body = from_file(&format!("Artifact {index}"), "fleet.json", &sample(index));
        world.artifact(&project, body).await;
    }
    let tab = world.console("").await;
    tab.until("document.querySelectorAll('.card').length >= 36").await;
    tab.run(
        "window.longest = 0; new PerformanceObserver((list) => { for (const entry of list.getEntries()) \
         window.longest = Math.max(window.longest, entry.duration); }).observe({ type: 'longtask' })",
    )
    .await;
    for place in ["#/designs", "#/p/web"] {
        tab.run(&format!("void (location.hash = '{place}')")).await;
        let list = if place == "#/p/web" { ".tree" } else { ":root" };
        let rows = if place == "#/p/web" { ".tree-leaf" } else { ".card" };
        tab.until(&format!("document.querySelector('{rows}')")).await;
        tab.until(&format!(
            "(document.querySelector('{list}').scrollBy(0, 700), \
             document.querySelectorAll('{rows}').length >= 1000)"
        ))
        .await;
    }
    let longest = tab.run("window.longest").await.as_f64().unwrap();
    println!("longest task while scrolling 1,000 artifacts: {longest} ms");
    assert!(longest <= 200.0, "a task took {longest} ms");
    world.assert_clean(&tab, &[]);
    world.end().await;
}
