//! The same failing request through two doors: the same code, details and exit.

use od_client::{Bearer, CallError, Client};
use od_core::error::Failure;
use od_wire::route::Operation;
use serde_json::{Value, json};

use crate::bench::{Bench, refusal};

#[test]
fn a_refused_create_says_the_same_on_the_command_line_and_over_http() {
    let bench = Bench::with_project();
    let script = r#"
printf '%s' "$OD_TOOL_TOKEN" > token
printf '%s' "$OD_DAEMON_URL" > url
printf '%s' '{ "titel": "X", "id": "mine", "document": { "format": "html_template_v1" } }' > artifact.json
printf '%s' '{ "token": "x" }' > data.json
printf '%s' '<p>{{title}}</p>' > template.html
"$OD_BIN" tools live-artifacts create --input artifact.json 2> fault.json
echo $? > code
while [ ! -e done ]; do sleep 0.05; done
"#;
    bench.write("agent.sh", script);
    let mut run = bench.command(&["run", "--", "sh", "agent.sh"]).spawn().unwrap();
    let read = |name: &str| std::fs::read_to_string(bench.project().join(name)).unwrap_or_default();
    while read("code").trim().is_empty() {
        assert!(run.try_wait().unwrap().is_none(), "the run ended early");
        std::thread::yield_now();
    }
    let client = Client::new(&read("url"), Bearer::Token(read("token"))).unwrap();
    let body = json!({
        "input": { "titel": "X", "id": "mine", "document": { "format": "html_template_v1", "dataJson": { "token": "x" } } },
        "templateHtml": "<p>{{title}}</p>",
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let over_http = runtime.block_on(async {
        client
            .call(Operation::ToolCreateArtifact)
            .json(&body)
            .unwrap()
            .send_value()
            .await
            .unwrap_err()
    });
    bench.write("done", "");
    run.wait().unwrap();
    let CallError::Refused { status, .. } = &over_http else { panic!("{over_http:?}") };
    let said: Value = serde_json::from_str(&read("fault.json")).unwrap();
    let failure = Failure::from(&over_http);
    assert_eq!(said["status"], json!(status));
    assert_eq!(said["error"]["code"], json!(failure.code));
    assert_eq!(said["error"]["details"], Value::Object(failure.details.clone().unwrap()));
    assert_eq!(read("code").trim(), failure.code.exit_code().to_string());
    assert!(said["error"]["details"]["issues"].as_array().unwrap().len() >= 4, "{said}");
}

#[test]
fn a_refused_refresh_says_the_same_with_and_without_a_daemon() {
    let bench = Bench::with_project();
    let made = bench.agent(
        "printf '%s' '{ \"title\": \"Still\", \"document\": { \"format\": \"html_template_v1\", \"dataJson\": {} } }' > artifact.json\n\
         \"$OD_BIN\" tools live-artifacts create --input artifact.json\n",
    );
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let refresh = || bench.od(&["artifacts", "refresh", "still", "--json"]);
    let with = refresh();
    bench.end_daemon();
    let without = refresh();
    assert_eq!(with.status.code(), without.status.code());
    let (mut with, without) = (refusal(&with), refusal(&without));
    // Only a daemon numbers its requests.
    with["error"].as_object_mut().unwrap().remove("requestId").unwrap();
    assert_eq!(with, without);
}
