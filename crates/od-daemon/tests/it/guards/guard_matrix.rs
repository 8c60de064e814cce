//! Host × origin × fetch-site × method × content type × every route, against a real socket.
//!
//! The expectation is one small table, first match wins; everything else is generated.

use od_wire::route::{Access, ROUTES};

use crate::raw_client::{Answer, RawClient};
use crate::test_daemon::TestDaemon;

/// One combination.
#[derive(Clone, Copy, Debug)]
struct Case<'a> {
    path: &'a str,
    host: Host,
    origin: Origin,
    site: Site,
    method: &'static str,
    content_type: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Host {
    Own,
    Localhost,
    OtherPort,
    Rebound,
    Uppercase,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Origin {
    Absent,
    Console,
    OtherPort,
    Null,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Site {
    Absent,
    SameOrigin,
    Same,
    Cross,
    None,
    CrossSiteNavigation,
    SameSiteFrame,
}

const HOSTS: [Host; 5] =
    [Host::Own, Host::Localhost, Host::OtherPort, Host::Rebound, Host::Uppercase];
const ORIGINS: [Origin; 4] = [Origin::Absent, Origin::Console, Origin::OtherPort, Origin::Null];
const SITES: [Site; 7] = [
    Site::Absent,
    Site::SameOrigin,
    Site::Same,
    Site::Cross,
    Site::None,
    Site::CrossSiteNavigation,
    Site::SameSiteFrame,
];
const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS", "PUT", "PROPFIND"];
const TYPES: [&str; 4] =
    ["application/json", "application/json; charset=utf-8", "text/plain", "application/jsonx"];

/// What the guard says: a status, and the header it blames.
type Expected = (u16, Option<&'static str>);

/// Whether a line of the table is about a combination.
type Applies = fn(&Case<'_>) -> bool;

/// The one table, in the order of docs/technical/threat-model.md.
#[rustfmt::skip]
const TABLE: &[(Applies, Expected)] = &[
    (|c| c.host == Host::Localhost && c.method == "GET" && c.path == "/", (307, None)),
    (|c| c.host != Host::Own, (403, Some("host"))),
    (|c| !matches!(c.origin, Origin::Absent | Origin::Console), (403, Some("origin"))),
    (
        |c| c.site == Site::CrossSiteNavigation && c.method == "GET" && is_console(c.path),
        (200, None),
    ),
    (|c| !matches!(c.site, Site::Absent | Site::SameOrigin), (403, Some("sec-fetch-site"))),
    (
        |c| {
            changes(c.method)
                && !c.content_type.starts_with("application/json;")
                && c.content_type != "application/json"
        },
        (415, Some("content-type")),
    ),
];

fn is_console(path: &str) -> bool {
    path == "/"
}

fn changes(method: &str) -> bool {
    matches!(method, "POST" | "PATCH" | "DELETE")
}

/// What lookup and authorization say to a request without a bearer that passed the guard.
fn after_the_guard(path: &str, method: &str) -> Vec<u16> {
    let method = if method == "HEAD" { "GET" } else { method };
    if is_console(path) {
        return if method == "GET" { vec![200] } else { vec![404] };
    }
    let here: Vec<_> = ROUTES.iter().filter(|route| concrete(route.path) == path).collect();
    match here.iter().find(|route| route.method.as_str() == method) {
        None if here.is_empty() => vec![404],
        None => vec![405],
        Some(route) => match route.access {
            Access::Open if route.method.changes_state() => vec![400],
            Access::Open => vec![200],
            Access::Person | Access::Terminal | Access::Tool(_) | Access::AnyTool => vec![401],
        },
    }
}

/// A path of the route, its parameters filled in.
fn concrete(pattern: &str) -> String {
    pattern
        .split('/')
        .map(|s| if s.starts_with('{') { "x-1" } else { s })
        .collect::<Vec<_>>()
        .join("/")
}

fn request(case: &Case<'_>, port: u16) -> String {
    let host = match case.host {
        Host::Own => format!("127.0.0.1:{port}"),
        Host::Localhost => format!("localhost:{port}"),
        Host::OtherPort => format!("127.0.0.1:{}", port ^ 1),
        Host::Rebound => format!("evil.test:{port}"),
        Host::Uppercase => format!("LOCALHOST:{port}"),
    };
    let origin = match case.origin {
        Origin::Absent => String::new(),
        Origin::Console => format!("Origin: http://127.0.0.1:{port}\r\n"),
        Origin::OtherPort => format!("Origin: http://127.0.0.1:{}\r\n", port ^ 1),
        Origin::Null => "Origin: null\r\n".to_owned(),
    };
    let site = match case.site {
        Site::Absent => "",
        Site::SameOrigin => {
            "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n"
        }
        Site::Same => {
            "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n"
        }
        Site::Cross => {
            "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: empty\r\n"
        }
        Site::None => "Sec-Fetch-Site: none\r\n",
        Site::CrossSiteNavigation => {
            "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
        }
        Site::SameSiteFrame => {
            "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n"
        }
    };
    let (path, method, content_type) = (case.path, case.method, case.content_type);
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{origin}{site}Content-Type: {content_type}\r\nContent-Length: 0\r\n\r\n"
    )
}

fn check(case: &Case<'_>, answer: &Answer) -> Result<(), String> {
    let guard = TABLE.iter().find(|(applies, _)| applies(case)).map(|(_, expected)| *expected);
    let fits = match guard {
        Some((status, None)) => answer.status == status,
        Some((status, Some(header))) => {
            let blamed =
                case.method == "HEAD" || answer.json()["error"]["details"]["header"] == header;
            answer.status == status && blamed
        }
        None => after_the_guard(case.path, case.method).contains(&answer.status),
    };
    let cors = answer.headers.iter().find(|(name, _)| name.starts_with("access-control-"));
    let fixed = [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("x-dns-prefetch-control", "off"),
    ];
    let missing = fixed.iter().find(|(name, value)| answer.header(name) != Some(value));
    match (fits, cors, missing, answer.header("set-cookie")) {
        (true, None, None, None) => Ok(()),
        _ => Err(format!("{case:?}: expected {guard:?}, got {answer:?}")),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guard_and_its_headers_stand_before_every_route() {
    let daemon = TestDaemon::start().await;
    let address = daemon.api();
    let mut paths: Vec<String> = ROUTES.iter().map(|route| concrete(route.path)).collect();
    paths.extend(["/", "/nowhere", "/api", "/api/tools", "/preview/x"].map(str::to_owned));
    paths.sort();
    paths.dedup();
    let (count, differences) = tokio::task::spawn_blocking(move || {
        let mut client = RawClient::connect(address);
        let mut count = 0_u32;
        let mut differences = Vec::new();
        for path in &paths {
            for case in combinations(path) {
                let bytes = request(&case, address.port());
                let answer = client.exchange(bytes.as_bytes()).expect("an answer");
                count += 1;
                if answer.header("connection") == Some("close") {
                    client = RawClient::connect(address);
                }
                differences.extend(check(&case, &answer).err());
            }
        }
        (count, differences)
    })
    .await
    .unwrap();
    println!("{count} combinations, {} differences", differences.len());
    assert!(differences.is_empty(), "{} of {count}, first: {}", differences.len(), differences[0]);
    daemon.stop().await;
}

fn combinations(path: &str) -> impl Iterator<Item = Case<'_>> {
    HOSTS.into_iter().flat_map(move |host| {
        ORIGINS.into_iter().flat_map(move |origin| {
            SITES.into_iter().flat_map(move |site| {
                METHODS.into_iter().flat_map(move |method| {
                    TYPES.into_iter().map(move |content_type| Case {
                        path,
                        host,
                        origin,
                        site,
                        method,
                        content_type,
                    })
                })
            })
        })
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_that_no_route_takes_is_told_those_that_the_path_takes() {
    let daemon = TestDaemon::start().await;
    let address = daemon.api();
    let wrong = tokio::task::spawn_blocking(move || {
        let mut wrong = Vec::new();
        for method in ["TRACE", "PROPFIND", "PUT", "OPTIONS", "LOCK", "get"] {
            for path in ROUTES.iter().map(|route| concrete(route.path)).chain(["/nowhere".into()]) {
                let here = ROUTES.iter().filter(|route| concrete(route.path) == path);
                let taken: Vec<&str> = here.map(|route| route.method.as_str()).collect();
                let bytes = format!(
                    "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n",
                    address.port()
                );
                let answer =
                    RawClient::connect(address).exchange(bytes.as_bytes()).expect("an answer");
                let allow = answer.header("allow").map(str::to_owned);
                let (status, expected) =
                    if taken.is_empty() { (404, None) } else { (405, Some(taken.join(", "))) };
                if (answer.status, &allow) != (status, &expected) {
                    wrong.push(format!("{method} {path}: {} {allow:?}", answer.status));
                }
            }
        }
        wrong
    })
    .await
    .unwrap();
    assert_eq!(wrong, Vec::<String>::new());
    daemon.stop().await;
}
