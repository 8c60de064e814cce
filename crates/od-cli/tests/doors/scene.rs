//! Playing a scene: each call through each door, and the comparison.
//!
//! What may differ between the doors, and is therefore replaced before the comparison: the ids of
//! project, run and artifacts (each door has its own), the project's directory, times, the id of
//! the request, and the milliseconds that a refusal asks to wait. The command line's `ok` and
//! `status` are its own envelope; they are checked and taken off. Nothing else is touched.

use od_core::error::ErrorCode;
use od_core::ids::Timestamp;
use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use crate::corpus::{Call, DoorName, Scene, Tool};
use crate::mcp_door::Called;
use crate::world::{Place, Store, World};
use crate::{cli_door, http_door, mcp_door};

/// What a call came to, through any door.
#[derive(Clone, Debug, PartialEq)]
struct Outcome {
    /// `ok`, or the code.
    code: String,
    /// The payload, or the error.
    json: Value,
}

/// Plays a scene.
pub(crate) async fn play(scene: Scene, store: Store) {
    let mut world = World::start_on(store).await;
    let mut places = Vec::new();
    for door in DoorName::ALL {
        places.push((door, world.place(&format!("door-{door:?}").to_lowercase()).await));
    }
    for (turn, call) in scene.calls.iter().enumerate() {
        for before in &call.before {
            for (_, place) in &places {
                world.prepare(place, before);
                world.restore(place, before).await;
                world.hold(place, before).await;
            }
            world.decide(before).await;
        }
        for _ in 0..call.times {
            let mut outcomes = Vec::new();
            for (door, place) in &mut places {
                if call.doors.contains(door) {
                    let meanwhile = world.meanwhile(place, call);
                    let asked = ask(&world, *door, place, call, turn);
                    let (outcome, ()) = tokio::join!(asked, meanwhile);
                    outcomes.push((*door, settled(outcome, place, call)));
                }
            }
            agree(scene.name, call, &outcomes);
        }
    }
    world.stop().await;
}

/// The doors say the same, and what the corpus says they say.
fn agree(scene: &str, call: &Call, outcomes: &[(DoorName, Outcome)]) {
    let (first, said) = &outcomes[0];
    for (door, outcome) in outcomes {
        let place = format!("{scene}: {}: {first:?} and {door:?}", call.call);
        assert_eq!(outcome.code, call.gives, "{place}: {}", outcome.json);
        assert_eq!(
            serde_json::to_string_pretty(&outcome.json).unwrap(),
            serde_json::to_string_pretty(&said.json).unwrap(),
            "{place}"
        );
        for (pointer, want) in &call.holds {
            assert_eq!(outcome.json.pointer(pointer), Some(want), "{place}: {}", outcome.json);
        }
    }
}

async fn ask(
    world: &World,
    door: DoorName,
    place: &mut Place,
    call: &Call,
    turn: usize,
) -> Outcome {
    let token = world.bearer(place, call.bearer).await;
    let (url, tool, arguments) = (world.url(), call.tool, place.filled_in(&call.arguments));
    let id = world.daemon_id();
    match door {
        DoorName::Http => {
            let (status, body) = http_door::call(url, &token, tool, &arguments).await;
            over_http(status, body)
        }
        DoorName::Cli => {
            let folder = world.folder().join("files");
            let ended = cli_door::call((url, &id), &token, tool, &arguments, &folder).await;
            on_the_command_line(ended, tool)
        }
        DoorName::Mcp => over_mcp(
            &mcp_door::call((url, &id), &token, tool, &arguments, turn).await,
            place,
            &token,
        ),
    }
}

fn code_of(error: &Value) -> ErrorCode {
    error["code"].as_str().unwrap().parse().unwrap()
}

fn over_http(status: u16, mut body: Value) -> Outcome {
    if status == 200 {
        return Outcome { code: "ok".to_owned(), json: body };
    }
    let error = body["error"].take();
    let code = code_of(&error);
    assert_eq!(status, code.http_status(), "{error}");
    Outcome { code: code.to_string(), json: error }
}

