//! A daemon whose artifacts a team's database keeps: what is in it, and what is done while it is away.

use std::process::{Command, Output};

use od_daemon::{ComposeOptions, PasswordSources, SharedStore};
use od_pgconn::cluster::{Cluster, PASSWORD};
use od_ports::fakes::{CANARY, assert_no_canary};
use serde_json::{Value, json};

use crate::canary::echo;
use crate::daemon::{Daemon, Place, file_source, releases};
use crate::source_server::SourceServer;

/// A database with the tables, and a machine whose project is in it.
struct Team {
    cluster: Cluster,
    place: Place,
}

impl Team {
    fn start() -> Self {
        let team =
            Self { cluster: Cluster::start(env!("CARGO_TARGET_TMPDIR")), place: Place::new() };
        team.good(&["store", "migrate"]);
        let passwords = PasswordSources { password: Some(PASSWORD.to_owned()), file: None };
        let store = SharedStore { address: team.address().parse().unwrap(), passwords };
        team.place.init_in(ComposeOptions { store: Some(store), ..ComposeOptions::default() });
        team
    }

    fn address(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/shop", self.cluster.port())
    }

    fn prepare(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_od"));
        command.env("OD_STORE", self.address()).env("PGPASSWORD", PASSWORD);
        command.env("OD_CEILING", self.place.path());
        command
    }

    fn od(&self, words: &[&str]) -> Output {
        let mut command = self.prepare();
        command.args(words).env("OD_HOME", self.place.home()).env("OD_DATA_DIR", self.place.data());
        command.current_dir(self.place.root()).output().unwrap()
    }

    #[track_caller]
    fn good(&self, words: &[&str]) -> String {
        let output = self.od(words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn daemon(&self, github: &str) -> Daemon {
        Daemon::start_under(&self.place, github, self.prepare())
    }

    /// Returns everything in the database: as it is dumped, and its bytes as text.
    fn everything(&self) -> String {
        let mut dump = self.cluster.program("pg_dump");
        dump.env("PGPASSWORD", PASSWORD).args(["-U", "postgres", "-h", "127.0.0.1", "-p"]);
        let output = dump.arg(self.cluster.port().to_string()).arg("shop").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let mut all = String::from_utf8(output.stdout).unwrap();
        for (table, column) in [
            ("blob", "bytes"),
            ("artifact", "pointer"),
            ("revision", "pointer"),
            ("record", "line"),
            ("aside", "bytes"),
        ] {
            let sql = format!("SELECT encode({column}, 'escape') FROM od.{table}");
            all.push_str(&self.cluster.execute(&sql));
        }
        all
    }
}

#[test]
fn the_database_has_no_credential_no_path_and_nothing_of_a_file_that_was_not_asked_for() {
    let server = SourceServer::start(echo);
    let team = Team::start();
    team.place.write("notes.json", &format!(r#"{{ "n": 7, "rest": "{CANARY}" }}"#));
    team.place.write("unread.json", &format!(r#"{{ "never": "{CANARY}" }}"#));
    let daemon = team.daemon(&server.url());
    daemon.ok("POST", "/api/connectors/github/connect", Some(&json!({ "secret": CANARY })));
    let mut ended = 0;
    for repo in ["data", "redirect", "shape", "torn", "401", "500"] {
        let artifact = daemon.create(&releases(repo));
        assert_eq!(daemon.refresh(&artifact).status == 200, repo == "data");
        ended += daemon.endings(&artifact).len();
    }
    let mut source = file_source("notes.json");
    source["outputMapping"] = json!({ "dataPaths": [{ "from": "n", "to": "n" }] });
    let artifact = daemon.create(&source);
    assert_eq!(daemon.refresh(&artifact).status, 200);
    daemon.stop();
    assert_eq!(ended, 6, "every refresh ended once");
    let all = team.everything();
    assert!(all.contains(&artifact) && all.contains("\"title\":\"Watched\""), "{all}");
    assert!(all.contains("github.list_releases") && all.contains("notes.json"), "{all}");
    assert_no_canary("the database", &all);
    let path = team.place.path().display().to_string();
    for absent in [path.as_str(), PASSWORD, "unread.json", "odt.", "odc."] {
        assert!(!all.contains(absent), "the database tells {absent}");
    }
}

#[test]
fn while_the_database_is_away_a_daemon_serves_and_writes_nothing_and_then_goes_on() {
    let team = Team::start();
    team.place.write("n.json", r#"{ "n": 7 }"#);
    let daemon = team.daemon("http://127.0.0.1:9");
    let artifact = daemon.create(&file_source("n.json"));
    assert_eq!(daemon.refresh(&artifact).status, 200);
    let before = daemon.served(&artifact);
    let list = daemon.ok("GET", "/api/live-artifacts?projectId=web", None);
    let health = daemon.ok("GET", "/api/health", None);
    assert_eq!((&health["store"], &health["storeKind"]), (&"ok".into(), &"postgres".into()));
    assert!(team.good(&["doctor"]).contains("shared at 127.0.0.1"));
    team.cluster.crash();
    assert_eq!(daemon.served(&artifact), before);
    assert_eq!(daemon.ok("GET", "/api/live-artifacts?projectId=web", None), list);
    let title = json!({ "input": { "title": "Renamed" } });
    let target = format!("/api/live-artifacts/{artifact}");
    for (method, below, body) in
        [("PATCH", "", Some(&title)), ("POST", "/refresh", None), ("DELETE", "", None)]
    {
        let refused = daemon.call(method, &format!("{target}{below}"), body);
        let error = refused.json()["error"].clone();
        assert_eq!(error["code"], "STORE_UNAVAILABLE", "{method}{below}: {error}");
        assert_eq!(error["retry"]["kind"], "retryable_after_ms", "{method}{below}: {error}");
    }
    assert_eq!(daemon.ok("GET", "/api/health", None)["store"], "unreachable");
    let status = team.od(&["store", "status", "--json"]);
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["isReachable"], false, "{status}");
    assert!(!team.od(&["doctor"]).status.success());
    team.cluster.resume();
    // Each try that fails makes the next one wait; the first after the pause finds the server.
    let again = loop {
        let answer = daemon.call("PATCH", &target, Some(&title));
        if answer.status != 503 {
            break answer;
        }
    };
    assert_eq!(again.status, 200, "{}", again.text());
    assert_eq!(daemon.ok("GET", &target, None)["artifact"]["title"], "Renamed");
    assert_eq!(daemon.endings(&artifact).len(), 1, "what was refused left no record");
    assert_eq!(daemon.ok("GET", "/api/health", None)["store"], "ok");
    daemon.stop();
}
