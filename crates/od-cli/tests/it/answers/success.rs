//! What a person reads when a verb did what it was asked: every verb once, in the order of a first day.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Output;

use od_cli::args::VERBS;
use od_core::ids::Timestamp;

use crate::bench::{Bench, HeldRun};

/// Verbs whose words differ from machine to machine; where they are tested instead.
const ELSEWHERE: &[(&str, &str)] = &[
    ("store status", "share/team.rs: it needs a server"),
    ("store migrate", "share/team.rs: it needs a server"),
    ("store copy", "share/team.rs: it needs a server"),
    ("service install", "service.rs: it names the program"),
    ("service status", "service.rs: it names the home"),
    ("service remove", "service.rs: it names the home"),
    ("demo", "demo.rs: it names the repository it stands in"),
    ("serve", "serving.rs: it stays"),
    ("doctor", "doctor.rs: it names what the machine has"),
    ("report", "doctor.rs: it names what the machine has"),
    ("mcp live-artifacts", "tests/doors: it speaks a protocol"),
    ("completions", "completions.rs: the shells read them"),
    ("help", "transcripts.rs: a snapshot of its own"),
    ("chat", "chat.rs: it needs an agent"),
    ("verify", "bundles.rs: it names a key"),
    ("artifacts import", "bundles.rs: it names a key"),
    ("projects export", "bundles.rs: it names a key"),
    ("keys export-public", "bundles.rs: it names a key"),
    ("keys signers", "bundles.rs: it names a key"),
    ("keys trust", "bundles.rs: it names a key"),
    ("keys revoke", "bundles.rs: it names a key"),
    ("sources add postgres", "secrecy.rs: the connection string comes on stdin"),
    ("webhooks add", "tests/process: the secret comes on stdin"),
    ("webhooks test", "tests/process: it needs a receiver"),
    ("webhooks remove", "tests/process: it needs one that was added"),
];

/// The one line that ends with code 1: the two revisions differ.
const DIFFERS: &str = "artifacts diff live 1..3";

/// The story of a first day; `agent:` lines are the agent's, inside its run.
const STORY: &[&str] = &[
    "version",
    "init --name Web",
    "init",
    "projects list",
    "skills install",
    "skills list",
    "skills check",
    "mcp config --agent claude",
    "mcp config --agent codex",
    "connectors list",
    "sources list",
    "sources add http weather SERVICE",
    "sources list",
    "sources test weather --path forecast",
    "sources remove weather",
    "webhooks list",
    "keys status",
    "run -- true",
    "agent: tools connectors list",
    "agent: tools connectors execute --connector project_files --tool read_json --input input.json",
    "agent: tools live-artifacts validate --input artifact.json",
    "agent: tools live-artifacts create --input artifact.json",
    "agent: tools live-artifacts list",
    "agent: tools live-artifacts list --format json",
    "agent: tools live-artifacts get --artifact-id ID",
    "agent: tools live-artifacts validate --artifact-id ID --input artifact.json --if-revision 1",
    "agent: tools live-artifacts update --artifact-id ID --input artifact.json",
    "agent: tools live-artifacts refresh --artifact-id ID",
    "artifacts list",
    "artifacts show live",
    "artifacts refresh live",
    "artifacts history live",
    "artifacts schedule live",
    "artifacts schedule live --every 1d --max-age 2d",
    "artifacts schedule live --off",
    "refresh --due",
    "trust --yes",
    "artifacts check live",
    "artifacts revisions live",
    "artifacts diff live current..current",
    DIFFERS,
    "artifacts export live --html page.html --md page.md --dry-run",
    "artifacts export live --html page.html --md page.md",
    "build --out site",
    "agent: tools live-artifacts update --artifact-id ID --input artifact.json",
    "artifacts rollback live --to refresh-000001 --dry-run",
    "artifacts rollback live --to refresh-000001",
    "artifacts rollback live --to refresh-000001",
    "artifacts verify",
    "artifacts repair live",
    "open --print",
    "artifacts open live --print",
    "sessions list",
    "sessions revoke --all",
    "connectors disconnect git",
    "connectors connect git",
    "agent: tools live-artifacts delete --artifact-id ID",
    "artifacts restore ID",
    "keys rotate",
    "keys status",
    "artifacts delete live",
    "artifacts list --trash",
    "artifacts restore ID",
    "skills show live-artifact",
    "projects rename PROJECT --name Site",
    "projects rebind PROJECT",
    "projects list",
    "projects remove PROJECT --dry-run",
    "projects remove PROJECT --yes",
    "stop",
    "config set log-level info",
    "config get log-level",
    "config list",
    "config unset log-level",
];

#[test]
fn every_verb_is_told_here_or_elsewhere() {
    let told: BTreeSet<&str> = STORY
        .iter()
        .map(|line| line.trim_start_matches("agent: "))
        .filter_map(|line| VERBS.iter().map(|verb| verb.words).find(|verb| line.starts_with(verb)))
        .chain(ELSEWHERE.iter().map(|(verb, _)| *verb))
        .collect();
    assert_eq!(told, VERBS.iter().map(|verb| verb.words).collect());
}

