//! The console: the files of `web/`, embedded as they are written, compressed on the wire, under a policy of their own.

use std::collections::HashMap;
use std::io::Write as _;
use std::sync::{LazyLock, OnceLock};

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderValue};
use od_core::ids::Digest;

use crate::http::reply::{Coding, Policy, Reply, matches_etag};

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../web/", $name)))),*]
    };
}

/// Every file of the console: its name under `web/`, and its text. A test compares the list with the folder.
#[rustfmt::skip]
const FILES: &[(&str, &str)] = embedded![
    "index.html", "icon.svg", "main.js",
    "core/api.js", "core/chat.js", "core/dom.js", "core/events.js", "core/format.js", "core/lists.js", "core/router.js", "core/session.js", "core/store.js",
    "ui/actions.js", "ui/base.css", "ui/chat.js", "ui/controls.js", "ui/live.js", "ui/overlays.js", "ui/shell.js", "ui/shortcuts.js",
    "ui/thumbs.js", "ui/views.css", "ui/windowed.js",
    "views/artifact/checks.js", "views/artifact/compare.js", "views/artifact/data.js", "views/artifact/export.js",
    "views/artifact/history.js", "views/artifact/notices.js", "views/artifact/preview.js", "views/artifact/provenance.js",
    "views/artifact/schedule.js", "views/artifact/source.js", "views/artifact/viewer.js",
    "views/chat/brief.js", "views/chat/first_prompt.js", "views/chat/markdown.js", "views/chat/pane.js",
    "views/chat/stream.js", "views/chat/suggestions.js",
    "views/connectors.js", "views/create.js", "views/home.js", "views/services.js", "views/shape.js", "views/tables.js",
    "views/trash.js", "views/webhooks.js", "views/workspace.js",
];

/// The bundled templates, which the console offers for a new artifact. They are text to it: a browser
/// never draws them on the console's origin.
const TEMPLATES: &[(&str, &str)] = &[
    (
        "/templates/dashboard.html",
        include_str!("../../../skills/live-artifact/assets/templates/dashboard.html"),
    ),
    (
        "/templates/report.html",
        include_str!("../../../skills/live-artifact/assets/templates/report.html"),
    ),
];

/// The place of the start page that takes the list of modules, so that they load in one round trip.
const MODULES_MARK: &str = "<!--MODULES-->";

/// The service worker that takes itself and every other of this origin away, and loads the pages anew.
///
/// The console has none. Somebody else who held a dead daemon's port can have registered one, and a
/// browser keeps it: it would answer for the console long after the daemon is back and its maker gone.
/// At each visit a browser asks for the worker's script again, at whatever path it was; with this
/// answer the visit is the worker's last.
const LAST_WORKER: &str = "\
addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil((async () => {
  await registration.unregister();
  // Not waited for: a page loads only when this event is over.
  for (const page of await clients.matchAll({ type: 'window' })) void page.navigate(page.url);
})()));
";

/// Answers a browser that looks for the script of a service worker. The header is one that no page can
/// set on a request of its own.
pub(crate) fn last_worker(headers: &HeaderMap) -> Option<Reply> {
    let asks = headers.get("service-worker").is_some_and(|value| value == "script");
    asks.then(|| Reply::Worker(Bytes::from_static(LAST_WORKER.as_bytes())))
}

/// Returns true if the path names a file of the console.
pub(crate) fn is_file(path: &str) -> bool {
    CONSOLE.contains_key(path)
}

/// Answers a file of the console, if the path names one.
pub(crate) fn find(path: &str, headers: &HeaderMap) -> Option<Reply> {
    let file = CONSOLE.get(path)?;
    let coding = if accepts_gzip(headers) { Coding::Gzip } else { Coding::Identity };
    let etag = match coding {
        Coding::Identity => &file.etag,
        Coding::Gzip => &file.gzip_etag,
    };
    if matches_etag(headers.get(header::IF_NONE_MATCH), etag) {
        return Some(Reply::NotModified { etag: etag.clone(), policy: Policy::Console });
    }
    let body = match coding {
        Coding::Identity => file.body.clone(),
        Coding::Gzip => file.gzipped().clone(),
    };
    let content_type = file.content_type;
    Some(Reply::ConsoleFile { body, etag: etag.clone(), content_type, coding })
}

