//! The guard: what every request has to pass before any route is looked at.
//!
//! Host and port first, because DNS rebinding makes `Origin` agree with `Host` and sends no fetch
//! metadata at all; then origin, fetch metadata and content type. The order is that of
//! docs/technical/threat-model.md, which has the measurements behind it.

use std::net::SocketAddr;

use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Version};
use od_wire::route::Method as RouteMethod;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Which listener a request arrived at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Door {
    /// API and console.
    Api,
    /// Ticketed previews, nothing else.
    Preview,
}

/// The kind of thing that a path names, as far as the guard cares.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Target {
    /// A file of the console, which a person may navigate to from anywhere.
    ConsoleFile,
    /// Everything else, known or not.
    Other,
}

/// The guard's decision about a request it did not refuse.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    /// Look the route up.
    Pass,
    /// `GET /` under the name `localhost`: send the browser to the one origin.
    RedirectToConsole,
}

/// Why the guard refused a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum Refusal {
    /// Anything but HTTP/1.1.
    #[error("only HTTP/1.1 is spoken here")]
    Version,
    /// No Host header, or more than one.
    #[error("a request carries exactly one Host header")]
    HostCount,
    /// An absolute-form target that names another authority than Host.
    #[error("the authority of the request target differs from Host")]
    Authority,
    /// A body framed by Transfer-Encoding.
    #[error("request bodies are framed by Content-Length alone")]
    TransferEncoding,
    /// Not this listener's own address and port.
    #[error("this host name and port are not served here")]
    Host,
    /// Another origin than the console's.
    #[error("requests from this origin are refused")]
    Origin,
    /// Another site, by the browser's own account.
    #[error("requests from another site are refused")]
    FetchSite,
    /// Not a navigation, on the preview port.
    #[error("previews are opened by navigation, not fetched")]
    FetchMode,
    /// Not into a frame or a tab, on the preview port.
    #[error("previews are opened in a frame or a tab")]
    FetchDest,
    /// Anything but GET and HEAD on the preview port.
    #[error("the preview port takes GET and HEAD only")]
    PreviewMethod,
    /// A state-changing request that is not JSON.
    #[error("a request that changes something carries Content-Type: application/json")]
    ContentType,
}

impl Refusal {
    /// Returns the header that is at fault, when one is.
    pub(crate) const fn header(self) -> Option<&'static str> {
        match self {
            Self::HostCount | Self::Authority | Self::Host => Some("host"),
            Self::Origin => Some("origin"),
            Self::FetchSite => Some("sec-fetch-site"),
            Self::FetchMode => Some("sec-fetch-mode"),
            Self::FetchDest => Some("sec-fetch-dest"),
            Self::TransferEncoding => Some("transfer-encoding"),
            Self::ContentType => Some("content-type"),
            Self::Version | Self::PreviewMethod => None,
        }
    }
}

/// The guard of one listener.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    door: Door,
    authority: String,
    localhost: String,
    console_origin: String,
}

impl Guard {
    /// Makes the guard of the listener at `own`, in front of the console at `console`.
    pub(crate) fn new(door: Door, own: SocketAddr, console: SocketAddr) -> Self {
        Self {
            door,
            authority: own.to_string(),
            localhost: format!("localhost:{}", own.port()),
            console_origin: format!("http://{console}"),
        }
    }

    /// Decides about one request head.
    pub(crate) fn check(&self, head: &Parts, target: Target) -> Result<Verdict, Refusal> {
        // HTTP/1.0 may leave Host out, and everything below rests on it.
        if head.version != Version::HTTP_11 {
            return Err(Refusal::Version);
        }
        // Two framings of one body are how a request is smuggled past whoever reads the other one. Browsers and
        // our own clients know the length of what they send.
        if head.headers.contains_key(header::TRANSFER_ENCODING) {
            return Err(Refusal::TransferEncoding);
        }
        match self.check_host(head)? {
            Verdict::RedirectToConsole => return Ok(Verdict::RedirectToConsole),
            Verdict::Pass => {}
        }
        match self.door {
            Door::Api => self.check_api(head, target)?,
            Door::Preview => check_preview(head)?,
        }
        Ok(Verdict::Pass)
    }

