//! Exit codes: the contract's table, every error code in it, and each seen from the real program.

use std::collections::BTreeSet;

use od_cli::output::Exit;
use od_core::error::ErrorCode;

use crate::bench::Bench;

/// What a command ends with, by the contract's sentence: 0 ok · 1 ran and found problems · 2 usage or
/// unexpected · 3 conflict · 4 token refused · 5 not found · 6 confirmation needed · 7 not healthy ·
/// 8 policy denied · 9 timed out or unavailable. A new code does not compile until it stands here.
const fn by_the_contract(code: ErrorCode) -> u8 {
    match code {
        ErrorCode::LiveArtifactInvalid
        | ErrorCode::RefreshCancelled
        | ErrorCode::OutputTooLarge
        | ErrorCode::OutputMappingUnresolved
        | ErrorCode::TemplateBindingInvalid
        | ErrorCode::ConnectorInputSchemaMismatch
        | ErrorCode::QueryFailed
        | ErrorCode::SourceUnreadable
        | ErrorCode::BundleInvalid
        | ErrorCode::ConnectorOutputTooLarge => 1,
        ErrorCode::BadRequest
        | ErrorCode::MethodNotAllowed
        | ErrorCode::PayloadTooLarge
        | ErrorCode::UnsupportedMediaType
        | ErrorCode::Internal => 2,
        ErrorCode::Conflict | ErrorCode::RevisionConflict | ErrorCode::RefreshLocked => 3,
        ErrorCode::Unauthorized
        | ErrorCode::ToolTokenMissing
        | ErrorCode::ToolTokenInvalid
        | ErrorCode::ToolTokenExpired => 4,
        ErrorCode::NotFound
        | ErrorCode::ProjectNotFound
        | ErrorCode::LiveArtifactNotFound
        | ErrorCode::ConnectorNotFound
        | ErrorCode::ConnectorToolNotFound => 5,
        ErrorCode::LiveArtifactNotHealthy => 7,
        ErrorCode::Forbidden
        | ErrorCode::ToolEndpointDenied
        | ErrorCode::ToolOperationDenied
        | ErrorCode::RedactionRequired
        | ErrorCode::ConnectorNotConnected
        | ErrorCode::ConnectorDisabled
        | ErrorCode::ConnectorSafetyDenied => 8,
        ErrorCode::DaemonUnavailable
        | ErrorCode::RateLimited
        | ErrorCode::LiveArtifactStorageFailed
        | ErrorCode::LiveArtifactRefreshUnavailable
        | ErrorCode::RefreshTimedOut
        | ErrorCode::RefreshAbandoned
        | ErrorCode::ConnectorRateLimited
        | ErrorCode::ConnectorTimedOut
        | ErrorCode::StoreUnavailable
        | ErrorCode::ProgramUnavailable
        | ErrorCode::ConnectorExecutionFailed => 9,
    }
}

#[test]
fn every_error_code_ends_with_its_number_of_the_table() {
    for code in ErrorCode::ALL {
        assert_eq!(code.exit_code(), by_the_contract(*code), "{code}");
        assert_eq!(Exit::from_code(code.exit_code()).code(), code.exit_code(), "{code}");
    }
    let numbers: Vec<u8> = Exit::ALL.iter().map(|(exit, _)| exit.code()).collect();
    assert_eq!(numbers, (0..=9).collect::<Vec<u8>>());
}

#[test]
fn each_number_is_seen_from_the_program() {
    let bench = Bench::with_project();
    let id = bench.with_artifact();
    bench.write("broken/SKILL.md", "---\nname: x\n---\n");
    bench.write("input.json", "{}");
    let run = bench.hold_run();
    let update =
        ["tools", "live-artifacts", "update", "--artifact-id", &id, "--input", "artifact.json"];
    let stale = [&update[..], &["--if-revision", "9"]].concat();
    let execute = |connector: &'static str, tool: &'static str| {
        vec![
            "tools",
            "connectors",
            "execute",
            "--connector",
            connector,
            "--tool",
            tool,
            "--input",
            "input.json",
        ]
    };
    let mut seen = BTreeSet::new();
    let mut ends = |words: &[&str], number: i32| {
        let output = bench.as_agent(&run, words);
        assert_eq!(output.status.code(), Some(number), "{words:?}: {output:?}");
        seen.insert(number);
    };
    ends(&["artifacts", "list"], 0);
    ends(&["skills", "check", "broken"], 1);
    ends(&["artifacts"], 2);
    ends(&stale, 3);
    ends(&["artifacts", "show", "nothing"], 5);
    ends(&execute("git", "git.push"), 5);
    bench.good(&["connectors", "disconnect", "git"]);
    ends(&execute("git", "git.summary"), 8);
    std::fs::remove_file(bench.project().join("metrics.json")).unwrap();
    ends(&["artifacts", "refresh", "live"], 1);
    let head = bench
        .data()
        .join(format!("projects/{}/.live-artifacts/{id}/artifact.json", project(&bench)));
    std::fs::write(head, "{").unwrap();
    ends(&update, 7);
    ends(&["artifacts", "verify"], 1);
    // Nobody is at a terminal here who could say yes.
    ends(&["artifacts", "repair", &id], 6);
    let token = bench
        .command(&["tools", "live-artifacts", "list"])
        .env("OD_DAEMON_URL", &run.url)
        .env("OD_DAEMON_ID", &run.daemon_id)
        .env("OD_TOOL_TOKEN", "odt.v1.e30.AAAA")
        .output()
        .unwrap();
    assert_eq!(token.status.code(), Some(4), "{token:?}");
    seen.insert(4);
    let gone = bench
        .command(&["tools", "live-artifacts", "list"])
        .env("OD_DAEMON_URL", "http://127.0.0.1:1")
        .env("OD_DAEMON_ID", &run.daemon_id)
        .env("OD_TOOL_TOKEN", &run.token)
        .output()
        .unwrap();
    assert_eq!(gone.status.code(), Some(9), "{gone:?}");
    seen.insert(9);
    assert_eq!(seen, (0..=9).collect());
    run.end();
}

fn project(bench: &Bench) -> String {
    bench.json(&["init"])["project"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_daemon_that_is_gone_is_unavailable() {
    let bench = Bench::with_project();
    let output = bench
        .command(&["tools", "live-artifacts", "list"])
        .env("OD_DAEMON_URL", "http://127.0.0.1:1")
        .env("OD_DAEMON_ID", "0".repeat(32))
        .env("OD_TOOL_TOKEN", "odt.v1.e30.AAAA")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(9), "{output:?}");
}
