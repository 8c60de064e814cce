//! Every combination of run, project, grant, expiry and key, at every endpoint of the agent's door.

use od_core::ids::{ProjectId, RunId, Timestamp};
use od_core::token::{Claims, Endpoint, Keyring, Operation, ToolClaims, encode};
use od_ports::agents::run_store::{Run, RunState};

use crate::raw_client::RawClient;
use crate::test_daemon::{TestDaemon, request};

#[derive(Clone, Copy, Debug, PartialEq)]
enum RunCase {
    Live,
    Ended,
    Lapsed,
    Missing,
    OfAnotherProject,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Expiry {
    Ahead,
    Over,
    IssuedLater,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Key {
    Current,
    Previous,
    Forgotten,
    Foreign,
}

/// The project a token names.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Named {
    Demo,
    Other,
}

/// What a token or a run grants at the endpoint that is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Grant {
    All,
    OnlyThis,
    AllButThis,
    Nothing,
}

const RUNS: [RunCase; 5] =
    [RunCase::Live, RunCase::Ended, RunCase::Lapsed, RunCase::Missing, RunCase::OfAnotherProject];
const PROJECTS: [Named; 2] = [Named::Demo, Named::Other];
const EXPIRIES: [Expiry; 3] = [Expiry::Ahead, Expiry::Over, Expiry::IssuedLater];
const KEYS: [Key; 4] = [Key::Current, Key::Previous, Key::Forgotten, Key::Foreign];
const GRANTS: [Grant; 4] = [Grant::All, Grant::OnlyThis, Grant::AllButThis, Grant::Nothing];

#[derive(Clone, Copy, Debug)]
struct Case {
    endpoint: Endpoint,
    run: RunCase,
    project: Named,
    endpoints: Grant,
    operations: Grant,
    expiry: Expiry,
    key: Key,
}

/// The one table, in the order the checks are made. `None` means: let in.
fn expected(case: &Case) -> Option<(u16, &'static str)> {
    let lacks = |grant| matches!(grant, Grant::AllButThis | Grant::Nothing);
    match case {
        Case { key: Key::Forgotten | Key::Foreign, .. } => Some((401, "TOOL_TOKEN_INVALID")),
        Case { expiry: Expiry::IssuedLater, .. } => Some((401, "TOOL_TOKEN_INVALID")),
        Case { expiry: Expiry::Over, .. } => Some((401, "TOOL_TOKEN_EXPIRED")),
        Case { endpoints, .. } if lacks(*endpoints) => Some((403, "TOOL_ENDPOINT_DENIED")),
        Case { operations, .. } if lacks(*operations) => Some((403, "TOOL_OPERATION_DENIED")),
        Case { run: RunCase::Missing, .. } => Some((401, "TOOL_TOKEN_INVALID")),
        Case { run: RunCase::OfAnotherProject, project: Named::Other, .. } => None,
        Case { run: RunCase::OfAnotherProject, project: Named::Demo, .. }
        | Case { project: Named::Other, .. } => Some((401, "TOOL_TOKEN_INVALID")),
        Case { run: RunCase::Ended | RunCase::Lapsed, .. } => Some((401, "TOOL_TOKEN_EXPIRED")),
        Case { run: RunCase::Live, .. } => None,
    }
}

fn granted<T: Copy + PartialEq>(grant: Grant, this: T, all: &[T]) -> Vec<T> {
    match grant {
        Grant::All => all.to_vec(),
        Grant::OnlyThis => vec![this],
        Grant::AllButThis => all.iter().copied().filter(|one| *one != this).collect(),
        Grant::Nothing => Vec::new(),
    }
}

fn run_id(case: RunCase) -> RunId {
    format!("run-{case:?}").to_lowercase().parse().unwrap()
}

fn project(named: Named) -> ProjectId {
    match named {
        Named::Demo => "demo".parse().unwrap(),
        Named::Other => "other".parse().unwrap(),
    }
}

async fn make_runs(daemon: &TestDaemon, now: Timestamp) {
    for case in RUNS {
        let run = Run {
            id: run_id(case),
            project_id: match case {
                RunCase::OfAnotherProject => project(Named::Other),
                RunCase::Live | RunCase::Ended | RunCase::Lapsed | RunCase::Missing => {
                    project(Named::Demo)
                }
            },
            agent: None,
            state: if case == RunCase::Ended { RunState::Ended } else { RunState::Live },
            started_at: now,
            lease_until: if case == RunCase::Lapsed { now } else { now.plus_ms(900_000) },
            ended_at: None,
            endpoints: Endpoint::ALL.to_vec(),
            operations: Operation::ALL.to_vec(),
        };
        if case != RunCase::Missing {
            daemon.running.app().ports.runs.create(&run).await.unwrap();
        }
    }
}

