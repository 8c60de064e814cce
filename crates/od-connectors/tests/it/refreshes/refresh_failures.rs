//! Every way a refresh can fail leaves preview, data and revision byte for byte as they were, adds
//! exactly one terminal record, and says its own code with a suggestion.

use std::sync::Arc;

use od_app::connectors::connect::Connect;
use od_app::connectors::execute::{ExecuteTool, execute};
use od_app::connectors::{Payer, connect, disconnect};
use od_app::refresh::cancel::CancelRefresh;
use od_app::refresh::run::{Cause, RunRefresh};
use od_app::{Caller, Mode, refresh};
use od_core::artifact::ArtifactState;
use od_core::connector::Purpose;
use od_core::error::{ErrorCode, Failure, Retry};
use od_core::ids::{ArtifactId, RunId};
use od_core::ledger::CommitKind;
use od_core::refresh::{RecordStatus, RecordStep};
use od_ports::access::credential_vault::Secret;
use od_ports::connector_provider::ProviderError;
use od_ports::contract::sample;
use od_ports::store::Change;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::http_server::{Answer, TestServer};
use crate::scene::write;
use crate::scripted::{Act, ScriptedConnector, wait};
use crate::world::{Plan, World, by_person, file_source, object, project, script_source};

/// Refreshes, and checks all that has to hold after a failure.
async fn fails_with(world: &World, artifact: &ArtifactId, code: ErrorCode) -> Failure {
    let before = world.generation(artifact).await;
    let terminal = world.terminal_records(artifact).await.len();
    world.events.take();
    let error = world.refresh(artifact).await.unwrap_err();
    let failure = Failure::from(error);
    assert_eq!(failure.code, code, "{failure:?}");
    assert!(!failure.suggestion.is_empty());
    assert_eq!(world.generation(artifact).await, before, "{code}: the generation changed");
    let records = world.terminal_records(artifact).await;
    assert_eq!(records.len(), terminal + 1, "{code}: one terminal record");
    let last = &records[0];
    assert_ne!(last.status, RecordStatus::Succeeded);
    assert_eq!(last.error.as_ref().unwrap().code, code);
    assert_eq!(failure.details.as_ref().unwrap()["refreshId"], last.refresh_id.as_str());
    let events = format!("{:?}", world.events.take());
    assert!(events.contains("Started") && events.contains("Failed"), "{events}");
    assert!(!events.contains("Succeeded"), "{events}");
    failure
}

/// Refreshes, and checks that a refusal before the source ran left no trace: no id, no record, no event.
async fn refused_with(world: &World, artifact: &ArtifactId, code: ErrorCode) -> Failure {
    let before = world.generation(artifact).await;
    let store = &world.app.ports.refresh_log;
    let records = store.history(&project(), artifact).await.unwrap().records;
    world.events.take();
    let failure = Failure::from(world.refresh(artifact).await.unwrap_err());
    assert_eq!(failure.code, code, "{failure:?}");
    assert!(!failure.suggestion.is_empty());
    assert_eq!(world.generation(artifact).await, before, "{code}: the generation changed");
    let after = store.history(&project(), artifact).await.unwrap().records;
    assert_eq!(after, records, "{code}: a refusal leaves no record");
    assert!(world.events.take().is_empty(), "{code}: nobody hears of it");
    failure
}

async fn file_case(content: &str, code: ErrorCode) -> Failure {
    file_case_with(content, file_source("in.json"), |_| {}, code).await
}

async fn file_case_with(
    content: &str,
    source: Value,
    change: impl FnOnce(&mut ArtifactState),
    code: ErrorCode,
) -> Failure {
    let world = World::new().await;
    let artifact = world.create_with(1, source, change).await;
    write(&world.root(), "in.json", content);
    fails_with(&world, &artifact, code).await
}

async fn script_case(act: Act, code: ErrorCode) -> Failure {
    let world = World::new().await;
    let artifact = world.create(1, script_source()).await;
    world.script.set(act);
    fails_with(&world, &artifact, code).await
}

