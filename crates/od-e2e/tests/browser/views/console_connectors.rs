//! Connectors: what they are, why their tools are safe, connect and disconnect.

use od_core::connector::{ServiceKind, ServiceRequest};
use od_core::ids::Timestamp;

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
    // What a message has in backticks is code on a page.
    tab.until("!document.querySelector('main').innerText.includes('`')").await;
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

#[tokio::test(flavor = "multi_thread")]
async fn a_service_is_registered_tested_and_removed_and_its_secret_never_shown() {
    let world = World::start().await;
    let tab = world.console("#/connectors").await;
    tab.sees("No services yet").await;
    tab.click_named("button", "Register a service").await;
    tab.until("document.querySelector('dialog input[name=url]')").await;
    let fill = "(name, text) => { const el = document.querySelector(`dialog [name=${name}]`); el.value = text; \
                el.dispatchEvent(new Event('change', { bubbles: true })); }";
    let base = world.github.url.clone();
    for (name, text) in [
        ("name", "demo"),
        ("url", base.as_str()),
        ("header", "X-Api-Key"),
        ("secret", "key-canary-0123"),
    ] {
        tab.run(&format!("void ({fill})('{name}', '{text}')")).await;
    }
    tab.click("dialog button[type=submit]").await;
    let row =
        "[...document.querySelectorAll('.service')].find((el) => el.innerText.startsWith('demo'))";
    tab.until(&format!("{row}?.innerText.includes('secret in x-api-key')")).await;
    tab.until("!document.documentElement.outerHTML.includes('canary')").await;
    tab.click_named("button", "Test demo").await;
    tab.until(&format!("{row}.innerText.includes('It answers: demo')")).await;
    world.github.be(Mood::Refuse);
    tab.click_named("button", "Test demo").await;
    tab.until(&format!("{row}.querySelector('.problem')?.innerText.includes('Register it again')"))
        .await;
    // A database that does not answer is told with its place, and never with its password.
    tab.click_named("button", "Register a service").await;
    tab.until("document.querySelector('dialog select')").await;
    tab.run(&format!("void ({fill})('kind', 'postgres')")).await;
    tab.until("!document.querySelector('dialog input[name=url]')").await;
    let connection = ["postgresql://reader:pw-canary-", "0123@127.0.0.1:1/shop"].concat();
    for (name, text) in [("name", "shop"), ("secret", connection.as_str())] {
        tab.run(&format!("void ({fill})('{name}', '{text}')")).await;
    }
    tab.click("dialog button[type=submit]").await;
    let shop =
        "[...document.querySelectorAll('.service')].find((el) => el.innerText.startsWith('shop'))";
    tab.until(&format!("{shop}?.innerText.includes('postgresql://127.0.0.1:1/shop')")).await;
    tab.click_named("button", "Test shop").await;
    tab.until(&format!(
        "{shop}.querySelector('.problem')?.innerText.includes('cannot be reached')"
    ))
    .await;
    tab.until("!document.documentElement.outerHTML.includes('canary')").await;
    tab.click_named("button", "Remove demo").await;
    tab.click("dialog button[type=submit]").await;
    tab.until(&format!("!{row}")).await;
    world.assert_clean(&tab, &["/test"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_asked_for_is_shown_and_only_a_person_grants_it() {
    let world = World::start().await;
    let services = &world.daemon().app().ports.services;
    for name in ["billing", "noise"] {
        let request = ServiceRequest {
            name: name.parse().unwrap(),
            kind: ServiceKind::Http,
            project_id: "web".parse().unwrap(),
            asked_at: Timestamp::from_unix_ms(1_777_507_200_000),
        };
        services.ask(request).await.unwrap();
    }
    let tab = world.console("#/connectors").await;
    let asked = |name: &str| {
        format!(
            "[...document.querySelectorAll('.service')].find((el) => el.innerText.startsWith('{name}') && el.innerText.includes('asked for'))"
        )
    };
    tab.until(&asked("billing")).await;
    tab.run(&format!("void {}.querySelector('button').click()", asked("noise"))).await;
    tab.until(&format!("!{}", asked("noise"))).await;
    tab.click_named("button", "Register…").await;
    tab.until("document.querySelector('dialog input[name=name]')?.value === 'billing'").await;
    let url = world.github.url.clone();
    tab.run(&format!("document.querySelector('dialog input[name=url]').value = '{url}'")).await;
    tab.click("dialog button[type=submit]").await;
    tab.until(&format!("!{}", asked("billing"))).await;
    tab.sees(&format!("{url}/")).await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_is_added_tested_and_removed_and_its_secret_never_shown() {
    let world = World::start().await;
    let tab = world.console("#/connectors").await;
    tab.sees("No webhooks").await;
    tab.click_named("button", "Add a webhook").await;
    tab.until("document.querySelector('dialog input[name=url]')").await;
    world.github.be(Mood::Refuse);
    let url = format!("{}/hook", world.github.url);
    for (name, text) in [("name", "pager"), ("url", url.as_str()), ("secret", "key-canary-0123")] {
        let field = format!("document.querySelector('dialog [name={name}]')");
        tab.run(&format!("{field}.value = '{text}'")).await;
    }
    tab.click("dialog button[type=submit]").await;
    let row =
        "[...document.querySelectorAll('.service')].find((el) => el.innerText.startsWith('pager'))";
    tab.until(&format!("{row}?.innerText.includes('Nothing sent yet')")).await;
    tab.click_named("button", "Test pager").await;
    tab.until(&format!("{row}.querySelector('.problem')?.innerText.includes('did not take')"))
        .await;
    tab.until(&format!("{row}.innerText.includes('1 lost')")).await;
    tab.until("!document.documentElement.outerHTML.includes('canary')").await;
    tab.click_named("button", "Remove pager").await;
    tab.click("dialog button[type=submit]").await;
    tab.until(&format!("!{row}")).await;
    world.assert_clean(&tab, &["/test"]);
    world.end().await;
}
