//! Which file a path names, and how it is answered.

use std::collections::HashMap;
use std::sync::LazyLock;

use hyper::body::Bytes;
use hyper::header::HeaderValue;
use od_core::ids::Digest;

use super::files::FILES;
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
    FILES
        .iter()
        .map(|(name, bytes)| {
            let body =
                if *name == "index.html" { start_page(bytes) } else { Bytes::from_static(bytes) };
            let etag = etag_of(&body);
            let path = if *name == "index.html" { "/".to_owned() } else { format!("/{name}") };
            (path, Embedded { body, etag, content_type: content_type(name) })
        })
        .collect()
});

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

fn start_page(bytes: &[u8]) -> Bytes {
    let preloads: String = FILES
        .iter()
        .filter(|(name, _)| has_extension(name, "js"))
        .map(|(name, _)| format!("<link rel=\"modulepreload\" href=\"{name}\">\n"))
        .collect();
    Bytes::from(String::from_utf8_lossy(bytes).replace(MODULES_MARK, preloads.trim_end()))
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
                    if ["html", "js", "css", "svg", "png", "woff2"]
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
}
