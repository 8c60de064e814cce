//! Projects: the first one, another name, a folder that moved, removal, and the trash.

use od_app::Caller;
use od_app::projects::{CreateProject, create};
use od_e2e::browser::serious_findings;
use serde_json::json;

use crate::world::{World, from_file, place, sample};

#[tokio::test(flavor = "multi_thread")]
async fn without_projects_the_page_leads_to_one_and_goes_on_by_itself() {
    let world = World::start().await;
    let tab = world.console("").await;
    tab.sees("Welcome to od").await;
    for command in ["od demo", "od init", "od init FOLDER"] {
        tab.until(&format!(
            "[...document.querySelectorAll('.copyable code')].some((el) => el.innerText === '{command}')"
        ))
        .await;
    }
    tab.click(".first-run input").await;
    tab.type_text("~/my site").await;
    tab.sees("od init ~/'my site'").await;
    for theme in ["light", "dark"] {
        tab.prefer(&[("prefers-color-scheme", theme), ("prefers-reduced-motion", "reduce")]).await;
        for width in [360, 768, 1280, 1920] {
            tab.resize(width, 800).await;
            tab.until("document.documentElement.scrollWidth <= innerWidth").await;
            assert_eq!(serious_findings(&tab).await, Vec::<String>::new(), "{theme} {width}");
        }
    }
    // As `od init` does it, beside the daemon and without an event.
    let request = CreateProject { id: None, name: "Site".to_owned(), root: None };
    create(world.daemon().app(), &Caller::Person, request).await.unwrap();
    tab.until("document.querySelector('.project-card')?.innerText.includes('Site')").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moved_folder_is_named_with_the_command_that_binds_the_new_one() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(2))).await;
    let folder = world.path("web", "");
    std::fs::rename(&folder, world.path("moved", "")).unwrap();
    let tab = world.console(&place(&project, &id, "preview")).await;
    tab.click_named("button", "Refresh").await;
    tab.sees("od projects rebind web --dir NEW_FOLDER").await;
    let folder = folder.to_str().unwrap().trim_end_matches('/');
    tab.until(&format!(
        "document.querySelector('.notice.bad').innerText.includes({})",
        json!(folder)
    ))
    .await;
    // A sentence for people: no backticks, and it begins with a capital.
    let said = tab.run("document.querySelector('.notice.bad').innerText").await;
    assert!(!said.as_str().unwrap().contains('`'), "{said}");
    assert!(said.as_str().unwrap().starts_with("Refresh failed: The folder"), "{said}");
    tab.until("document.querySelector('.stage-head .badge').innerText === 'Failed'").await;
    world.assert_clean(&tab, &["/refresh", "/files"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_is_renamed_removed_and_comes_back_with_what_is_restored() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(2))).await;
    let tab = world.console("#/p/web").await;
    tab.click_named(".icon-button", "Another folder").await;
    tab.sees("od projects rebind web").await;
    tab.press("Escape").await;
    tab.click_named(".icon-button", "Rename project").await;
    tab.until("document.querySelector('dialog input')").await;
    tab.run("document.querySelector('dialog input').value = 'Company site'").await;
    tab.click("dialog [type=submit]").await;
    tab.until("document.querySelector('main h1').innerText === 'Company site'").await;
    tab.click_named(".icon-button", "Remove project").await;
    tab.sees("1 live artifact goes to the trash and can be brought back for 7 days.").await;
    tab.sees("stay as they are").await;
    assert_eq!(serious_findings(&tab).await, Vec::<String>::new());
    tab.click("dialog [type=submit]").await;
    tab.sees("Welcome to od").await;
    assert!(world.path("web", "fleet.json").is_file(), "the person's files are theirs");
    tab.click_named(".toast button", "Show trash").await;
    tab.until("document.querySelector('.trashed')?.innerText.includes('Fleet status')").await;
    tab.sees("gone for good in 6 days").await;
    for theme in ["light", "dark"] {
        tab.prefer(&[("prefers-color-scheme", theme), ("prefers-reduced-motion", "reduce")]).await;
        for width in [360, 768, 1280, 1920] {
            tab.resize(width, 800).await;
            tab.until("document.documentElement.scrollWidth <= innerWidth").await;
            assert_eq!(serious_findings(&tab).await, Vec::<String>::new(), "{theme} {width}");
        }
    }
    tab.click_named(".trashed button", "Restore Fleet status").await;
    tab.sees("The trash is empty").await;
    tab.go(&place(&project, &id, "preview")).await;
    tab.until("document.querySelector('main h1')?.innerText === 'Fleet status'").await;
    tab.until("document.querySelector('.sidebar-head').innerText.includes('Company site')").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}
