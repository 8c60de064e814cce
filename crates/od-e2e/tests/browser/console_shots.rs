//! Pictures of the main views at four widths in both themes, for people to look at.

use od_e2e::browser::Tab;
use serde_json::{Value, json};

use crate::world::{World, from_file, from_github, place, sample, target};

const WIDTHS: [(i64, i64); 4] = [(360, 760), (768, 1024), (1280, 800), (1920, 1080)];

/// Names whatever a person could not see or read whole: a tab behind the edge of its row, a control that sticks out
/// of the window, a number that is broken into lines of digits, a word of the header behind its neighbour, a list
/// that is numbered twice (a rule for the text of chats once applied to every list).
const CROPPED: &str = "[...document.querySelectorAll('.top nav a, .does li, main :is(.tabs a, select, button, .button, .badge, .data-value.number)')]\
    .filter((el) => !el.closest('.scroll-x, .sidebar'))\
    .filter((el) => {\
      const box = el.getBoundingClientRect();\
      const row = el.closest('.tabs, .top nav')?.getBoundingClientRect() ?? { left: 0, right: innerWidth };\
      const broken = el.matches('.number') && box.height > 30;\
      const twice = el.matches('.does li') && getComputedStyle(el).listStyleType !== 'none';\
      return box.width > 0 && (box.left < row.left - 1 || box.right > row.right + 1 || broken || twice);\
    })\
    .map((el) => el.innerText || el.ariaLabel)";

fn bundled(name: &str) -> Value {
    let path = target("../skills/live-artifact/assets/templates").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// A console with something to see in it, and where that is.
async fn furnished(world: &World) -> (Tab, Vec<(&'static str, String)>) {
    let files = [
        ("relaunch.json", bundled("dashboard.data.json")),
        ("quarter.json", bundled("report.data.json")),
    ];
    let project = world.project("website", &files).await;
    let tab = world.console("").await;
    for (file, style) in [("quarter", "report"), ("relaunch", "dashboard")] {
        tab.go(&format!("#/new?project=website&file={file}.json")).await;
        tab.click(&format!("input[value={style}]")).await;
        tab.click_named("button", "Create live artifact").await;
        tab.until("document.querySelector('.preview-frame')").await;
    }
    let id = tab.run("location.hash.split('/')[4]").await.as_str().unwrap().parse().unwrap();
    world.artifact(&project, from_github("Releases")).await;
    let mut next = bundled("dashboard.data.json");
    tab.go(&place(&project, &id, "history")).await;
    for (times, value) in [(1, 40), (2, 41)] {
        next["metrics"][0]["value"] = json!(value);
        world.write("website", "relaunch.json", &next.to_string());
        tab.click_named("button", "Refresh").await;
        tab.until(&format!("document.querySelectorAll('.refresh').length === {times}")).await;
        tab.until("!document.querySelector('.progress')").await;
    }
    world.project("nothing", &[]).await;
    let broken = world.artifact(&project, from_file("Uptime", "gone.json", &sample(3))).await;
    tab.go(&place(&project, &broken, "preview")).await;
    tab.click_named("button", "Refresh").await;
    tab.sees("Refresh failed:").await;
    let mut places = vec![
        ("designs", "#/designs".to_owned()),
        ("connectors", "#/connectors".to_owned()),
        ("new", "#/new?project=website&file=relaunch.json".to_owned()),
    ];
    for name in ["preview", "source", "data", "provenance", "history"] {
        places.push((name, place(&project, &id, name)));
    }
    places.push(("inspect", place(&project, &id, "preview?inspect=1")));
    places.push(("compare", place(&project, &id, "history/2..3")));
    places.push(("pages", place(&project, &id, "history/2..3?show=pages")));
    places.push(("snapshot", place(&project, &id, "history/2")));
    places.push(("trash", "#/trash".to_owned()));
    places.push(("project", "#/p/website".to_owned()));
    places.push(("empty", "#/p/nothing".to_owned()));
    places.push(("failed", place(&project, &broken, "preview")));
    places.push(("sheet", "#/designs?sheet".to_owned()));
    places.push(("rebind", "#/p/website?rebind".to_owned()));
    (tab, places)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_main_views_at_four_widths_in_both_themes() {
    let world = World::start().await;
    let (tab, places) = furnished(&world).await;
    for theme in ["light", "dark"] {
        tab.prefer(&[("prefers-color-scheme", theme)]).await;
        for (width, height) in WIDTHS {
            tab.resize(width, height).await;
            for (name, at) in &places {
                tab.go(at).await;
                tab.until("document.querySelector('main h1') && !document.querySelector('.loading, .toast')").await;
                match *name {
                    "designs" => tab.shows_frames(".thumb iframe").await,
                    "preview" | "inspect" | "snapshot" | "pages" => tab.shows_preview().await,
                    "sheet" => {
                        tab.press("?").await;
                        tab.until("document.querySelector('dialog')").await;
                    }
                    "rebind" => {
                        tab.click_named(".icon-button", "Another folder").await;
                        tab.sees("od projects rebind website").await;
                    }
                    _ => {}
                }
                // Nothing sticks out to the side.
                tab.until("document.documentElement.scrollWidth <= innerWidth").await;
                let cropped = tab.run(CROPPED).await;
                assert_eq!(cropped, json!([]), "{name} at {width}, {theme}");
                tab.screenshot(&target(&format!("screenshots/{name}-{width}-{theme}.png"))).await;
                match *name {
                    "sheet" | "rebind" => {
                        tab.press("Escape").await;
                        tab.until("!document.querySelector('dialog')").await;
                    }
                    "data" if width < 760 => {
                        let wide = "document.querySelector('.data-tree').offsetWidth";
                        tab.until(&format!(
                            "document.querySelector('.data-bar .search').offsetWidth === {wide}"
                        ))
                        .await;
                    }
                    _ => {}
                }
            }
        }
    }
    world.assert_clean(&tab, &["/refresh"]);
    world.end().await;
}
