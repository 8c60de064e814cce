//! One MCP session over days: the daemon's clock is moved, the session is never started again.

use std::sync::Arc;
use std::time::Duration;

use od_app::runs::StartRun;
use od_app::{App, Caller};
use od_client::{Bearer, Client};
use od_core::error::Failure;
use od_core::ids::ProjectId;
use od_mcp::{Access, ClientFacts, Door, Opening, Received, Server, Unreachable};
use serde_json::{Value, json};

use crate::world::World;

/// Begins runs as `od mcp` does, on the daemon's own clock.
#[derive(Debug)]
struct Runs {
    app: Arc<App>,
    url: String,
    project: ProjectId,
}

impl Access for Runs {
    fn open<'a>(&'a self, _: &'a ClientFacts) -> Opening<'a> {
        Box::pin(async {
            let request = StartRun { project: self.project.clone(), agent: None };
            let started = od_app::runs::start(&self.app, &Caller::Person, request).await?;
            Client::new(&self.url, Bearer::Token(started.token)).map_err(Failure::from)
        })
    }

    fn open_again<'a>(&'a self, facts: &'a ClientFacts) -> Option<Opening<'a>> {
        Some(self.open(facts))
    }
}

async fn call(server: &Arc<Server>, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    let line = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let Received::Request(request) = server.receive(line.to_string().as_bytes()) else {
        panic!("a call is a request")
    };
    request.answer(&Unreachable).await.unwrap()["result"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_outlives_its_lease_its_token_and_the_calls_of_its_run() {
    let world = World::start().await;
    let place = world.place("days").await;
    std::fs::write(place.root.join("n.json"), "{ \"n\": 1 }").unwrap();
    let (app, url) = (world.shared_app(), world.url().to_owned());
    let project = place.project.clone();
    let door = Door::standing(Arc::new(Runs { app, url, project }));
    let server = Server::new(door, Vec::new());
    let read = json!({ "connectorId": "project_files", "toolName": "read_json", "input": { "path": "n.json" } });
    for passed in [Duration::ZERO, Duration::from_secs(20 * 60), Duration::from_secs(25 * 3600)] {
        world.clock().pass(passed);
        for _ in 0..100 {
            let listed = call(&server, "od_live_artifacts_list", json!({})).await;
            assert_eq!(listed["isError"], false, "{listed}");
            let got = call(&server, "od_connectors_execute", read.clone()).await;
            assert_eq!(got["structuredContent"]["output"]["n"], 1, "{got}");
        }
    }
    world.stop().await;
}
