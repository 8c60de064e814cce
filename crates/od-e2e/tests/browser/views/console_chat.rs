//! Chat with an agent, beside the preview.

use od_e2e::browser::{Tab, Tasks};
use serde_json::json;

use crate::world::{World, from_file, place, sample, target};

const STATUS: &str = "document.querySelector('.chat-head .meta')?.innerText";

async fn pane(world: &World) -> Tab {
    world.project("web", &[("metrics.json", json!({ "visits": 12 }))]).await;
    let tab = world.console("#/p/web").await;
    tab.click_named("button", "Chat with your agent").await;
    tab
}

/// Asks for several lines: one command of the fake agent each.
async fn ask(tab: &Tab, lines: &[&str]) {
    let text = serde_json::to_string(&lines.join("\n")).unwrap();
    tab.until("document.querySelector('.chat-composer textarea')").await;
    tab.run(&format!(
        "(() => {{ const t = document.querySelector('.chat-composer textarea'); t.focus(); \
         t.value = {text}; t.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
    ))
    .await;
    tab.until("!document.querySelector('.chat-composer [type=submit]').disabled").await;
    tab.press("Enter").await;
}

async fn until_status(tab: &Tab, status: &str) {
    tab.until(&format!("{STATUS}?.includes({status:?})")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_makes_an_artifact_that_opens_beside_the_chat() {
    let world = World::start().await;
    world.install_agent("");
    let tab = pane(&world).await;
    ask(
        &tab,
        &[
            "think a moment",
            "plan Make it",
            "say **Here** it comes.",
            "make Visits",
            "usage",
            "say done",
        ],
    )
    .await;
    tab.until("location.hash.includes('/live/la-visits')").await;
    tab.shows_preview().await;
    until_status(&tab, "Ready").await;
    tab.until("document.querySelector('.chat .chat-text strong')?.innerText === 'Here'").await;
    tab.until("document.querySelector('.chat-made a')?.innerText.includes('Visits')").await;
    tab.until(&format!("{STATUS}.includes('1,200 tokens') && {STATUS}.includes('0.25 USD')")).await;
    tab.until("document.querySelectorAll('.chat-plan li').length === 2").await;
    // Thoughts and calls are folded, and open with what went in and came out.
    tab.until("!document.querySelector('.chat-inside')").await;
    tab.click(".chat-card:last-of-type .chat-fold, .chat-card ~ .chat-card .chat-fold").await;
    tab.until("document.querySelector('.chat-inside')?.innerText.includes('templateHtml')").await;
    tab.reload().await;
    tab.until("document.querySelector('.chat-button')").await;
    tab.click_named("button", "Chat with your agent").await;
    tab.until("document.querySelector('.chat .chat-text strong')?.innerText === 'Here'").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_agent_asks_is_answered_by_mouse_and_by_keyboard_in_either_tab() {
    let world = World::start().await;
    world.install_agent("");
    let tab = pane(&world).await;
    ask(&tab, &["ask rm -rf build", "ask make all", "say end"]).await;
    tab.until("document.querySelector('.chat-ask pre')?.innerText.includes('rm -rf build')").await;
    tab.click_named(".chat-choices button", "Reject").await;
    tab.until("document.querySelector('.chat')?.innerText.includes('answer: no')").await;
    tab.until("document.querySelector('.chat-ask:not(.answered)')?.innerText.includes('make all')")
        .await;
    // The same chat in another tab has the question too, and the answer closes both.
    let other = world.console("#/p/web").await;
    other.click_named("button", "Chat with your agent").await;
    other.click_named("button", "Chats of this project").await;
    other.click(".chat-line").await;
    other.until("document.querySelector('.chat-ask:not(.answered)')").await;
    tab.run("document.querySelector('.chat-composer textarea').focus()").await;
    tab.run(
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', \
         { code: 'KeyY', key: 'y', altKey: true, bubbles: true }))",
    )
    .await;
    tab.until("document.querySelector('.chat')?.innerText.includes('answer: once')").await;
    other.until("!document.querySelector('.chat-ask:not(.answered)')").await;
    other.until("document.querySelector('.chat')?.innerText.includes('answer: once')").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_in_the_middle_keeps_stream_and_draft_and_stop_ends_it() {
    let world = World::start().await;
    world.install_agent("");
    let tab = pane(&world).await;
    ask(&tab, &["say first part. ", "flood 300", "hang"]).await;
    tab.until("document.querySelector('.chat')?.innerText.includes('299')").await;
    tab.click(".chat-composer textarea").await;
    tab.type_text("still to be said").await;
    tab.reload().await;
    tab.until("document.querySelector('.chat-button')").await;
    tab.click_named("button", "Chat with your agent").await;
    tab.until("document.querySelector('.chat')?.innerText.includes('first part')").await;
    tab.until("document.querySelector('.chat')?.innerText.includes('299')").await;
    tab.until("document.querySelector('.chat-composer textarea').value === 'still to be said'")
        .await;
    tab.click_named(".chat-composer button", "Stop").await;
    until_status(&tab, "Stopped").await;
    tab.sees("No program of the agent is left.").await;
    // The next prompt goes on in a new process.
    ask(&tab, &["say here again"]).await;
    tab.until("document.querySelector('.chat')?.innerText.includes('here again')").await;
    until_status(&tab, "Ready").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_no_agent_is_not_signed_in_or_loses_one_is_told_what_to_do() {
    let world = World::start().await;
    let tab = pane(&world).await;
    tab.sees("No agent is installed").await;
    tab.until("document.querySelector('.chat code')").await;
    tab.until("[...document.querySelectorAll('.chat code')].some((c) => c.innerText.startsWith('npm install'))").await;
    world.install_agent("signed-out");
    tab.click_named("button", "Look again").await;
    ask(&tab, &["say x"]).await;
    tab.sees("You are not signed in to Gemini CLI").await;
    until_status(&tab, "Did not start").await;
    world.install_agent("");
    tab.click_named("button", "New chat").await;
    ask(&tab, &["say before", "pause 100", "crash"]).await;
    until_status(&tab, "Interrupted").await;
    tab.sees("out of memory").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_an_agent_says_becomes_part_of_the_console() {
    let world = World::start().await;
    world.install_agent("");
    let bomb = "\"><img src=x onerror=document.title='owned'><script>document.title='owned'</script>[x](javascript:alert(1)) **<b>b</b>**";
    let tab = pane(&world).await;
    let emit = |update: serde_json::Value| format!("emit {update}");
    let content = json!({ "type": "text", "text": bomb });
    let lines = [
        emit(json!({ "sessionUpdate": "agent_message_chunk", "content": content })),
        emit(json!({ "sessionUpdate": "agent_thought_chunk", "content": content })),
        emit(
            json!({ "sessionUpdate": "plan", "entries": [{ "content": bomb, "status": "pending" }] }),
        ),
        emit(json!({
            "sessionUpdate": "tool_call", "toolCallId": "x", "title": bomb, "rawInput": { "k": bomb },
            "content": [{ "type": "content", "content": content }],
        })),
        emit(json!({ "sessionUpdate": "session_info_update", "title": bomb })),
        format!("ask {bomb}"),
    ];
    ask(&tab, &lines.iter().map(String::as_str).collect::<Vec<_>>()).await;
    tab.until("document.querySelector('.chat-ask:not(.answered)')?.innerText.includes('onerror')")
        .await;
    tab.run("document.querySelectorAll('.chat-fold').forEach((fold) => fold.click())").await;
    tab.until("document.querySelectorAll('.chat-inside').length === 2").await;
    tab.until("!document.querySelector('.chat :is(img, script, b), .chat a[href^=javascript]')")
        .await;
    tab.click_named(".chat-choices button", "Reject").await;
    until_status(&tab, "Ready").await;
    tab.until("!document.title.includes('owned ') && document.title !== 'owned'").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_events_scroll_without_a_long_task() {
    let world = World::start().await;
    world.install_agent("");
    let tab = pane(&world).await;
    ask(&tab, &["calls 10000", "say end"]).await;
    until_status(&tab, "Ready").await;
    tab.until("document.querySelector('.chat')?.textContent.includes('Show earlier')").await;
    let tasks = Tasks::record(&tab).await;
    for _ in 0..5 {
        tab.run("document.querySelector('.chat-stream').scrollTop = 0").await;
        tab.click("div.chat-stream .row.center button").await;
        tab.settles().await;
    }
    let longest = tasks.longest_ms().await;
    println!("longest task: {longest} ms");
    tab.until("document.querySelectorAll('.chat-card').length >= 600").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

/// What the composer holds.
async fn until_drafted(tab: &Tab, part: &str) {
    let part = serde_json::to_string(part).unwrap();
    tab.until(&format!(
        "document.querySelector('.chat-composer textarea')?.value.includes({part})"
    ))
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_artifact_starts_from_a_prompt_or_from_what_the_project_can_give() {
    let world = World::start().await;
    world.install_agent("");
    world.project("web", &[("metrics.json", json!({ "visits": 12 }))]).await;
    let tab = world.console("#/new?project=web").await;
    tab.click_named("button", "Make a live dashboard of metrics.json.").await;
    tab.until("document.getElementById('first-prompt').value.includes('metrics.json')").await;
    tab.click_named("button", "Ask your agent").await;
    until_drafted(&tab, "metrics.json").await;
    tab.until("location.hash.startsWith('#/p/web')").await;
    // There is no repository in the folder: nothing is said of one.
    tab.until("document.querySelectorAll('.chat-suggestions button').length > 0").await;
    tab.until("!document.querySelector('.chat-suggestions').innerText.includes('repository')")
        .await;
    tab.go("#/new?project=web").await;
    tab.click("#first-prompt").await;
    tab.type_text("say I make it. ").await;
    tab.click_named("button", "Ask your agent").await;
    until_drafted(&tab, "say I make it.").await;
    tab.click(".chat-composer textarea").await;
    tab.press("Enter").await;
    tab.until("document.querySelector('.chat')?.innerText.includes('I make it.')").await;
    until_status(&tab, "Ready").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_agent_a_prompt_is_not_thrown_away_and_a_table_still_becomes_a_page() {
    let world = World::start().await;
    world.project("web", &[("metrics.json", json!({ "visits": 12 }))]).await;
    world.write("web", "sales.csv", "region,total\nnorth,3\n");
    let tab = world.console("#/new?project=web").await;
    tab.until("document.querySelector('main')?.innerText.includes('No agent is installed')").await;
    tab.click("#first-prompt").await;
    tab.type_text("Sales by region. ").await;
    tab.press("Enter").await;
    tab.until("document.querySelector('form button[type=submit]').disabled").await;
    tab.until("document.getElementById('first-prompt').value.includes('Sales by region.')").await;
    tab.go("#/p/web/file/sales.csv").await;
    tab.until("document.querySelector('main')?.innerText.includes('Use this file')").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_is_explained_and_a_refresh_repaired_from_what_od_knows() {
    let world = World::start().await;
    world.install_agent("");
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let mut body = from_file("Fleet", "fleet.json", &sample(3));
    let mapping = json!({ "dataPaths": [{ "from": "total", "to": "total" }] });
    body["input"]["document"]["sourceJson"]["outputMapping"] = mapping;
    let id = world.artifact(&project, body).await;
    let tab = world.console(&place(&project, &id, "data")).await;
    tab.click_named("button", "Explain this number: total").await;
    until_drafted(&tab, "Explain the value of “total”").await;
    for part in ["fleet.json", "\"from\":\"total\"", "Change nothing."] {
        until_drafted(&tab, part).await;
    }
    tab.go(&place(&project, &id, "preview?inspect=1")).await;
    tab.click_named(".bindings button", "Explain this value: title").await;
    until_drafted(&tab, "Explain the value of “title”").await;
    world.write("web", "fleet.json", &json!({ "totals": { "all": 9 }, "rows": [] }).to_string());
    tab.go(&place(&project, &id, "preview")).await;
    tab.click_named("button", "Refresh").await;
    tab.sees("Refresh failed:").await;
    tab.click_named("button", "Ask your agent to repair the source").await;
    for part in ["OUTPUT_MAPPING_UNRESOLVED", "Nearest paths: totals", "- totals.all: a number"] {
        until_drafted(&tab, part).await;
    }
    until_drafted(&tab, "\"dataPaths\":[{\"from\":\"total\",\"to\":\"total\"}]").await;
    world.assert_clean(&tab, &["/refresh"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pane_is_seen_whole_in_both_themes_and_is_a_sheet_on_a_telephone() {
    let world = World::start().await;
    world.install_agent("");
    let tab = pane(&world).await;
    ask(
        &tab,
        &[
            "think about it",
            "plan Make the page",
            "tool cat metrics.json",
            "say I read **metrics.json**.\\n\\n- visits: `12`\\n- a list of days",
            "make Visits",
            "usage",
            "ask npm run build",
        ],
    )
    .await;
    tab.until("document.querySelector('.chat-ask:not(.answered)')").await;
    for (width, height) in [(360, 760), (768, 1024), (1280, 800)] {
        tab.resize(width, height).await;
        for theme in ["light", "dark"] {
            tab.prefer(&[("prefers-color-scheme", theme)]).await;
            tab.settles().await;
            let path = target(&format!("console-shots/chat-{width}-{theme}.png"));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            tab.screenshot(&path).await;
        }
        let wide = tab.run("document.documentElement.scrollWidth").await.as_i64().unwrap();
        assert!(wide <= width, "{wide} at {width}");
        let inside = "(() => { const b = document.querySelector('.chat').getBoundingClientRect(); \
            return b.left >= 0 && b.right <= innerWidth && b.width >= 300; })()";
        tab.until(inside).await;
    }
    world.assert_clean(&tab, &[]);
    world.end().await;
}
