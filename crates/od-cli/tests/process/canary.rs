//! A secret that the other side repeats in every way it knows is found nowhere afterwards.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use od_ports::fakes::{CANARY, assert_no_canary, assert_no_canary_below};
use serde_json::json;

use crate::daemon::{Daemon, Place, releases};
use crate::http::Answer;
use crate::source_server::{Asked, SourceServer};

/// Repeats the token in bodies, headers, errors, redirects and encodings.
pub(crate) fn echo(asked: &Asked, mut stream: TcpStream) {
    let token = asked.bearer.as_deref().unwrap_or("?");
    let text = format!(
        "plain {token} base64 b2QtY2FuYXJ5L1F6NysxOXhLZmU= \
         basic eDpvZC1jYW5hcnkvUXo3KzE5eEtmZQ== two YWJvZC1jYW5hcnkvUXo3KzE5eEtmZQ \
         url od-canary%2FQz7%2B19xKfe"
    );
    let repo = asked.target.split('/').nth(3).unwrap_or_default();
    let (status, body) = match (asked.target.as_str(), repo) {
        ("/user", _) => (200, json!({ "login": "octocat" }).to_string()),
        (_, "data") => {
            let release = json!([{
                "tag_name": text, "name": text, "html_url": format!("https://x.example/?t={token}"),
                "body": text, "author": { "login": token },
            }]);
            (200, release.to_string())
        }
        (_, "redirect") => (302, text),
        (_, "shape") => (200, json!({ token: text }).to_string()),
        (_, "torn") => (200, format!("[{{\"tag_name\": \"{text}")),
        (_, status) => (status.parse().unwrap_or(500), text),
    };
    let answer = format!(
        "HTTP/1.1 {status} {token}\r\nconnection: close\r\ncontent-length: {}\r\n\
         etag: \"{token}\"\r\nx-github-request-id: {token}\r\nx-ratelimit-remaining: {token}\r\n\
         retry-after: {token}\r\nlocation: http://a.invalid/{token}\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(answer.as_bytes());
}

/// Reads an artifact through every route that shows some of it.
fn read_every_way(daemon: &Daemon, artifact: &str) -> Vec<(String, Answer)> {
    let below = [
        "",
        "/refreshes",
        "/snapshots",
        "/preview",
        "/preview?variant=inspect",
        "/export",
        "/export?format=md",
        "/export?format=json",
        "/export?format=csv&table=releases",
    ];
    let targets = below.map(|below| format!("/api/live-artifacts/{artifact}{below}"));
    targets.into_iter().map(|target| (target.clone(), daemon.call("GET", &target, None))).collect()
}

/// Makes every kind of file that a person takes away, below the place, by the command line.
fn take_away(place: &Place, artifact: &str) {
    let taken = place.path().join("taken");
    std::fs::create_dir(&taken).unwrap();
    for words in [
        &["projects", "export", "web", "--bundle", "web.odb"][..],
        &[
            "artifacts",
            "export",
            artifact,
            "--bundle",
            "one.odb",
            "--html",
            "one.html",
            "--md",
            "one.md",
        ],
        &["artifacts", "export", artifact, "--csv", "releases=one.csv"],
        &["build", "--project", "web", "--out", "site"],
    ] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_od"))
            .args(words)
            .env("OD_HOME", place.home())
            .env("OD_DATA_DIR", place.data())
            .current_dir(&taken)
            .output()
            .unwrap();
        // A site whose refreshes failed ends with 1, and is there all the same.
        assert!(matches!(output.status.code(), Some(0 | 1)), "{words:?}: {output:?}");
    }
    for file in
        ["web.odb", "one.odb", "one.html", "one.md", "one.csv", "site/index.html", "site/site.json"]
    {
        assert!(std::fs::metadata(taken.join(file)).unwrap().len() > 0, "{file}");
    }
}

#[test]
fn a_planted_secret_is_in_no_file_log_event_or_answer() {
    let server = SourceServer::start(echo);
    let place = Place::new();
    place.init();
    let daemon = Daemon::start(&place, &server.url());
    let events = daemon.send("GET", "/api/events", None);
    let listening = std::thread::spawn(move || {
        let (mut events, mut all) = (events, Vec::new());
        let _ = events.read_to_end(&mut all);
        String::from_utf8_lossy(&all).into_owned()
    });
    let mut answers: Vec<(String, Answer)> = Vec::new();
    let connect = json!({ "secret": CANARY });
    let connected = daemon.call("POST", "/api/connectors/github/connect", Some(&connect));
    assert_eq!(connected.status, 200, "{}", connected.text());
    answers.push(("connect".to_owned(), connected));
    // What is refused must not repeat it either.
    let wrong = json!({ "secret": CANARY, "also": CANARY });
    answers
        .push(("bad".to_owned(), daemon.call("POST", "/api/connectors/git/connect", Some(&wrong))));
    let (mut ended, mut data) = (0, None);
    for repo in ["data", "redirect", "shape", "torn", "400", "401", "403", "404", "429", "500"] {
        let artifact = daemon.create(&releases(repo));
        data.get_or_insert_with(|| artifact.clone());
        let refreshed = daemon.refresh(&artifact);
        assert_eq!(refreshed.status == 200, repo == "data", "{repo}: {}", refreshed.text());
        ended += daemon.endings(&artifact).len();
        answers.push((format!("refresh {repo}"), refreshed));
        let call = json!({
            "connectorId": "github", "toolName": "github.list_releases",
            "input": { "owner": "octo", "repo": repo },
        });
        let called = daemon.call_as_agent("/api/tools/connectors/execute", &call);
        answers.push((format!("execute {repo}"), called));
        answers.extend(read_every_way(&daemon, &artifact));
    }
    for target in
        ["/api/connectors", "/api/connectors/github", "/api/live-artifacts", "/api/health"]
    {
        answers.push((target.to_owned(), daemon.call("GET", target, None)));
    }
    assert_eq!(ended, 10, "every refresh ended once");
    let said = daemon.stop();
    take_away(&place, &data.unwrap());
    let told = listening.join().unwrap();
    assert!(told.contains("live_artifact_refresh") && told.contains("\"failed\""), "{told}");
    for (what, answer) in &answers {
        assert_no_canary(what, &answer.text());
    }
    assert_no_canary("the events", &told);
    assert_no_canary("standard error", &said);
    assert!(said.lines().count() > answers.len(), "the log was on: {said}");
    let files = assert_no_canary_below(place.path()).unwrap();
    println!(
        "{} answers, {} event bytes, {} log bytes, {files} files",
        answers.len(),
        told.len(),
        said.len()
    );
    assert!(files > 50);
}
