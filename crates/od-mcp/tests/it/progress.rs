//! A slow refresh tells a client that asked; the clock is the runtime's own, paused.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use crate::peer;
use crate::session::{Session, door};

#[tokio::test(start_paused = true)]
async fn a_refresh_tells_its_elapsed_time_at_least_every_ten_seconds() {
    let (url, mut requests) = peer::listen().await;
    let mut session = Session::initialized(door(&url), "2025-11-25").await;
    let params = json!({
        "name": "od_live_artifacts_refresh",
        "arguments": { "artifactId": "la-a-0123456789ab" },
        "_meta": { "progressToken": "t-1" },
    });
    let id = session.ask("tools/call", params).await;
    let asked = requests.recv().await.unwrap();
    let mut last = Instant::now();
    let mut told = Vec::new();
    while told.len() < 5 {
        let message = session.next().await;
        assert_eq!(message["method"], "notifications/progress", "{message}");
        assert_eq!(message["params"]["progressToken"], "t-1");
        assert!(last.elapsed() <= Duration::from_secs(10));
        last = Instant::now();
        told.push(message["params"]["progress"].as_f64().unwrap());
    }
    assert!(told.windows(2).all(|pair| pair[0] < pair[1]), "{told:?}");
    assert!(told[4] >= 20.0, "{told:?}");
    asked.answer(200, "{}").await;
    let answer = loop {
        let message = session.next().await;
        if message["id"] == id {
            break message;
        }
    };
    assert_eq!(answer["result"]["isError"], false);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_did_not_ask_hears_only_the_answer() {
    let (url, mut requests) = peer::listen().await;
    let mut session = Session::initialized(door(&url), "2025-11-25").await;
    let arguments = json!({ "artifactId": "la-a-0123456789ab" });
    let params = json!({ "name": "od_live_artifacts_refresh", "arguments": arguments });
    let id = session.ask("tools/call", params).await;
    let asked = requests.recv().await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    asked.answer(200, "{}").await;
    assert_eq!(session.next().await["id"], id);
}

#[tokio::test(start_paused = true)]
async fn the_server_ends_with_its_input_even_while_a_refresh_runs() {
    let (url, mut requests) = peer::listen().await;
    let mut session = Session::initialized(door(&url), "2025-11-25").await;
    let arguments = json!({ "artifactId": "la-a-0123456789ab" });
    let params = json!({ "name": "od_live_artifacts_refresh", "arguments": arguments });
    session.ask("tools/call", params).await;
    let asked = requests.recv().await.unwrap();
    let closed_at = Instant::now();
    session.close().await.unwrap();
    assert!(closed_at.elapsed() <= Duration::from_secs(6), "{:?}", closed_at.elapsed());
    drop(asked);
}