    fn check_host(&self, head: &Parts) -> Result<Verdict, Refusal> {
        let Single::One(host) = single(&head.headers, &header::HOST) else {
            return Err(Refusal::HostCount);
        };
        if let Some(authority) = head.uri.authority()
            && authority.as_str().as_bytes() != host.as_bytes()
        {
            return Err(Refusal::Authority);
        }
        // The whole text, nothing parsed: any other spelling of this address is a name that somebody else may own,
        // and that a rebinding page has in its address bar.
        if host.as_bytes() == self.authority.as_bytes() {
            return Ok(Verdict::Pass);
        }
        // People type `localhost`. Served under that name, the console would be a second origin that knows nothing
        // of the first one's session.
        let is_root = head.method == Method::GET && head.uri.path() == "/";
        match self.door {
            Door::Api if is_root && host.as_bytes() == self.localhost.as_bytes() => {
                Ok(Verdict::RedirectToConsole)
            }
            Door::Api | Door::Preview => Err(Refusal::Host),
        }
    }

    fn check_api(&self, head: &Parts, target: Target) -> Result<(), Refusal> {
        // None is let through: programs send none, and neither do browsers with a GET to their own origin. The
        // bearer, which no other page has, decides then.
        match single(&head.headers, &header::ORIGIN) {
            Single::None => {}
            Single::One(origin) if origin.as_bytes() == self.console_origin.as_bytes() => {}
            Single::One(_) | Single::Many => return Err(Refusal::Origin),
        }
        match single(&head.headers, &SEC_FETCH_SITE) {
            Single::None => {}
            Single::One(site) if site == "same-origin" => {}
            Single::One(_) if target == Target::ConsoleFile && is_top_level_navigation(head) => {}
            Single::One(_) | Single::Many => return Err(Refusal::FetchSite),
        }
        // A form posts texts, parameters and files to any address without asking. `application/json` it cannot
        // send, and a script of another origin would ask first, which is never answered. A method that no route
        // takes changes nothing: the lookup says which ones the path takes.
        let method = head.method.as_str();
        let changes = RouteMethod::ALL.iter().any(|it| it.changes_state() && it.as_str() == method);
        if changes && !is_json(&head.headers) {
            return Err(Refusal::ContentType);
        }
        Ok(())
    }
}

fn check_preview(head: &Parts) -> Result<(), Refusal> {
    if head.method != Method::GET && head.method != Method::HEAD {
        return Err(Refusal::PreviewMethod);
    }
    // A navigation by GET has no Origin: whatever sends one here is a script.
    if head.headers.contains_key(header::ORIGIN) {
        return Err(Refusal::Origin);
    }
    match single(&head.headers, &SEC_FETCH_SITE) {
        Single::None => {}
        // A frame in the console's page sends `same-site`: another port is the same site.
        Single::One(site) if site == "same-site" || site == "none" => {}
        Single::One(_) | Single::Many => return Err(Refusal::FetchSite),
    }
    match single(&head.headers, &SEC_FETCH_MODE) {
        Single::None => {}
        Single::One(mode) if mode == "navigate" => {}
        Single::One(_) | Single::Many => return Err(Refusal::FetchMode),
    }
    match single(&head.headers, &SEC_FETCH_DEST) {
        Single::None => {}
        Single::One(dest) if dest == "iframe" || dest == "document" => {}
        Single::One(_) | Single::Many => return Err(Refusal::FetchDest),
    }
    Ok(())
}

fn is_top_level_navigation(head: &Parts) -> bool {
    let is = |name: &HeaderName, wanted: &str| matches!(single(&head.headers, name), Single::One(value) if value == wanted);
    head.method == Method::GET && is(&SEC_FETCH_MODE, "navigate") && is(&SEC_FETCH_DEST, "document")
}

