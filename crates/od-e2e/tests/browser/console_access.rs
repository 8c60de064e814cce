//! Accessible to everyone: axe-core finds nothing serious in any main view.

use od_e2e::browser::Tab;

use crate::console_load::npm_package;
use crate::world::{World, from_file, place, sample};

/// Runs axe-core in the page. Under the console's policy it cannot be loaded as a script, so it is
/// evaluated like anything a developer types into the tools.
async fn serious_findings(tab: &Tab, axe: &str) -> Vec<String> {
    tab.run(&format!(
        "void (typeof axe === 'undefined' && (0, function () {{ {axe} }}).call(window))"
    ))
    .await;
    let found = tab
        .run(
            "axe.run(document, { resultTypes: ['violations'], iframes: false }).then(({ violations }) => \
             violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map((it) => \
             `${it.id}: ${it.nodes.map((node) => node.target.join(' ') + ' ' + node.failureSummary).join('; ')}`))",
        )
        .await;
    found.as_array().unwrap().iter().map(ToString::to_string).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_view_has_a_serious_finding() {
    let Some(axe) = npm_package("axe-core@4.10.3", "axe-core/axe.min.js") else { return };
    let axe = std::fs::read_to_string(axe).unwrap();
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(2))).await;
    let tab = world.console(&place(&project, &id, "history")).await;
    tab.click_named("button", "Refresh").await;
    tab.until("document.querySelector('.refresh')").await;
    let mut places = vec!["#/designs".to_owned(), "#/connectors".to_owned()];
    places.push("#/new?project=web&file=fleet.json".to_owned());
    places.push("#/p/web".to_owned());
    for name in ["preview", "preview?inspect=1", "source", "data", "provenance", "history"] {
        places.push(place(&project, &id, name));
    }
    let mut findings = Vec::new();
    for theme in ["light", "dark"] {
        tab.prefer(&[("prefers-color-scheme", theme), ("prefers-reduced-motion", "reduce")]).await;
        for at in &places {
            tab.run(&format!("void (location.hash = {at:?})")).await;
            tab.until("document.querySelector('main h1') && !document.querySelector('.loading')")
                .await;
            for finding in serious_findings(&tab, &axe).await {
                findings.push(format!("{theme} {at}: {finding}"));
            }
        }
    }
    assert!(findings.is_empty(), "{findings:#?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reduced_motion_means_no_motion() {
    let world = World::start().await;
    let tab = world.console("").await;
    tab.prefer(&[("prefers-reduced-motion", "reduce")]).await;
    tab.until("document.getAnimations().length === 0").await;
    tab.until("getComputedStyle(document.querySelector('.button')).transitionDuration === '0s' || getComputedStyle(document.querySelector('.button')).transitionProperty === 'none'").await;
    world.end().await;
}