#[derive(Debug)]
struct Embedded {
    body: Bytes,
    /// Made when first asked for: `is_file` looks at this table for every request, and a daemon whose
    /// console nobody opens should not compress 200 KB before its first answer.
    gzip: OnceLock<Bytes>,
    /// A strong validator names bytes, so each coding of a file has its own.
    etag: HeaderValue,
    gzip_etag: HeaderValue,
    content_type: &'static str,
}

/// By path, `/` for the start page.
static CONSOLE: LazyLock<HashMap<String, Embedded>> = LazyLock::new(|| {
    let files = FILES.iter().map(|(name, source)| match *name {
        "index.html" => ("/".to_owned(), Embedded::new(start_page(source), content_type(name))),
        _ => (format!("/{name}"), Embedded::new(*source, content_type(name))),
    });
    let templates = TEMPLATES.iter().map(|(path, source)| {
        ((*path).to_owned(), Embedded::new(*source, "text/plain; charset=utf-8"))
    });
    files.chain(templates).collect()
});

impl Embedded {
    fn new(body: impl Into<Bytes>, content_type: &'static str) -> Self {
        let body = body.into();
        let digest = Digest::of_bytes(&body).to_string();
        let short: String = digest.chars().skip("sha256:".len()).take(32).collect();
        let etag = |text: String| {
            HeaderValue::try_from(text).expect("hex digits and quotes stand in any header")
        };
        Self {
            body,
            gzip: OnceLock::new(),
            etag: etag(format!("\"{short}\"")),
            gzip_etag: etag(format!("\"{short}-gzip\"")),
            content_type,
        }
    }

    fn gzipped(&self) -> &Bytes {
        self.gzip.get_or_init(|| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&self.body).expect("a vector takes what it is given");
            encoder.finish().expect("a vector takes what it is given").into()
        })
    }
}

fn start_page(source: &str) -> String {
    let preloads: String = FILES
        .iter()
        .filter(|(name, _)| has_extension(name, "js"))
        .map(|(name, _)| format!("<link rel=modulepreload href={name}>"))
        .collect();
    source.replace(MODULES_MARK, &preloads)
}

/// Returns whether `Accept-Encoding` names gzip, or anything, without forbidding it (`q=0`).
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter();
    let offers = lines.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(','));
    // A named coding wins over `*`, whichever comes first.
    let mut any = false;
    for offer in offers {
        let mut parts = offer.split(';').map(str::trim);
        let coding = parts.next().unwrap_or_default();
        let quality = parts.find_map(|part| part.strip_prefix("q=")).unwrap_or("1");
        let is_wanted = quality.parse::<f32>().is_ok_and(|quality| quality > 0.0);
        if coding.eq_ignore_ascii_case("gzip") {
            return is_wanted;
        }
        any |= coding == "*" && is_wanted;
    }
    any
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