fn kind(failure: &Failure) -> &str {
    failure.details.as_ref().unwrap()["kind"].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_source() {
    let world = World::new().await;
    let artifact = world.create(1, file_source("gone.json")).await;
    let failure = fails_with(&world, &artifact, ErrorCode::SourceUnreadable).await;
    assert_eq!(kind(&failure), "source_missing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_of_the_wrong_type() {
    for text in ["<html></html>", r#"{"a": 1, "a": 2}"#, r#"{"a": "\u0000"}"#] {
        let failure = file_case(text, ErrorCode::SourceUnreadable).await;
        assert_eq!(kind(&failure), "wrong_type", "{text}");
    }
    file_case("[1, 2, 3]", ErrorCode::OutputMappingUnresolved).await;
}

/// As in every intake: a number that a double would round comes as the text of its digits.
#[tokio::test(flavor = "multi_thread")]
async fn an_integer_beyond_a_double_is_not_rounded() {
    let world = World::new().await;
    write(&world.root(), "in.json", r#"{"title": 9007199254740993}"#);
    let artifact = world.create(1, file_source("in.json")).await;
    world.refresh(&artifact).await.unwrap();
    assert_eq!(world.data(&artifact).await["title"], "9007199254740993");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_is_too_large() {
    // More than a source may give, then more than may be stored of it.
    let large = format!(r#"{{"rows": ["{}"]}}"#, "x".repeat(33 * 1024 * 1024));
    file_case(&large, ErrorCode::ConnectorOutputTooLarge).await;
    let large = format!(r#"{{"rows": ["{}"]}}"#, "x".repeat(2 * 1024 * 1024));
    file_case(&large, ErrorCode::OutputTooLarge).await;
    let rows = vec!["x".repeat(1000); 300];
    file_case(&json!({ "rows": rows }).to_string(), ErrorCode::OutputTooLarge).await;
    let many: Vec<u32> = (0..501).collect();
    let failure = file_case(&json!({ "rows": many }).to_string(), ErrorCode::OutputTooLarge).await;
    let limit = failure.details.unwrap()["limit"].clone();
    assert_eq!(limit, od_core::limits::JSON_ITEMS.want(), "the limit that was broken");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_is_too_deep() {
    for depth in [9, 20, 100_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let failure = file_case(&format!(r#"{{"a":{deep}}}"#), ErrorCode::SourceUnreadable).await;
        assert!(
            failure.message.contains("levels") || failure.to_json().to_string().contains("levels"),
            "{failure:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_never_answers() {
    let world = World::with(Plan { hurry: 300, ..Plan::default() }).await;
    let artifact = world.create(1, script_source()).await;
    world.script.set(Act::Hang);
    fails_with(&world, &artifact, ErrorCode::RefreshTimedOut).await;
    assert_eq!(world.terminal_records(&artifact).await[0].status, RecordStatus::TimedOut);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_dressed_as_data() {
    for output in [
        json!({ "error": "not today" }),
        json!({ "ok": false, "message": "no" }),
        json!({ "message": "Not Found", "documentation_url": "https://docs.example" }),
        json!({ "status": 500, "message": "Internal" }),
    ] {
        let failure = script_case(Act::Give(output), ErrorCode::ConnectorExecutionFailed).await;
        assert_eq!(kind(&failure), "error_as_data");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mapping_that_names_nothing() {
    let mut source = file_source("in.json");
    source["outputMapping"] = json!({ "dataPaths": [{ "from": "titel", "to": "title" }] });
    let failure = file_case_with(
        r#"{ "title": "after" }"#,
        source,
        |_| {},
        ErrorCode::OutputMappingUnresolved,
    )
    .await;
    assert!(failure.suggestion.contains("title"), "{}", failure.suggestion);
}

#[tokio::test(flavor = "multi_thread")]
async fn data_that_does_not_fit_the_documents_schema() {
    let failure = file_case_with(
        r#"{ "title": 7 }"#,
        file_source("in.json"),
        |state| {
            let schema = json!({
                "type": "object", "properties": { "title": { "type": "string" } },
            });
            state.artifact.document.as_mut().unwrap().data_schema_json = Some(object(schema));
        },
        ErrorCode::SourceUnreadable,
    )
    .await;
    assert!(failure.message.contains("/document/dataJson/title"), "{}", failure.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_that_does_not_fit_the_new_data() {
    let failure = file_case(r#"{ "title": { "a": 1 } }"#, ErrorCode::TemplateBindingInvalid).await;
    assert!(failure.message.contains("title"), "{}", failure.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_body_is_left_out_for_agents_and_for_refreshes_alike() {
    let output = json!({ "title": "after", "items": [{ "tag_name": "v1", "body": "text" }] });
    let world = World::new().await;
    let artifact = world.create(1, script_source()).await;
    world.script.set(Act::Give(output));
    let call = ExecuteTool {
        project: project(),
        connector: "script".parse().unwrap(),
        tool: "list_things".to_owned(),
        input: object(json!({})),
        purpose: Purpose::AgentPreview,
        payer: Payer::Run(RunId::generate([1; 16])),
        mapping: None,
        expected: None,
    };
    let seen = execute(&world.app, call).await.unwrap();
    assert_eq!(seen.output.value()["items"], json!([{ "tag_name": "v1" }]));
    let left_out = &seen.redactions.places[0];
    assert_eq!((left_out.path.as_str(), left_out.count), ("/items/*/body", 1));
    world.refresh(&artifact).await.unwrap();
    let stored = world.data(&artifact).await;
    assert_eq!(stored["items"], seen.output.value()["items"], "what is seen is what is stored");
    // The record keeps all but the output.
    let records = world.records(&artifact).await;
    let ran = records.iter().find_map(|record| record.connector.as_ref()).unwrap();
    assert_eq!(ran.redactions, seen.redactions, "the record names it too");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_output_that_cannot_be_used_without_denied_keys() {
    let world = World::new().await;
    let mut source = script_source();
    source["outputMapping"] = json!({ "dataPaths": [{ "from": "items.0.body", "to": "title" }] });
    let artifact = world.create(1, source).await;
    world.script.set(Act::Give(json!({ "items": [{ "body": "text" }] })));
    let failure = fails_with(&world, &artifact, ErrorCode::RedactionRequired).await;
    assert_eq!(failure.details.unwrap()["pointer"], "/items/0/body");
    // Nothing is left of it: data that stays as it is would look refreshed.
    script_case(Act::Give(json!({ "body": "text" })), ErrorCode::RedactionRequired).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_account() {
    let world = World::new().await;
    let artifact = world.create(1, script_source()).await;
    let request = Connect {
        connector: "script".parse().unwrap(),
        secret: Some(Secret::parse("secret-of-ada").unwrap()),
    };
    let connected = connect(&world.app, &Caller::Person, request).await.unwrap();
    assert_eq!(connected.account_label.as_deref(), Some("ada"));
    let failure = refused_with(&world, &artifact, ErrorCode::ConnectorNotConnected).await;
    assert_eq!(kind(&failure), "account_drift");
    assert_eq!(world.script.calls(), 0);
    accept(&world, &artifact).await;
    assert_eq!(world.refresh(&artifact).await.unwrap().refresh.number(), 2);
    world.script.set_account("eve");
    let request = Connect {
        connector: "script".parse().unwrap(),
        secret: Some(Secret::parse("secret-of-eve").unwrap()),
    };
    connect(&world.app, &Caller::Person, request).await.unwrap();
    refused_with(&world, &artifact, ErrorCode::ConnectorNotConnected).await;
}

/// Accepts a drift, as a person may and an agent may not.
async fn accept(world: &World, artifact: &ArtifactId) {
    let agent = RunRefresh {
        caller: Caller::Agent {
            run: RunId::generate([1; 16]),
            project: project(),
            door: od_core::ledger::Door::Http,
        },
        accept_drift: true,
        cause: Cause::Asked,
        ..by_person(artifact)
    };
    let refused = Failure::from(refresh::run(&world.app, agent, Mode::Commit).await.unwrap_err());
    assert_eq!(refused.code, ErrorCode::Forbidden);
    let person = RunRefresh { accept_drift: true, ..by_person(artifact) };
    refresh::run(&world.app, person, Mode::Commit).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_no_longer_what_it_was() {
    let world = World::new().await;
    let artifact = world.create(1, script_source()).await;
    world.script.change(|catalog| {
        catalog.tools[0].input_schema["properties"]["more"] = json!({ "type": "string" });
    });
    let failure = refused_with(&world, &artifact, ErrorCode::ConnectorSafetyDenied).await;
    assert_eq!(kind(&failure), "tool_drift");
    assert_eq!(failure.details.unwrap()["changed"], json!(["input schema"]));
    assert_eq!(world.script.calls(), 0);
    accept(&world, &artifact).await;
    world.refresh(&artifact).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_may_be_longer_now_has_not_drifted() {
    let server = TestServer::start(|_| Answer::text(200, "[]")).await;
    let world = World::with(Plan { github: server.url(), ..Plan::default() }).await;
    let request = Connect { connector: "github".parse().unwrap(), secret: None };
    connect(&world.app, &Caller::Person, request).await.unwrap();
    let source = json!({
        "type": "connector_tool",
        "input": { "owner": "octo", "repo": "hello", "limit": 100 },
        "connector": { "connectorId": "github", "toolName": "github.list_releases" },
        "outputMapping": { "dataPaths": [{ "from": "items", "to": "releases" }] },
        "refreshPermission": "manual_refresh_granted_for_read_only",
    });
    // As version 0.1.0 pinned it, when a list had at most 100 entries.
    let pinned = |digest: &'static str| {
        move |state: &mut ArtifactState| {
            let pin = state.artifact.source_pin.as_mut().unwrap();
            (pin.contract_digest, pin.contract_parts) = (digest.parse().unwrap(), None);
        }
    };
    let before = "sha256:221a92e248b9e5f9c760c2e79bda807ad0a6dd88cce29abbb8fdde8d15bc032e";
    let artifact = world.create_with(1, source.clone(), pinned(before)).await;
    world.refresh(&artifact).await.unwrap();
    let other = "sha256:0000000000000000000000000000000000000000000000000000000000000000";
    let artifact = world.create_with(2, source, pinned(other)).await;
    let failure = refused_with(&world, &artifact, ErrorCode::ConnectorSafetyDenied).await;
    assert_eq!(kind(&failure), "tool_drift");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_turned_write_capable() {
    for change in [
        (|tool| tool.title = "List and delete things".to_owned())
            as fn(&mut od_core::connector::Tool),
        |tool| tool.scopes = vec!["things:write".to_owned()],
        |tool| tool.safety.side_effect = od_core::connector::SideEffect::Write,
        |tool| tool.safety.approval = od_core::connector::Approval::Confirm,
        |tool| tool.safety.approval = od_core::connector::Approval::Disabled,
    ] {
        let world = World::new().await;
        let artifact = world.create(1, script_source()).await;
        world.script.change(|catalog| change(&mut catalog.tools[0]));
        refused_with(&world, &artifact, ErrorCode::ConnectorSafetyDenied).await;
        // No accepting of a drift makes it run either.
        let person = RunRefresh { accept_drift: true, ..by_person(&artifact) };
        let refused =
            Failure::from(refresh::run(&world.app, person, Mode::Commit).await.unwrap_err());
        assert_eq!(refused.code, ErrorCode::ConnectorSafetyDenied);
        assert_eq!(world.script.calls(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disconnected_connector() {
    let world = World::new().await;
    let artifact = world.create(1, script_source()).await;
    disconnect(&world.app, &Caller::Person, &"script".parse().unwrap()).await.unwrap();
    refused_with(&world, &artifact, ErrorCode::ConnectorNotConnected).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disabled_connector() {
    let world = World::new().await;
    write(&world.root(), "in.json", "{}");
    let artifact = world.create(1, file_source("in.json")).await;
    disconnect(&world.app, &Caller::Person, &"project_files".parse().unwrap()).await.unwrap();
    refused_with(&world, &artifact, ErrorCode::ConnectorDisabled).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connector_or_tool_that_is_gone() {
    let world = World::new().await;
    let artifact = world.create(1, script_source()).await;
    world.script.change(|catalog| catalog.allowed_tool_names.clear());
    refused_with(&world, &artifact, ErrorCode::ConnectorToolNotFound).await;
    world.script.change(|catalog| {
        catalog.tools = vec![ScriptedConnector::tool("script.get_things", "Get")];
    });
    refused_with(&world, &artifact, ErrorCode::ConnectorToolNotFound).await;
    world.script.change(|catalog| catalog.id = "other".parse().unwrap());
    refused_with(&world, &artifact, ErrorCode::ConnectorNotFound).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_that_no_longer_fits() {
    let world = World::new().await;
    // Saved by an older daemon, without a pin.
    let artifact =
        world.create_with(1, script_source(), |state| state.artifact.source_pin = None).await;
    world.script.change(|catalog| {
        catalog.tools[0].input_schema["required"] = json!(["topic"]);
    });
    refused_with(&world, &artifact, ErrorCode::ConnectorInputSchemaMismatch).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_refreshes() {
    let world = World::new().await;
    let artifact = world.create(1, script_source()).await;
    for _ in 0..10 {
        world.refresh(&artifact).await.unwrap();
    }
    for _ in 0..6_000 {
        refresh::run(&world.app, by_person(&artifact), Mode::Commit).await.unwrap_err();
    }
    let failure = refused_with(&world, &artifact, ErrorCode::ConnectorRateLimited).await;
    assert_eq!(world.terminal_records(&artifact).await.len(), 10, "nothing was pushed out");
    assert_eq!(failure.retry, Retry::RetryableAfterMs { after_ms: 60_000 });
    world.clock.advance_ms(60_000);
    world.refresh(&artifact).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_of_a_provider() {
    let text = || "in its own words".to_owned();
    for (fault, code) in [
        (ProviderError::RateLimited { after_ms: 7000 }, ErrorCode::ConnectorRateLimited),
        (ProviderError::CredentialRefused, ErrorCode::ConnectorNotConnected),
        (ProviderError::Unavailable { message: text() }, ErrorCode::ConnectorExecutionFailed),
        (ProviderError::Forbidden { message: text() }, ErrorCode::ConnectorSafetyDenied),
        (ProviderError::TooLarge { allowed: 1 }, ErrorCode::ConnectorOutputTooLarge),
        (
            ProviderError::Input { pointer: "/topic".to_owned(), message: text() },
            ErrorCode::ConnectorInputSchemaMismatch,
        ),
    ] {
        script_case(Act::Fail(fault), code).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_refresh() {
    let world = World::new().await;
    let artifact = world.create(1, script_source()).await;
    let before = world.generation(&artifact).await;
    world.script.set(Act::Hang);
    let task = tokio::spawn({
        let (app, request) = (Arc::clone(&world.app), by_person(&artifact));
        async move { refresh::run(&app, request, Mode::Commit).await }
    });
    source_is_asked(&world).await;
    let request = CancelRefresh { project: project(), artifact: artifact.clone() };
    let cancelled = refresh::cancel(&world.app, &Caller::Person, request.clone()).await.unwrap();
    assert_eq!(cancelled.status, RecordStatus::Cancelled);
    let failure = Failure::from(task.await.unwrap().unwrap_err());
    assert_eq!(failure.code, ErrorCode::RefreshCancelled);
    assert_eq!(world.generation(&artifact).await, before);
    assert_eq!(world.terminal_records(&artifact).await.len(), 1);
    let again = refresh::cancel(&world.app, &Caller::Person, request).await.unwrap_err();
    assert_eq!(Failure::from(again).code, ErrorCode::Conflict);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_meanwhile_is_kept_and_a_new_source_wins() {
    for changes_source in [false, true] {
        let world = World::new().await;
        let artifact = world.create(1, script_source()).await;
        let gate = Arc::new(Semaphore::new(0));
        world.script.set(wait(Arc::clone(&gate), json!({ "title": "from the source" })));
        let task = tokio::spawn({
            let (app, request) = (Arc::clone(&world.app), by_person(&artifact));
            async move { refresh::run(&app, request, Mode::Commit).await }
        });
        while world.script.calls() == 0 {
            tokio::task::yield_now().await;
        }
        update(&world, &artifact, changes_source).await;
        gate.add_permits(1);
        let result = task.await.unwrap();
        let stored = world.app.ports.artifacts.load(&project(), &artifact).await.unwrap();
        let state = stored.state.as_ref().unwrap();
        assert_eq!(state.artifact.heading.title, "renamed meanwhile");
        if changes_source {
            let failure = Failure::from(result.unwrap_err());
            assert_eq!(failure.code, ErrorCode::RevisionConflict);
            assert_eq!(state.artifact.revision.get(), 2);
            assert_eq!(state.data.value()["title"], "before");
        } else {
            assert_eq!(result.unwrap().stored.revision().unwrap().get(), 3);
            assert_eq!(state.data.value()["title"], "from the source");
        }
        assert_eq!(world.terminal_records(&artifact).await.len(), 1);
    }
}

async fn update(world: &World, artifact: &ArtifactId, changes_source: bool) {
    let store = &world.app.ports.artifacts;
    let gate = store.open_gate(&project(), artifact).await.unwrap();
    let before = gate.stored().state.clone().unwrap();
    let mut state = before.as_ref().clone();
    state.artifact.heading.title = "renamed meanwhile".to_owned();
    if changes_source {
        let source = serde_json::from_value(file_source("other.json")).unwrap();
        state.artifact.document.as_mut().unwrap().source_json = Some(source);
    }
    let expected = before.artifact.revision;
    let note = sample::note(CommitKind::Update);
    let change = Change { expected, state, page: sample::page("before"), refresh: None, note };
    store.commit(&gate.witness(), change).await.unwrap();
}

async fn source_is_asked(world: &World) {
    while world.script.calls() == 0 {
        tokio::task::yield_now().await;
    }
}

/// Dropping the work in the middle is what the end of a process does to it.
pub(crate) async fn begin_and_die(world: &World, artifact: &ArtifactId) {
    tokio::select! {
        ended = refresh::run(&world.app, by_person(artifact), Mode::Commit) => panic!("it ended: {ended:?}"),
        () = source_is_asked(world) => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_whose_process_died() {
    let world = World::new().await;
    let artifact = world.create(1, script_source()).await;
    let before = world.generation(&artifact).await;
    world.script.set(Act::Hang);
    begin_and_die(&world, &artifact).await;
    assert_eq!(world.terminal_records(&artifact).await.len(), 0);

    let world = world.restarted().await;
    let closed = refresh::recover(&world.app).await.unwrap().closed;
    assert_eq!(closed.len(), 1);
    assert_eq!(refresh::recover(&world.app).await.unwrap().closed, []);
    let records = world.terminal_records(&artifact).await;
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].error.as_ref().unwrap().code, ErrorCode::RefreshAbandoned);
    assert_eq!(world.generation(&artifact).await, before);
    assert_eq!(world.refresh(&artifact).await.unwrap().refresh.number(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_refresh_is_closed_by_the_next_one_too() {
    let world = World::new().await;
    let artifact = world.create(1, script_source()).await;
    world.script.set(Act::Hang);
    begin_and_die(&world, &artifact).await;
    world.script.set(Act::Give(json!({ "title": "after" })));
    world.refresh(&artifact).await.unwrap();
    let records = world.terminal_records(&artifact).await;
    let ended: Vec<_> =
        records.iter().map(|record| (record.refresh_id.number(), record.status)).collect();
    assert_eq!(ended.len(), 2);
    assert!(ended.contains(&(1, RecordStatus::Abandoned)), "{ended:?}");
    assert!(ended.contains(&(2, RecordStatus::Succeeded)), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_comes_after_its_refresh_was_closed_is_refused() {
    let world = World::new().await;
    let artifact = world.create(1, script_source()).await;
    let before = world.generation(&artifact).await;
    let gate = Arc::new(Semaphore::new(0));
    world.script.set(wait(Arc::clone(&gate), json!({ "title": "too late" })));
    let task = tokio::spawn({
        let (app, request) = (Arc::clone(&world.app), by_person(&artifact));
        async move { refresh::run(&app, request, Mode::Commit).await }
    });
    while world.script.calls() == 0 {
        tokio::task::yield_now().await;
    }
    // Another daemon over the same data finds it past its time.
    world.clock.advance_ms(130_000);
    let closed = refresh::recover(&world.app).await.unwrap().closed;
    assert_eq!(closed.len(), 1);
    gate.add_permits(1);
    let failure = Failure::from(task.await.unwrap().unwrap_err());
    assert_eq!(failure.code, ErrorCode::RefreshAbandoned);
    assert_eq!(world.generation(&artifact).await, before);
    let records = world.terminal_records(&artifact).await;
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].status, RecordStatus::TimedOut);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_source_step_is_recorded_with_its_error() {
    let world = World::new().await;
    let artifact = world.create(1, script_source()).await;
    world.script.set(Act::Fail(ProviderError::CredentialRefused));
    world.refresh(&artifact).await.unwrap_err();
    let records = world.records(&artifact).await;
    let steps: Vec<_> = records.iter().rev().map(|record| record.step).collect();
    assert_eq!(steps, [RecordStep::Started, RecordStep::Source, RecordStep::Failed]);
    assert_eq!(records[1].error.as_ref().unwrap().code, ErrorCode::ConnectorNotConnected);
}