fn is_json(headers: &HeaderMap) -> bool {
    let Single::One(value) = single(headers, &header::CONTENT_TYPE) else { return false };
    let Ok(text) = value.to_str() else { return false };
    let essence = text.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

/// The occurrences of a header.
enum Single<'a> {
    None,
    One(&'a HeaderValue),
    Many,
}

/// Repeated security headers are refused: two parsers could believe two different ones.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Single<'a> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (None, _) => Single::None,
        (Some(value), None) => Single::One(value),
        (Some(_), Some(_)) => Single::Many,
    }
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn guard(door: Door) -> Guard {
        let console = SocketAddr::from(([127, 0, 0, 1], 7456));
        let own = match door {
            Door::Api => console,
            Door::Preview => SocketAddr::from(([127, 0, 0, 1], 7457)),
        };
        Guard::new(door, own, console)
    }

    fn head(request: &str) -> Parts {
        let mut lines = request.lines().map(str::trim);
        let first = lines.next().unwrap();
        let (method, target) = first.split_once(' ').unwrap();
        let mut builder = Request::builder().method(method).uri(target);
        for line in lines.filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').unwrap();
            builder = builder.header(name, value.trim());
        }
        builder.body(()).unwrap().into_parts().0
    }

    #[track_caller]
    fn check(door: Door, target: Target, request: &str, expected: Result<Verdict, Refusal>) {
        assert_eq!(guard(door).check(&head(request), target), expected, "{request}");
    }

    #[test]
    fn a_rebound_name_is_refused_even_when_origin_agrees() {
        check(
            Door::Api,
            Target::ConsoleFile,
            "GET /\nhost: evil.test:7456\norigin: http://evil.test:7456",
            Err(Refusal::Host),
        );
    }

    #[test]
    fn localhost_is_redirected_at_the_root_and_refused_elsewhere() {
        let pass = Ok(Verdict::RedirectToConsole);
        check(Door::Api, Target::ConsoleFile, "GET /\nhost: localhost:7456", pass);
        check(
            Door::Api,
            Target::Other,
            "GET /api/health\nhost: localhost:7456",
            Err(Refusal::Host),
        );
        check(Door::Preview, Target::Other, "GET /\nhost: localhost:7457", Err(Refusal::Host));
    }

    #[test]
    fn the_preview_port_answers_frames_of_the_console() {
        check(
            Door::Preview,
            Target::Other,
            "GET /preview/x\nhost: 127.0.0.1:7457\nsec-fetch-site: same-site\nsec-fetch-mode: navigate\nsec-fetch-dest: iframe",
            Ok(Verdict::Pass),
        );
        check(
            Door::Preview,
            Target::Other,
            "GET /preview/x\nhost: 127.0.0.1:7457\nsec-fetch-site: cross-site\nsec-fetch-mode: navigate\nsec-fetch-dest: iframe",
            Err(Refusal::FetchSite),
        );
    }

    #[test]
    fn a_body_without_a_length_is_refused_at_both_doors() {
        let chunked = |host| format!("GET /x\nhost: {host}\ntransfer-encoding: chunked");
        for (door, host) in [(Door::Api, "127.0.0.1:7456"), (Door::Preview, "127.0.0.1:7457")] {
            check(door, Target::Other, &chunked(host), Err(Refusal::TransferEncoding));
        }
    }

    #[test]
    fn the_preview_port_answers_no_script_and_no_image() {
        let host = "GET /preview/x\nhost: 127.0.0.1:7457\nsec-fetch-site: same-site";
        for mode in ["cors", "no-cors", "same-origin", "websocket"] {
            let request = format!("{host}\nsec-fetch-mode: {mode}\nsec-fetch-dest: iframe");
            check(Door::Preview, Target::Other, &request, Err(Refusal::FetchMode));
        }
        for dest in ["empty", "image", "script", "object"] {
            let request = format!("{host}\nsec-fetch-mode: navigate\nsec-fetch-dest: {dest}");
            check(Door::Preview, Target::Other, &request, Err(Refusal::FetchDest));
        }
    }

    #[test]
    fn a_list_of_types_is_not_json() {
        check(
            Door::Api,
            Target::Other,
            "POST /api/projects\nhost: 127.0.0.1:7456\ncontent-type: text/plain, application/json",
            Err(Refusal::ContentType),
        );
    }

    #[test]
    fn repeated_headers_are_refused() {
        check(
            Door::Api,
            Target::Other,
            "GET /x\nhost: 127.0.0.1:7456\nhost: 127.0.0.1:7456",
            Err(Refusal::HostCount),
        );
        check(
            Door::Api,
            Target::Other,
            "GET /x\nhost: 127.0.0.1:7456\nsec-fetch-site: same-origin\nsec-fetch-site: cross-site",
            Err(Refusal::FetchSite),
        );
    }
}
