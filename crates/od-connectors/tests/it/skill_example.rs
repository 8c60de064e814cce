//! The example of several sources in the skill's reference, made and refreshed as an agent would.

use std::fs;
use std::path::Path;

use od_app::artifacts::{CreateArtifact, Reading};
use od_app::{Caller, Mode};
use od_core::json::{Message, Value};
use serde_json::json;

use crate::world::{World, project};

#[tokio::test]
async fn the_example_of_the_skill_joins_two_files() {
    let reference = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../skills/live-artifact/references/refresh-contract.md");
    let text = fs::read_to_string(reference).unwrap();
    let (_, section) = text.split_once("## Several sources").unwrap();
    let (_, example) = section.split_once("```json\n").unwrap();
    let (example, rest) = example.split_once("```").unwrap();
    let mut input: Value = serde_json::from_str(example).unwrap();
    let (_, data) = rest.split_once("`data.json` beside it: `").unwrap();
    let (data, _) = data.split_once('`').unwrap();
    input["document"]["dataJson"] = serde_json::from_str(data).unwrap();
    let world = World::new().await;
    let write = |name: &str, text: &str| fs::write(world.root().join(name), text).unwrap();
    write("orders.csv", "at,customer,total\n2026-09-03,1,100\n2026-10-01,2,50\n2026-10-02,1,5\n");
    write("customers.csv", "id,name\n1,Acme\n2,Bolt\n");
    let body = json!({ "input": input }).to_string();
    let request = CreateArtifact {
        project: project(),
        body: Message::read(body.as_bytes()).unwrap(),
        reading: Reading::Now,
    };
    let created = od_app::artifacts::create(&world.app, &Caller::Person, request, Mode::Commit);
    let artifact = created.await.unwrap().stored.id.clone();
    let refreshed = world.refresh(&artifact).await.unwrap();
    let state = refreshed.stored.state.as_ref().unwrap();
    assert_eq!(
        state.data.value(),
        &json!({
            "months": [{ "month": "2026-09", "total": 100 }, { "month": "2026-10", "total": 55 }],
            "best": [{ "name": "Acme", "total": 105 }, { "name": "Bolt", "total": 50 }],
            "total": 155,
        })
    );
}
