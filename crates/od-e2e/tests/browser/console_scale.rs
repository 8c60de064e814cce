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
    tab.until("document.querySelectorAll('.card').length >= 24").await;
    tab.run(
        "window.longest = 0; window.tasks = []; new PerformanceObserver((list) => { \
         for (const { duration } of list.getEntries()) { window.longest = Math.max(window.longest, duration); \
         if (duration > 100) window.tasks.push(`${location.hash} ${Math.round(duration)}`); } \
         }).observe({ type: 'longtask' })",
    )
    .await;
    // Down to the last of them, in the cards and in the tree.
    for (place, list, rows) in
        [("#/designs", ":root", ".card-title"), ("#/p/web", ".tree", ".tree-leaf")]
    {
        tab.run(&format!("void (location.hash = '{place}')")).await;
        tab.until(&format!("document.querySelector('{rows}')")).await;
        tab.until(&format!(
            "(document.querySelector('{list}').scrollBy(0, 700), \
             [...document.querySelectorAll('{rows}')].some((el) => el.innerText.trim().split('\\n')[0] === 'Artifact 0'))"
        ))
        .await;
        tab.until(&format!("document.querySelectorAll('{rows}').length < 200")).await;
    }
    // Events of an agent at work do not make it stutter either.
    for index in 0..20 {
        let body = from_file(&format!("Late {index}"), "fleet.json", &sample(index));
        world.artifact(&project, body).await;
    }
    tab.until("(document.querySelector('.tree').scrollTo(0, 0), document.querySelector('.tree').innerText.includes('Late 19'))").await;
    let longest = tab.run("window.longest").await.as_f64().unwrap();
    println!("longest task while scrolling 1,000 artifacts: {longest} ms");
    let tasks = tab.run("window.tasks.join(', ')").await;
    assert!(longest <= 200.0, "a task took {longest} ms: {tasks}");
    world.assert_clean(&tab, &[]);
    world.end().await;
}
