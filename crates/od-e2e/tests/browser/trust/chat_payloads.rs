//! What has broken pages before, said by an agent wherever an agent can say something.

use serde_json::json;

use crate::payloads::{PAYLOADS, URLS};
use crate::world::World;

/// Elements that no text of an agent may become.
const ELEMENTS: &str = "script, img, iframe, object, embed, link, meta, base, video, audio, form:not(.chat-composer), \
    input, style, marquee, math, body, noscript, plaintext, b, [onload], [onerror], [onfocus], [style]";

#[tokio::test(flavor = "multi_thread")]
async fn none_of_what_breaks_pages_is_more_than_text_in_a_chat() {
    let world = World::start().await;
    world.install_agent("");
    world.project("web", &[("metrics.json", json!({ "visits": 12 }))]).await;
    let payloads: Vec<String> =
        PAYLOADS.iter().chain(URLS).map(|it| it.replace("HIT", "http://127.0.0.1:9/hit")).collect();
    let lines: Vec<String> =
        payloads.iter().map(|payload| format!("bomb {}", json!(payload))).collect();
    let tab = world.console("#/p/web").await;
    tab.click_named("button", "Chat with your agent").await;
    let text = serde_json::to_string(&lines.join("\n")).unwrap();
    tab.until("document.querySelector('.chat-composer textarea')").await;
    tab.run(&format!(
        "(() => {{ const t = document.querySelector('.chat-composer textarea'); t.focus(); \
         t.value = {text}; t.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
    ))
    .await;
    tab.until("!document.querySelector('.chat-composer [type=submit]').disabled").await;
    tab.press("Enter").await;
    tab.until("document.querySelector('.chat-head .meta')?.innerText.includes('Ready')").await;
    // Everything is drawn and open: thoughts, and calls with what went in and came out.
    while tab.run("Boolean(document.querySelector('div.chat-stream .row.center button'))").await
        == true
    {
        tab.run("document.querySelector('div.chat-stream .row.center button').click()").await;
        tab.settles().await;
    }
    tab.run(
        "document.querySelectorAll('.chat-fold[aria-expanded=false]').forEach((it) => it.click())",
    )
    .await;
    let all = 2 * payloads.len();
    tab.until(&format!("document.querySelectorAll('.chat-inside').length >= {}", all - 4)).await;
    let found = format!(
        "[...document.querySelectorAll('.chat')].flatMap((it) => [...it.querySelectorAll({})]).map((it) => it.outerHTML.slice(0, 200))",
        json!(ELEMENTS)
    );
    assert_eq!(tab.run(&found).await, json!([]));
    let links = "[...document.querySelectorAll('.chat a[href]')].map((it) => it.getAttribute('href')).filter((it) => !/^(https?:|#)/.test(it))";
    assert_eq!(tab.run(links).await, json!([]));
    assert_eq!(tab.run("window.ran === undefined").await, json!(true));
    assert_eq!(tab.dialogs(), Vec::<String>::new());
    // The words are there as they were said.
    tab.until("document.querySelector('.chat').textContent.includes('<svg onload=window.ran=1;alert(1)>')").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}
