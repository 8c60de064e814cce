//! Which file a path names, and how it is answered.

use std::collections::HashMap;
use std::sync::LazyLock;

use hyper::body::Bytes;
use hyper::header::HeaderValue;
use od_core::ids::Digest;

use super::compact;
use super::files::{FILES, TEMPLATES};
use crate::http::reply::{Policy, Reply, matches_etag};

/// Where the start page wants the list of modules, so that they load in one round trip.
const MODULES_MARK: &str = "<!--MODULES-->";

#[derive(Debug)]
struct Embedded {
    body: Bytes,
    etag: HeaderValue,
    content_type: &'static str,
}

/// By path, `/` for the start page.
static CONSOLE: LazyLock<HashMap<String, Embedded>> = LazyLock::new(|| {
    let files = FILES.iter().map(|(name, source)| {
        let path = if *name == "index.html" { "/".to_owned() } else { format!("/{name}") };
        (path, embedded(sent(name, source), content_type(name)))
    });
    let templates = TEMPLATES.iter().map(|(path, source)| {
        ((*path).to_owned(), embedded((*source).to_owned(), "text/plain; charset=utf-8"))
    });
    files.chain(templates).collect()
});

fn embedded(text: String, content_type: &'static str) -> Embedded {
    let body = Bytes::from(text);
    Embedded { etag: etag_of(&body), body, content_type }
}

/// What of a file goes to the browser.
fn sent(name: &str, source: &str) -> String {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => start_page(source),
        Some("js") => compact::script(source),
        Some("css") => compact::style(source),
        _ => source.to_owned(),
    }
}

/// Returns true if the path names a file of the console.
pub(crate) fn is_file(path: &str) -> bool {
    CONSOLE.contains_key(path)
}

/// Answers a file of the console, if the path names one.
pub(crate) fn find(path: &str, if_none_match: Option<&HeaderValue>) -> Option<Reply> {
    let file = CONSOLE.get(path)?;
    if matches_etag(if_none_match, &file.etag) {
        return Some(Reply::NotModified { etag: file.etag.clone(), policy: Policy::Console });
    }
    Some(Reply::ConsoleFile {
        body: file.body.clone(),
        etag: file.etag.clone(),
        content_type: file.content_type,
    })
}

fn start_page(source: &str) -> String {
    let preloads: String = FILES
        .iter()
        .filter(|(name, _)| has_extension(name, "js"))
        .map(|(name, _)| format!("<link rel=modulepreload href={name}>"))
        .collect();
    source.replace(MODULES_MARK, &preloads)
}

fn etag_of(body: &[u8]) -> HeaderValue {
    let digest = Digest::of_bytes(body).to_string();
    let short: String = digest.chars().skip("sha256:".len()).take(32).collect();
    HeaderValue::try_from(format!("\"{short}\"")).expect("hex digits stand in any header")
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    }
}

fn has_extension(name: &str, wanted: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| extension == wanted)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// What the console may cost to load, all of it, uncompressed.
    const MOST_BYTES: usize = 120_000;
    const MOST_LINES: usize = 300;

    #[test]
    fn the_list_names_every_file_of_the_console_and_no_other() {
        let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
        let mut found = BTreeSet::new();
        let mut directories = vec![web.clone()];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    directories.push(path);
                } else {
                    let name = path.strip_prefix(&web).unwrap().to_str().unwrap().to_owned();
                    // Types for the checker, configuration of tools: not for browsers.
                    let is_types = name == "schema.js";
                    if !is_types
                        && ["html", "js", "css", "svg", "png", "woff2"]
                            .iter()
                            .any(|e| has_extension(&name, e))
                    {
                        found.insert(name);
                    }
                }
            }
        }
        let listed: BTreeSet<String> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(listed, found, "edit src/console/files.rs");
    }

    #[test]
    fn the_start_page_is_at_the_root_and_only_there() {
        assert!(is_file("/"));
        assert!(!is_file("/index.html") && !is_file("/../Cargo.toml") && !is_file(""));
        let Some(Reply::ConsoleFile { etag, .. }) = find("/", None) else {
            panic!("no start page")
        };
        assert!(matches!(find("/", Some(&etag)), Some(Reply::NotModified { .. })));
    }

    fn sources() -> Vec<(String, String)> {
        let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
        let files = std::fs::read_dir(web).unwrap().map(|entry| entry.unwrap().path());
        files
            .filter(|path| path.extension().is_some_and(|extension| extension == "js"))
            .map(|path| {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                (name, std::fs::read_to_string(path).unwrap())
            })
            .collect()
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
        let total: usize = FILES.iter().map(|(name, source)| sent(name, source).len()).sum();
        assert!(total < MOST_BYTES, "{total} bytes, at most {MOST_BYTES}");
    }

    #[test]
    fn modules_stay_short_typed_and_free_of_html_sinks() {
        for (name, source) in &sources() {
            assert!(source.starts_with("// @ts-check\n"), "{name} is not type-checked");
            let lines = source.lines().count();
            assert!(lines <= MOST_LINES || name == "schema.js", "{name} has {lines} lines");
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
    fn no_module_shares_a_name_that_is_made_short() {
        for (name, source) in &sources() {
            let shared = source
                .lines()
                .filter(|line| line.starts_with("import ") || line.starts_with("export "));
            for line in shared {
                let declared = line.split(['(', '=', '"']).next().unwrap_or_default();
                for word in declared.split(|c: char| !c.is_ascii_alphanumeric()) {
                    assert!(!compact::is_shortened(word), "{name}: {line}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_asked_of_another_host() {
        for (name, source) in FILES {
            let text = sent(name, source);
            for (at, _) in text.match_indices("://") {
                let around = &text[at.saturating_sub(8)..text.len().min(at + 16)];
                assert!(around.contains("://www.w3.org"), "{name} mentions {around}");
            }
        }
    }
}