fn on_the_command_line(ended: cli_door::Ended, tool: Tool) -> Outcome {
    let mut document = ended.document;
    if ended.exit == 0 {
        assert_eq!(document["ok"], true);
        // An execution's own answer says `ok`, too.
        if tool != Tool::Execute {
            document.as_object_mut().unwrap().shift_remove("ok");
        }
        return Outcome { code: "ok".to_owned(), json: document };
    }
    let error = document["error"].take();
    let code = code_of(&error);
    assert_eq!(document["ok"], false);
    assert_eq!(document["status"], json!(code.http_status()), "{error}");
    assert_eq!(ended.exit, i32::from(code.exit_code()), "{error}");
    Outcome { code: code.to_string(), json: error }
}

fn over_mcp(called: &Called, place: &Place, token: &str) -> Outcome {
    let CallToolResult { content, structured_content, is_error, meta, .. } = &called.result;
    let text = content[0].as_text().unwrap().text.as_str();
    assert!(!text.contains(token));
    if *is_error != Some(true) {
        let payload = structured_content.clone().unwrap();
        assert_eq!(payload, serde_json::from_str::<Value>(text).unwrap(), "text and payload");
        let validator = jsonschema::validator_for(&called.output_schema).unwrap();
        let faults: Vec<String> = validator
            .iter_errors(&payload)
            .map(|fault| format!("{}: {fault}", fault.instance_path()))
            .collect();
        assert_eq!(faults, [""; 0], "{payload}");
        every_artifact_can_be_opened(&payload, place);
        return Outcome { code: "ok".to_owned(), json: payload };
    }
    assert_eq!(*structured_content, None, "a refusal has no payload that a schema could refuse");
    let error = meta.as_ref().unwrap().0["od/error"].clone();
    let code = code_of(&error);
    assert!(text.starts_with(&format!("{code}: ")), "{text}");
    for issue in error["details"]["issues"].as_array().into_iter().flatten() {
        let fix = issue["fix"].as_str().unwrap_or_default();
        assert!(text.contains(fix), "{fix} is not in {text}");
    }
    Outcome { code: code.to_string(), json: error }
}

/// Whatever names an artifact says where a person sees it.
fn every_artifact_can_be_opened(payload: &Value, place: &Place) {
    for artifact in artifacts(payload) {
        let id = artifact["id"].as_str().unwrap();
        let url = match payload["consoleBaseUrl"].as_str() {
            Some(base) => format!("{base}{id}"),
            None => artifact["consoleUrl"].as_str().unwrap().to_owned(),
        };
        assert!(url.ends_with(&format!("/#/p/{}/live/{id}", place.project)), "{url}");
    }
}

fn artifacts(payload: &Value) -> impl Iterator<Item = &Value> {
    let many = payload["artifacts"].as_array().into_iter().flatten();
    payload.get("artifact").into_iter().chain(many)
}

/// Notes the ids that came up, and replaces what belongs to the door and not to the call.
fn settled(mut outcome: Outcome, place: &mut Place, call: &Call) -> Outcome {
    for artifact in artifacts(&outcome.json) {
        let id = artifact["id"].as_str().unwrap().to_owned();
        if !place.ids.contains(&id) {
            place.ids.push(id);
        }
    }
    if let (Some(name), Some(id)) = (&call.keep, outcome.json["artifact"]["id"].as_str()) {
        place.kept_ids.push((name.clone(), id.to_owned()));
    }
    settle(&mut outcome.json, place);
    outcome
}

fn settle(value: &mut Value, place: &Place) {
    match value {
        Value::String(text) => {
            if text.parse::<Timestamp>().is_ok() {
                "TIME".clone_into(text);
                return;
            }
            *text = text.replace(place.project.as_str(), "PROJECT");
            *text = text.replace(place.root.to_str().unwrap(), "ROOT");
            for run in &place.runs {
                *text = text.replace(run, "RUN");
            }
            for (at, id) in place.ids.iter().enumerate() {
                *text = text.replace(id, &format!("ARTIFACT-{at}"));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| settle(item, place)),
        Value::Object(fields) => {
            for (name, item) in fields {
                match name.as_str() {
                    "requestId" => *item = json!("REQUEST"),
                    "nextCursor" => *item = json!("CURSOR"),
                    "afterMs" => *item = json!("MILLISECONDS"),
                    _ => settle(item, place),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
