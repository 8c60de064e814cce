//! Where each value comes from.

use od_e2e::browser::{Chromium, Framed};

use crate::world::{World, from_file, place, sample};

#[tokio::test(flavor = "multi_thread")]
async fn inspect_lists_every_binding_and_each_leads_to_its_data() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(3))).await;
    let tab = world.console(&place(&project, &id, "preview")).await;
    tab.click_named(".segments button", "Inspect").await;
    tab.until("document.querySelectorAll('.bindings li').length === 4").await;
    tab.until("document.querySelector('.preview-frame')?.src.includes('/preview/')").await;
    tab.click(".bindings a[href$='path=total']").await;
    tab.until("location.hash.includes('/data?path=total')").await;
    tab.until("document.querySelector('.data-row.selected')?.innerText.includes('total')").await;
    tab.press("/").await;
    tab.until("document.activeElement?.type === 'search'").await;
    tab.type_text("busy").await;
    tab.until("document.querySelectorAll('.data-row').length === 3").await;
    tab.sees("1 match").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_value_says_who_wrote_it_in_the_panel_the_data_and_the_provenance() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let mut body = from_file("Fleet status", "fleet.json", &sample(2));
    body["input"]["document"]["sourceJson"]["outputMapping"] =
        serde_json::json!({ "dataPaths": [{ "from": "total", "to": "total" }] });
    let id = world.artifact(&project, body).await;
    let tab = world.console(&place(&project, &id, "preview?inspect=1")).await;
    tab.click_named("button", "Refresh").await;
    let (read, fixed) =
        ("Read from local_file fleet.json, “total” of its output, at ", "no refresh changes it.");
    let says = |place: &str, text: &str| {
        format!("document.querySelector(\"{place}\")?.innerText.includes('{text}')")
    };
    tab.until(&says(".bindings a[href$='path=total'] .origin:not(.fixed)", read)).await;
    tab.until(&says(".bindings a[href$='path=title'] .origin.fixed", fixed)).await;
    tab.until(&says(".bindings a[href$='path=rows'] .origin.fixed", fixed)).await;
    tab.go(&place(&project, &id, "data")).await;
    let row = |name: &str| {
        format!(
            "[...document.querySelectorAll('.data-row')].find((el) => el.querySelector('.data-key').innerText === '{name}')"
        )
    };
    for (name, text) in [("total", read), ("title", fixed), ("rows", fixed)] {
        let said = format!("{}?.querySelector('.origin')?.innerText.includes('{text}')", row(name));
        tab.until(&said).await;
    }
    // Times are the reader's own, and nothing is in backticks.
    tab.until("!/`|T\\d\\d:/.test(document.querySelector('.data-tree').innerText)").await;
    tab.go(&place(&project, &id, "provenance")).await;
    tab.until("[...document.querySelectorAll('.line .badge')].slice(-2).map((el) => el.innerText).join() === 'Refreshed,Fixed'").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

/// Reads path, source and time off the one label that the browser draws at a value of a page under inspection,
/// which has to be at this kind of element. The count of bound numbers stands at the page itself.
async fn label(page: &Framed<'_>, element: &str) -> [String; 3] {
    let drawn = page
        .run(
            "[...document.querySelectorAll('body *')].flatMap((el) => { const after = getComputedStyle(el, '::after'); \
             return after.content === 'none' || after.display === 'none' || after.visibility !== 'visible' ? [] \
             : [[el.localName, after.content]]; })",
        )
        .await;
    let [label] = drawn.as_array().unwrap().as_slice() else { panic!("labels: {drawn}") };
    assert_eq!(label[0], element, "{drawn}");
    // Computed content is a list of quoted strings.
    let text = label[1].as_str().unwrap().replace("\" \"", "").replace('\u{202f}', " ");
    let parts: Vec<String> =
        text.trim_matches('"').split('—').map(|part| part.trim().to_owned()).collect();
    parts.try_into().unwrap_or_else(|parts| panic!("{parts:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn inspect_shows_path_source_and_time_at_the_value_that_is_pointed_at_or_focused() {
    let world = World::start_in(Chromium::start_with_frames_in_process().await).await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(3))).await;
    let tab = world.console(&place(&project, &id, "provenance")).await;
    tab.sees("This state").await;
    // As a person reads it, in the zone of this machine.
    let time = tab
        .run(
            "new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })\
             .format(new Date(document.querySelector('main time').dateTime)).replace(/\\s/g, ' ')",
        )
        .await;
    tab.go(&place(&project, &id, "preview")).await;
    tab.click_named(".segments button", "Inspect").await;
    tab.until("document.querySelector('.segments [aria-pressed=true]').innerText === 'Inspect'")
        .await;
    let page = tab.framed(".preview-frame").await;
    let said = |path: &str| {
        // Nothing was refreshed yet: nobody may claim that the file says so.
        let written = "written by a person at revision 1; the next refresh replaces it";
        [path, written, time.as_str().unwrap()].map(str::to_owned)
    };
    page.point_at("h1").await;
    page.until("document.querySelector('h1:hover')").await;
    assert_eq!(label(&page, "h1").await, said("data.title"));
    page.point_at("p").await;
    page.until("document.querySelector('p:hover')").await;
    assert_eq!(label(&page, "p").await, said("data.total"));
    // Away with the mouse: from here on the Tab key alone leads from value to value.
    tab.point_at("h1").await;
    page.until("!document.querySelector('body :hover')").await;
    tab.run("void document.querySelector('.segments [aria-pressed=true]').focus()").await;
    tab.tab_to("document.activeElement.matches('.preview-frame')").await;
    for (selector, path) in [("h1", "data.title"), ("p", "data.total"), ("td", "data.rows.0.id")] {
        page.until(&format!("document.activeElement?.localName === '{selector}'")).await;
        assert_eq!(label(&page, selector).await, said(path));
        tab.press("Tab").await;
    }
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn previews_are_sandboxed_on_their_own_origin() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet status", "fleet.json", &sample(3))).await;
    let tab = world.console(&place(&project, &id, "preview")).await;
    let origin = world.daemon().preview_url();
    tab.until(&format!("document.querySelector('.preview-frame')?.src.startsWith('{origin}/')"))
        .await;
    tab.until(
        "document.querySelector('.preview-frame').getAttribute('sandbox') === \
         'allow-popups allow-popups-to-escape-sandbox'",
    )
    .await;
    tab.until(
        "[...document.querySelectorAll('iframe')].every((el) => el.contentDocument === null)",
    )
    .await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}