fn token(case: &Case, now: Timestamp, rings: &[Keyring; 4]) -> String {
    let (issued_at, expires_at) = match case.expiry {
        Expiry::Ahead => (now, now.plus_ms(600_000)),
        Expiry::Over => (Timestamp::from_unix_ms(now.unix_ms() - 60_000), now),
        Expiry::IssuedLater => (now.plus_ms(3_600_000), now.plus_ms(7_200_000)),
    };
    let claims = Claims::Tool(ToolClaims {
        token_id: "t-1".parse().unwrap(),
        run_id: run_id(case.run),
        project_id: project(case.project),
        endpoints: granted(case.endpoints, case.endpoint, Endpoint::ALL),
        operations: granted(case.operations, case.endpoint.operation(), Operation::ALL),
        issued_at,
        expires_at,
    });
    encode(&claims, &rings[KEYS.iter().position(|key| *key == case.key).unwrap()])
}

/// Writes a keyring file that holds a current and a previous key; returns the four rings to sign with.
fn keyrings(daemon: &TestDaemon) -> [Keyring; 4] {
    let hex = |byte: u8| format!("{byte:02x}").repeat(32);
    let text = serde_json::json!({ "schemaVersion": 1, "current": hex(1), "previous": hex(2) });
    let path = daemon.dirs.path().join("home/keys/keyring.json");
    std::fs::write(path, text.to_string()).unwrap();
    [1, 2, 3, 4].map(|byte| Keyring::new([byte; 32], None))
}

fn cases() -> impl Iterator<Item = Case> {
    Endpoint::ALL.iter().copied().flat_map(|endpoint| {
        RUNS.into_iter().flat_map(move |run| {
            PROJECTS.into_iter().flat_map(move |project| {
                GRANTS.into_iter().flat_map(move |endpoints| {
                    GRANTS.into_iter().flat_map(move |operations| {
                        EXPIRIES.into_iter().flat_map(move |expiry| {
                            KEYS.into_iter().map(move |key| Case {
                                endpoint,
                                run,
                                project,
                                endpoints,
                                operations,
                                expiry,
                                key,
                            })
                        })
                    })
                })
            })
        })
    })
}

fn method(endpoint: Endpoint) -> &'static str {
    match endpoint {
        Endpoint::LiveArtifactsList | Endpoint::LiveArtifactsGet | Endpoint::ConnectorsList => {
            "GET"
        }
        Endpoint::LiveArtifactsCreate
        | Endpoint::LiveArtifactsUpdate
        | Endpoint::LiveArtifactsRefresh
        | Endpoint::LiveArtifactsCancel
        | Endpoint::LiveArtifactsDelete
        | Endpoint::LiveArtifactsValidate
        | Endpoint::ConnectorsExecute => "POST",
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_honoured_for_exactly_what_it_and_its_run_say() {
    let daemon = TestDaemon::start().await;
    let now = daemon.running.app().ports.clock.now();
    make_runs(&daemon, now).await;
    let rings = keyrings(&daemon);
    let address = daemon.api();
    let (count, differences) = tokio::task::spawn_blocking(move || {
        let mut client = RawClient::connect(address);
        let mut differences = Vec::new();
        let mut count = 0_u32;
        for case in cases() {
            let token = token(&case, now, &rings);
            let endpoint = case.endpoint;
            let bytes =
                request(address, Some(&token), method(endpoint), endpoint.as_str(), None, &[]);
            let answer = client.exchange(&bytes).unwrap();
            count += 1;
            let fits = match expected(&case) {
                Some((status, code)) => {
                    let details = &answer.json()["error"]["details"];
                    answer.status == status
                        && answer.code() == code
                        && details["endpoint"] == endpoint.as_str()
                        && details["operation"] == endpoint.operation().as_str()
                }
                None => !matches!(answer.status, 401 | 403) && answer.status < 500,
            };
            if !fits {
                differences.push(format!("{case:?}: {} {}", answer.status, answer.text()));
            }
        }
        (count, differences)
    })
    .await
    .unwrap();
    println!("{count} combinations, {} differences", differences.len());
    assert!(differences.is_empty(), "{} of {count}, first: {}", differences.len(), differences[0]);
    assert!(count >= 10_000);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_single_bit_flip_of_a_token_is_refused() {
    let daemon = TestDaemon::start().await;
    let (_, _, token) = daemon.run().await;
    let address = daemon.api();
    tokio::task::spawn_blocking(move || {
        let mut client = RawClient::connect(address);
        let good = |token: &[u8]| {
            let mut bytes = format!("GET /api/tools/live-artifacts/list HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer ").into_bytes();
            bytes.extend_from_slice(token);
            bytes.extend_from_slice(b"\r\n\r\n");
            bytes
        };
        assert_eq!(client.exchange(&good(token.as_bytes())).unwrap().status, 200);
        for at in 0..token.len() {
            for bit in 0..8 {
                let mut flipped = token.clone().into_bytes();
                flipped[at] ^= 1 << bit;
                match client.exchange(&good(&flipped)) {
                    Some(answer) => {
                        assert!(matches!(answer.status, 400 | 401), "byte {at} bit {bit}: {answer:?}");
                        if answer.status == 400 || answer.header("connection") == Some("close") {
                            client = RawClient::connect(address);
                        }
                    }
                    None => client = RawClient::connect(address),
                }
            }
        }
    })
    .await
    .unwrap();
    daemon.stop().await;
}
