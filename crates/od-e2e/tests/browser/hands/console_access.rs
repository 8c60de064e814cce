//! Accessible to everyone: neither axe-core nor the suite's own check finds anything serious.

use od_core::ids::{ArtifactId, ProjectId};
use od_e2e::browser::{Tab, serious_findings};

use crate::console_load::npm_package;
use crate::world::{World, from_file, place, sample};

/// Runs axe-core in the page. Under the console's policy it cannot be loaded as a script, so it is
/// evaluated like anything a developer types into the tools.
async fn axe_findings(tab: &Tab, axe: &str) -> Vec<String> {
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
async fn axe_core_finds_nothing_serious() {
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
            tab.go(at).await;
            tab.until("document.querySelector('main h1') && !document.querySelector('.loading')")
                .await;
            for finding in axe_findings(&tab, &axe).await {
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
    world.project("web", &[]).await;
    let tab = world.console("").await;
    tab.prefer(&[("prefers-reduced-motion", "reduce")]).await;
    tab.until("document.getAnimations().length === 0").await;
    tab.until("getComputedStyle(document.querySelector('.button')).transitionDuration === '0s' || getComputedStyle(document.querySelector('.button')).transitionProperty === 'none'").await;
    world.end().await;
}

/// Places that do not need a mouse, a sheet or a failure to be seen.
fn places(project: &ProjectId, id: &ArtifactId) -> Vec<String> {
    let fixed = [
        "#/designs",
        "#/connectors",
        "#/new?project=web&file=fleet.json",
        "#/p/web",
        "#/p/empty",
        "#/p/nowhere",
        "#/p/web/file/fleet.json",
        "#/p/web/live/la-gone-000000000000",
        "#/no/such/place",
    ];
    let tabs = [
        "preview",
        "preview?inspect=1",
        "source",
        "data",
        "data?path=rows.1.state",
        "provenance",
        "history",
        "history/refresh-000001",
        "history/refresh-000001..refresh-000002",
    ];
    let own = tabs.iter().map(|tab| place(project, id, tab));
    fixed.iter().map(|at| (*at).to_owned()).chain(own).collect()
}

/// An artifact with two refreshes, opened at its history.
async fn with_history(world: &World) -> (ProjectId, ArtifactId, Tab) {
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    world.project("empty", &[]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(2))).await;
    let tab = world.console(&place(&project, &id, "history")).await;
    for total in [3, 4] {
        world.write("web", "fleet.json", &sample(total).to_string());
        tab.click_named("button", "Refresh").await;
        tab.until(&format!("document.querySelectorAll('.refresh').length === {}", total - 2)).await;
        tab.until("!document.querySelector('.progress')").await;
    }
    (project, id, tab)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_view_has_a_serious_finding_in_either_theme() {
    let world = World::start().await;
    let (project, id, tab) = with_history(&world).await;
    let mut findings = Vec::new();
    for theme in ["light", "dark"] {
        tab.prefer(&[("prefers-color-scheme", theme), ("prefers-reduced-motion", "reduce")]).await;
        for at in places(&project, &id) {
            tab.go(&at).await;
            tab.until("document.querySelector('main') && !document.querySelector('.loading')")
                .await;
            let found = serious_findings(&tab).await;
            findings.extend(found.into_iter().map(|it| format!("{theme} {at}: {it}")));
        }
        tab.press("?").await;
        tab.sees("Keyboard shortcuts").await;
        let found = serious_findings(&tab).await;
        findings.extend(found.into_iter().map(|it| format!("{theme} sheet: {it}")));
        tab.press("Escape").await;
        tab.until("!document.querySelector('dialog')").await;
    }
    assert!(findings.is_empty(), "{} findings: {findings:#?}", findings.len());
    world.assert_clean(&tab, &["la-gone"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn notices_of_failure_edits_and_damage_have_no_serious_finding() {
    let world = World::start().await;
    let (project, id, tab) = with_history(&world).await;
    world.write("web", "fleet.json", "{ broken");
    tab.go(&place(&project, &id, "preview")).await;
    let mut findings = Vec::new();
    for (file, text, shown) in [
        ("", String::new(), "Refresh failed:"),
        ("data.json", sample(9).to_string(), "Edited by hand:"),
        ("data.json", "{ broken".to_owned(), "Not healthy:"),
    ] {
        if file.is_empty() {
            tab.click_named("button", "Refresh").await;
        } else {
            world.edit(&project, &id, file, &text).await;
            tab.run("void dispatchEvent(new Event('focus'))").await;
        }
        tab.sees(shown).await;
        for theme in ["light", "dark"] {
            tab.prefer(&[("prefers-color-scheme", theme), ("prefers-reduced-motion", "reduce")])
                .await;
            let found = serious_findings(&tab).await;
            findings.extend(found.into_iter().map(|it| format!("{theme} {shown} {it}")));
        }
    }
    assert!(findings.is_empty(), "{findings:#?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_sees_what_is_planted() {
    let browser = od_e2e::browser::Chromium::start().await;
    let tab = browser.tab().await;
    let plant = "<main><h1>x</h1><button></button><p style='color:#aaa;background:#fff'>pale</p><i id=a></i><i id=a></i>\
        <div role=treeitem>y</div><ul><p>z</p></ul><button>a<input aria-label=b></button><span role=switch>s</span>\
        <iframe></iframe><p aria-labelledby=nobody>w</p><div aria-hidden=true><a href=x>l</a></div></main>";
    tab.run(&format!("void (document.body.innerHTML = {plant:?})")).await;
    let found = serious_findings(&tab).await.join("\n");
    for rule in [
        "name: a button",
        "color-contrast: p",
        "duplicate-id",
        "required-parent",
        "list:",
        "nested-interactive",
        "required-attribute",
        "frame-title",
        "reference:",
        "aria-hidden-focus",
        "html-has-lang",
        "document-title",
    ] {
        assert!(found.contains(rule), "{rule} was not seen in:\n{found}");
    }
    browser.stop().await;
}
