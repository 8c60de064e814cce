//! Webhooks against a local server.

use od_connectors::HttpWebhookSender;
use od_core::notification::Reach;
use od_ports::WebhookSender as _;
use od_ports::contract::check_webhook_sender;
use od_ports::webhooks::{PostError, WebhookCall};

use crate::http_server::{Answer, TestServer};

fn call(url: &str, reach: Reach) -> WebhookCall {
    WebhookCall {
        url: url.parse().unwrap(),
        reach,
        delivery: "d1".to_owned(),
        signature: "t=1,v1=00".to_owned(),
        body: br#"{"check":"few"}"#.to_vec(),
    }
}

/// A server whose paths are the statuses that they answer with, and that redirects elsewhere.
async fn statuses() -> TestServer {
    TestServer::start(|seen| {
        let status = seen.path().trim_start_matches('/').parse().unwrap_or(404);
        Answer::text(status, "").with("location", "/204")
    })
    .await
}

#[tokio::test]
async fn the_sender_keeps_the_contract_and_follows_no_redirect() {
    let server = statuses().await;
    // A port that was free a moment ago, and that nobody listens at.
    let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let sender = HttpWebhookSender::default();
    check_webhook_sender(&sender, &server.url(), &format!("http://{dead}")).await;
    let seen = server.seen();
    assert_eq!(seen.iter().filter(|seen| seen.path() == "/204").count(), 1, "asked for by name");
    assert_eq!(seen.len(), 14, "a refused address is not connected to");
}

#[tokio::test]
async fn what_arrives_is_the_body_with_its_signature_and_nothing_of_the_machine() {
    let server = statuses().await;
    let sender = HttpWebhookSender::default();
    let url = format!("{}/204", server.url());
    assert_eq!(sender.post(call(&url, Reach::Loopback)).await, Ok(204));
    let seen = server.seen().remove(0);
    assert_eq!(seen.body, br#"{"check":"few"}"#);
    assert_eq!(seen.header("od-signature"), Some("t=1,v1=00"));
    assert_eq!(seen.header("od-delivery"), Some("d1"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    for absent in ["cookie", "authorization", "referer", "accept-language"] {
        assert_eq!(seen.header(absent), None, "{absent}");
    }
}

#[tokio::test]
async fn a_name_that_leads_inwards_is_refused_at_every_connection() {
    let server = statuses().await;
    let port = server.address().port();
    let sender = HttpWebhookSender::default();
    let refused = PostError::Refused { kind: "loopback" };
    // As a host would be after somebody pointed its name here.
    for url in [format!("https://localhost:{port}/204"), format!("https://127.0.0.1:{port}/204")] {
        assert_eq!(sender.post(call(&url, Reach::Public)).await, Err(refused.clone()), "{url}");
    }
    let metadata = call("https://169.254.169.254/latest", Reach::Public);
    let kind = "link-local";
    assert_eq!(sender.post(metadata).await, Err(PostError::Refused { kind }));
    let metadata = call("https://169.254.169.254/latest", Reach::Private);
    assert_eq!(sender.post(metadata).await, Err(PostError::Refused { kind }));
    let inside = call("https://10.1.2.3/hook", Reach::Public);
    assert_eq!(sender.post(inside).await, Err(PostError::Refused { kind: "private" }));
    let away = call("https://192.0.2.1/hook", Reach::Loopback);
    assert_eq!(sender.post(away).await, Err(PostError::Refused { kind: "reserved" }));
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn an_answer_without_end_is_not_read() {
    let server = TestServer::start(|seen| match seen.path() {
        "/flood" => Answer::Flood { bytes: 1 << 30 },
        "/trickle" => Answer::Trickle,
        "/torn" => Answer::Torn,
        _ => Answer::Noise,
    })
    .await;
    let sender = HttpWebhookSender::default();
    for path in ["flood", "trickle", "torn"] {
        let url = format!("{}/{path}", server.url());
        assert_eq!(sender.post(call(&url, Reach::Loopback)).await, Ok(200), "{path}");
    }
    let noise = sender.post(call(&server.url(), Reach::Loopback)).await;
    assert_eq!(noise, Err(PostError::Broken));
}
