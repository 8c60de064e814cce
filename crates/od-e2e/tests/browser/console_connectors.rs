//! Connectors: what they are, why their tools are safe, connect and disconnect.

use crate::fake_github::Mood;
use crate::world::{World, from_github, place};

#[tokio::test(flavor = "multi_thread")]
async fn connectors_say_what_runs_and_why_and_can_be_switched() {
    let world = World::start().await;
    let tab = world.console("#/connectors").await;
    for text in ["Project files", "Git", "GitHub", "project_files.read_json", "Read, automatic"] {
        tab.sees(text).await;
    }
    let card = "[...document.querySelectorAll('.connector')].find((el) => el.innerText.startsWith('Project files'))";
    tab.run(&format!("void {card}.querySelector('footer button').click()")).await;
    tab.sees("Disable Project files?").await;
    tab.click("dialog button[type=submit]").await;
    tab.until(&format!("{card}.innerText.includes('Disabled')")).await;
    tab.run(&format!("void {card}.querySelector('footer button').click()")).await;
    tab.until(&format!("{card}.innerText.includes('Connected')")).await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_connects_an_account_and_is_never_shown_again() {
    let world = World::start().await;
    let tab = world.console("#/connectors").await;
    let card = "[...document.querySelectorAll('.connector')].find((el) => el.innerText.startsWith('GitHub'))";
    tab.until(card).await;
    tab.click_named(".connector footer button", "Connect account").await;
    tab.until("document.activeElement?.type === 'password'").await;
    tab.type_text("ghp_canarycanarycanarycanarycanarycana").await;
    tab.press("Enter").await;
    tab.until(&format!("{card}.innerText.includes('octo')")).await;
    tab.until("!document.documentElement.outerHTML.includes('canary')").await;
    tab.click_named(".connector footer button", "Disconnect").await;
    tab.click("dialog button[type=submit]").await;
    tab.until(&format!("!{card}.innerText.includes('octo')")).await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connector_whose_token_is_refused_can_be_disconnected() {
    let world = World::start().await;
    let project = world.project("web", &[]).await;
    let tab = world.console("#/connectors").await;
    let card = "[...document.querySelectorAll('.connector')].find((el) => el.innerText.startsWith('GitHub'))";
    tab.until(card).await;
    tab.click_named(".connector footer button", "Connect account").await;
    tab.until("document.activeElement?.type === 'password'").await;
    tab.type_text("ghp_canarycanarycanarycanarycanarycana").await;
    tab.press("Enter").await;
    tab.until(&format!("{card}.innerText.includes('octo')")).await;
    let id = world.artifact(&project, from_github("Releases")).await;
    world.github.be(Mood::Refuse);
    tab.go(&place(&project, &id, "preview")).await;
    tab.click_named("button", "Refresh").await;
    tab.sees("Refresh failed:").await;
    tab.go("#/connectors").await;
    tab.reload().await;
    tab.until(&format!("{card}?.innerText.includes('Error')")).await;
    tab.click_named(".connector footer button", "Disconnect").await;
    tab.click("dialog button[type=submit]").await;
    tab.until(&format!("!{card}.innerText.includes('octo')")).await;
    world.assert_clean(&tab, &["/refresh"]);
    world.end().await;
}