/// Plays the story; each line with what the program said and how it ended.
fn play(bench: &Bench, further: &[&str], mut told: impl FnMut(&str, &Output)) {
    bench.write("metrics.json", r#"{ "n": 1 }"#);
    bench.write("artifact.json", crate::bench::LIVE);
    bench.write("input.json", r#"{ "path": "metrics.json" }"#);
    let mut run: Option<HeldRun> = None;
    let (mut id, mut project) = (String::new(), String::new());
    let service = service();
    for line in STORY {
        id = artifact(bench).unwrap_or(id);
        project = first_id(bench, "projects").unwrap_or(project);
        let own = line.trim_start_matches("agent: ");
        let mut words: Vec<&str> = further.to_vec();
        words.extend(own.split(' ').map(|word| match word {
            "ID" => id.as_str(),
            "PROJECT" => project.as_str(),
            "SERVICE" => service.as_str(),
            _ => word,
        }));
        let output = if own == *line {
            bench.od(&words)
        } else {
            bench.as_agent(run.get_or_insert_with(|| bench.hold_run()), &words)
        };
        let code = i32::from(*line == DIFFERS);
        assert_eq!(output.status.code(), Some(code), "{line}: {output:?}");
        told(own, &output);
    }
}

#[test]
fn the_success_of_every_verb() {
    let bench = Bench::new();
    let mut transcript = String::new();
    play(&bench, &[], |line, output| {
        let said = [output.stdout.as_slice(), &output.stderr].concat();
        let said = settled(&bench, &String::from_utf8(said).unwrap());
        let said: String = said.chars().take(1_200).collect();
        transcript.push_str(&format!("$ od {line}\n{}\n\n", said.trim_end()));
    });
    insta::assert_snapshot!("success", transcript);
}

#[test]
fn with_json_every_success_is_one_document_on_stdout() {
    let bench = Bench::new();
    play(&bench, &["--json"], |line, output| {
        // What `od run` writes is its command's.
        if !line.starts_with("run ") {
            let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(said["ok"], line != DIFFERS, "{line}");
        }
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line}");
    });
}

/// The newest artifact's id, if there is one.
fn artifact(bench: &Bench) -> Option<String> {
    first_id(bench, "artifacts")
}

fn first_id(bench: &Bench, kind: &str) -> Option<String> {
    let listed = bench.json(&[kind, "list"]);
    listed[kind][0]["id"].as_str().map(str::to_owned)
}

/// Starts a service that answers everything with one document; returns its address.
fn service() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let asked = BufReader::new(&stream).lines().map_while(Result::ok);
            let _head = asked.take_while(|line| !line.is_empty()).count();
            let body = r#"{"sunny":true}"#;
            let length = body.len();
            let _gone = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                 content-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
        }
    });
    format!("http://{address}/v1")
}

/// Replaces what is another one every time: paths, ids, addresses, codes, times.
fn settled(bench: &Bench, text: &str) -> String {
    let mut text = text.replace(bench.root().canonicalize().unwrap().to_str().unwrap(), "…");
    text = text.replace(env!("CARGO_BIN_EXE_od"), "OD");
    text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    text = without_ports(&text);
    let ids = std::fs::read_dir(bench.data().join("projects")).into_iter().flatten();
    for project in ids.flatten() {
        text = text.replace(project.file_name().to_str().unwrap(), "web-0123456789ab");
        let artifacts = std::fs::read_dir(project.path().join(".live-artifacts"));
        for artifact in artifacts.into_iter().flatten().flatten() {
            let id = artifact.file_name().into_string().unwrap();
            if let Some((name, _)) = id.rsplit_once('-').filter(|_| id.starts_with("la-")) {
                text = text.replace(&id, &format!("{name}-0123456789ab"));
            }
        }
    }
    // What is in the trash has its name below another one.
    for id in ids_in(&text, "la-live-") {
        text = text.replace(&id, "la-live-0123456789ab");
    }
    for id in ids_in(&text, "run-") {
        text = text.replace(&id, "run-0123456789abcdef0123456789abcdef");
    }
    text = text.lines().filter(|line| !line.starts_with("… ")).collect::<Vec<_>>().join("\n");
    let text = without_values(&without_values(&text, "code="), "daemon=");
    without_durations(&without_times(&text))
}

fn ids_in(text: &str, prefix: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter(|word| word.starts_with(prefix)).map(str::to_owned).collect()
}

fn without_times(text: &str) -> String {
    const WIDTH: usize = "2026-04-30T00:00:00.000Z".len();
    let mut out = String::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let is_time = rest.get(..WIDTH).is_some_and(|word| word.parse::<Timestamp>().is_ok());
        let width = if is_time { WIDTH } else { character.len_utf8() };
        out.push_str(if is_time { "2026-04-30T00:00:00.000Z" } else { &rest[..width] });
        rest = &rest[width..];
    }
    out
}

fn without_ports(text: &str) -> String {
    const ADDRESS: &str = "http://127.0.0.1:";
    let mut parts = text.split(ADDRESS);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        out.push_str(&format!("{ADDRESS}PORT{rest}"));
    }
    out
}

/// Replaces the values of a parameter by its name in capitals.
fn without_values(text: &str, parameter: &str) -> String {
    let mut parts = text.split(parameter);
    let shown = parameter.trim_end_matches('=').to_uppercase();
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
        out.push_str(&format!("{parameter}{shown}{}", &part[end.unwrap_or(part.len())..]));
    }
    out
}

/// The column beside a duration moves with it.
fn without_durations(text: &str) -> String {
    let line = |line: &str| match line.split_once(" ms ") {
        Some((before, after)) => {
            let before = before.trim_end_matches(|c: char| c.is_ascii_digit());
            format!("{before}N ms  {}", after.trim_start())
        }
        None => match line.split_once("TOOK ") {
            Some((before, after)) => format!("{before}TOOK  {}", after.trim_start()),
            None => line.to_owned(),
        },
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