fn has_extension(name: &str, wanted: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| extension == wanted)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::io::Read as _;
    use std::path::Path;

    use super::*;

    /// The bound on everything a browser loads, as written.
    const BYTES_MAX: usize = 400_000;
    const LINES_MAX: usize = 300;
    /// Types for the checker, never sent.
    const TYPES: &str = "core/schema.js";

    fn accepting(codings: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(codings))])
    }

    fn sent(path: &str, headers: &HeaderMap) -> (Bytes, HeaderValue, Coding) {
        match find(path, headers) {
            Some(Reply::ConsoleFile { body, etag, coding, .. }) => (body, etag, coding),
            other => panic!("{path}: {other:?}"),
        }
    }

    /// Returns the files below `web/` that are for browsers, by name.
    fn folder() -> Vec<(String, String)> {
        let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
        let mut directories = vec![web.clone()];
        let mut found = Vec::new();
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&web).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() {
                    directories.push(path);
                } else if ["html", "js", "css", "svg"].iter().any(|e| has_extension(&name, e)) {
                    found.push((name, std::fs::read_to_string(path).unwrap()));
                }
            }
        }
        found
    }

    #[test]
    fn the_list_names_every_file_of_the_console_and_no_other() {
        let found: BTreeSet<String> =
            folder().into_iter().map(|(name, _)| name).filter(|name| name != TYPES).collect();
        let listed: BTreeSet<String> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(listed, found, "edit FILES");
    }

    #[test]
    fn the_core_knows_no_widget_and_no_widget_knows_a_view() {
        for (name, source) in folder() {
            let banned: &[&str] = match name.split_once('/') {
                Some(("core", _)) => &["../ui/", "../views/"],
                Some(("ui", _)) => &["../views/"],
                Some(_) | None => &[],
            };
            for path in banned {
                assert!(!source.contains(path), "{name} knows {path}");
            }
        }
    }

    #[test]
    fn the_start_page_is_at_the_root_and_only_there() {
        assert!(is_file("/"));
        assert!(!is_file("/index.html") && !is_file("/../Cargo.toml") && !is_file(""));
    }

    #[test]
    fn a_browser_gets_the_very_text_of_every_file_compressed_or_not() {
        for (name, source) in FILES.iter().filter(|(name, _)| *name != "index.html") {
            let path = format!("/{name}");
            let (plain, _, coding) = sent(&path, &HeaderMap::new());
            assert_eq!((plain.as_ref(), coding), (source.as_bytes(), Coding::Identity), "{name}");
            let (zipped, _, coding) = sent(&path, &accepting("gzip, deflate, br, zstd"));
            let mut text = String::new();
            flate2::read::GzDecoder::new(zipped.as_ref()).read_to_string(&mut text).unwrap();
            assert_eq!((text.as_str(), coding), (*source, Coding::Gzip), "{name}");
        }
    }

    #[test]
    fn each_coding_of_a_file_is_validated_by_its_own_etag() {
        let (_, plain, _) = sent("/", &HeaderMap::new());
        let (_, zipped, _) = sent("/", &accepting("gzip"));
        assert_ne!(plain, zipped);
        let revalidated = |codings: &'static str, etag: &HeaderValue| {
            let mut headers = accepting(codings);
            headers.insert(header::IF_NONE_MATCH, etag.clone());
            matches!(find("/", &headers), Some(Reply::NotModified { .. }))
        };
        assert!(revalidated("gzip", &zipped) && revalidated("identity", &plain));
        assert!(!revalidated("gzip", &plain) && !revalidated("identity", &zipped));
    }

    #[test]
    fn gzip_is_sent_only_to_who_accepts_it() {
        for (codings, expected) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("*", true),
            ("*;q=0, gzip", true),
            ("identity", false),
            ("gzip;q=0", false),
            ("*, gzip; q=0", false),
            ("gzip;q=many", false),
            ("", false),
        ] {
            assert_eq!(accepts_gzip(&accepting(codings)), expected, "{codings}");
        }
    }

    #[test]
    fn the_start_page_preloads_every_module_so_that_they_come_in_one_round_trip() {
        let page = std::str::from_utf8(&CONSOLE["/"].body).unwrap();
        assert!(page.starts_with("<!doctype html>"), "anything before it means quirks mode");
        for (name, _) in FILES.iter().filter(|(name, _)| has_extension(name, "js")) {
            let wanted = format!("<link rel=modulepreload href={name}>");
            assert!(page.contains(&wanted), "{name} is not preloaded");
        }
    }

    #[test]
    fn all_of_it_stays_below_the_budget() {
        let total: usize = FILES.iter().map(|(_, source)| source.len()).sum();
        assert!(total < BYTES_MAX, "{total} bytes, at most {BYTES_MAX}");
    }

    #[test]
    fn modules_stay_short_typed_and_free_of_html_sinks() {
        for (name, source) in folder().iter().filter(|(name, _)| has_extension(name, "js")) {
            assert!(source.starts_with("// @ts-check\n"), "{name} is not type-checked");
            let lines = source.lines().count();
            assert!(lines <= LINES_MAX || name == TYPES, "{name} has {lines} lines");
            for sink in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "DOMParser",
                "createContextualFragment",
                "srcdoc",
                "setHTML",
                "eval(",
                "new Function",
            ] {
                assert!(!source.contains(sink), "{name} uses {sink}");
            }
        }
    }

    #[test]
    fn nothing_is_asked_of_another_host() {
        for (name, source) in FILES {
            for (at, _) in source.match_indices("://") {
                let around = &source[at.saturating_sub(8)..source.len().min(at + 16)];
                assert!(around.contains("://www.w3.org"), "{name} mentions {around}");
            }
        }
    }
}
