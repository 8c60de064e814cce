//! Edits by hand, and damage: what is wrong, what helps, and the last good page.

use od_core::ids::{ArtifactId, ProjectId};
use od_e2e::browser::Tab;

use crate::world::{TEMPLATE, World, from_file, place, sample};

/// The person comes back from another window.
const COME_BACK: &str = "void dispatchEvent(new Event('focus'))";

async fn opened(world: &World) -> (ProjectId, ArtifactId, Tab) {
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(3))).await;
    let tab = world.console(&place(&project, &id, "preview")).await;
    tab.shows_preview().await;
    (project, id, tab)
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_by_hand_are_shown_at_once_and_kept_as_a_revision() {
    let world = World::start().await;
    let (project, id, tab) = opened(&world).await;
    let before = tab.run("document.querySelector('.preview-frame').src").await;
    let mut data = sample(77);
    data["note"] = "mine".into();
    world.edit(&project, &id, "data.json", &data.to_string()).await;
    tab.run(COME_BACK).await;
    tab.sees("Edited by hand: data.json.").await;
    // The page in view is the edited one.
    tab.until(&format!("document.querySelector('.preview-frame').src !== {before}")).await;
    tab.shows_preview().await;
    let edited = TEMPLATE.replace("<h1>", "<h1>Edited ");
    world.edit(&project, &id, "template.html", &edited).await;
    tab.run(COME_BACK).await;
    tab.sees("Edited by hand: template.html, data.json.").await;
    tab.click_named("button", "Keep as a revision").await;
    // One revision with all of it: the source has given nothing yet.
    tab.sees("Kept as revision 2").await;
    tab.until("!document.querySelector('.notice')").await;
    tab.go(&place(&project, &id, "data")).await;
    tab.until("document.querySelector('.data-tree')?.innerText.match(/note\\s*\"mine\"/)").await;
    tab.until("document.querySelector('.data-tree').innerText.match(/total\\s*77\\s/)").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_edit_says_what_is_wrong_and_keeps_the_last_good_page() {
    let world = World::start().await;
    let (project, id, tab) = opened(&world).await;
    world.edit(&project, &id, "data.json", "{ not json").await;
    tab.run(COME_BACK).await;
    tab.sees("Not healthy: data.json is not valid or does not fit the template.").await;
    tab.sees(&format!("od artifacts repair {id}")).await;
    tab.until("document.querySelector('.tree-leaf .badge')?.innerText === 'Not healthy'").await;
    tab.until("![...document.querySelectorAll('button')].some((el) => el.innerText === 'Refresh')")
        .await;
    // Whoever opens it only now gets the last good page as well.
    tab.reload().await;
    tab.sees("Not healthy:").await;
    tab.shows_preview().await;
    world.edit(&project, &id, "data.json", &sample(5).to_string()).await;
    tab.run(COME_BACK).await;
    tab.sees("Edited by hand: data.json.").await;
    tab.until("!document.querySelector('.notice.bad')").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_artifact_without_a_whole_state_still_shows_its_last_page() {
    let world = World::start().await;
    let (project, id, tab) = opened(&world).await;
    for file in ["artifact.json", "last-good"] {
        world.edit(&project, &id, file, "gone").await;
    }
    drop(std::fs::remove_dir_all(world.stored(&project, &id, "pending")));
    tab.run(COME_BACK).await;
    tab.sees("Not healthy: artifact.json cannot be read.").await;
    tab.sees(&format!("od artifacts repair {id}")).await;
    tab.shows_preview().await;
    // The browser logs the refusal of the detail; nothing else may fail.
    world.assert_clean(&tab, &[id.as_str()]);
    world.end().await;
}
