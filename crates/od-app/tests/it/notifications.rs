//! Notifications of changed checks, over ports in memory and a clock that tests move.

use std::time::Duration;

use od_app::artifacts::{self, Address, CreateArtifact, Reading, UpdateArtifact};
use od_app::notifications::{self, AddWebhook};
use od_app::{Caller, Mode};
use od_core::checks::CheckState;
use od_core::error::{ErrorCode, Failure};
use od_core::event::Event;
use od_core::ids::ArtifactId;
use od_core::limits::NOTIFICATION_QUEUE;
use od_core::notification::{Deliveries, signature};
use od_ports::access::credential_vault::Secret;
use od_ports::fakes::{CANARY, PathSender};
use od_ports::webhooks::{WebhookCall, vault_key};
use serde_json::{Value, json};

use crate::world::{World, agent, id};

const SECRET: &str = "secret-of-this-hook";
const LONG: Duration = Duration::from_secs(3_600);

/// An artifact whose check holds while `n` is below 5.
async fn checked(world: &World, title: &str) -> ArtifactId {
    let body = json!({
        "input": { "title": title, "document": {
            "dataJson": { "n": 1 },
            "checks": [{ "id": "few", "path": "n", "op": "lt", "value": 5 }],
        } },
        "templateHtml": "<!doctype html><title>T</title><p>{{data.n}}</p>",
    });
    let request = CreateArtifact { project: id("web"), body: body.into(), reading: Reading::Now };
    let created = artifacts::create(&world.app, &Caller::Person, request, Mode::Commit).await;
    created.unwrap().stored.id.clone()
}

async fn set(world: &World, artifact: &ArtifactId, n: u32) {
    let target = Address { project: Some(id("web")), artifact: artifact.clone() };
    let body: Value = json!({ "input": { "document": { "dataJson": { "n": n } } } });
    let request =
        UpdateArtifact { target: target.into(), body: body.into(), reading: Reading::Now };
    artifacts::update(&world.app, &Caller::Person, request, Mode::Commit).await.unwrap();
}

async fn add(world: &World, name: &str, url: &str) {
    let request = AddWebhook {
        name: name.parse().unwrap(),
        url: url.parse().unwrap(),
        private: false,
        secret: Some(Secret::parse(SECRET).unwrap()),
    };
    notifications::add(&world.app, &Caller::Person, request).await.unwrap();
}

async fn deliveries(world: &World, name: &str) -> Deliveries {
    let listed = notifications::list(&world.app).await.unwrap();
    listed.into_iter().find(|hook| hook.name.as_str() == name).unwrap().deliveries
}

fn payload(call: &WebhookCall) -> Value {
    serde_json::from_slice(&call.body).unwrap()
}

#[tokio::test]
async fn a_check_that_changes_is_told_once_to_everybody_and_one_that_stays_to_nobody() {
    let world = World::new().await;
    world.notifier.switch_on();
    world.app.set_console("http://127.0.0.1:7456");
    add(&world, "pager", "http://127.0.0.1:9/204").await;
    add(&world, "board", "http://127.0.0.1:9/200").await;
    let artifact = checked(&world, "Errors").await;
    for n in [2, 7, 8, 9, 3] {
        set(&world, &artifact, n).await;
        world.app.settle_notifications(LONG).await;
    }
    let shown = world.notifier.take();
    let states: Vec<_> = shown.iter().map(|told| (told.from, told.check.state)).collect();
    let (good, bad) = (CheckState::Passing, CheckState::Failing);
    assert_eq!(states, [(Some(good), bad), (Some(bad), good)]);
    let posted = world.sender.take();
    assert_eq!(posted.len(), 4, "two changes, two webhooks");
    let url = format!("http://127.0.0.1:7456/#/p/web/live/{artifact}");
    assert_eq!(
        payload(&posted[0]),
        json!({ "title": "Errors", "check": "few", "state": "failing", "value": "7",
            "consoleUrl": url })
    );
    for call in &posted {
        assert_eq!(call.signature, signature(SECRET, world.app.ports.clock.now(), &call.body));
    }
    let events = world.events.take();
    assert_eq!(events.iter().filter(|event| matches!(event, Event::Check(_))).count(), 2);
    assert_eq!(deliveries(&world, "pager").await.lost, 0);
}

#[tokio::test]
async fn a_receiver_that_is_dead_or_silent_delays_neither_a_commit_nor_another_receiver() {
    let world = World::new().await;
    add(&world, "dead", &format!("{}/204", PathSender::DEAD)).await;
    add(&world, "living", "http://127.0.0.1:9/204").await;
    add(&world, "silent", "http://127.0.0.1:9/never").await;
    let before = world.app.ports.clock.now();
    let artifact = checked(&world, "Errors").await;
    set(&world, &artifact, 7).await;
    assert_eq!(world.app.ports.clock.now(), before, "the commit waited for nobody");
    world.app.settle_notifications(LONG).await;
    let posted = world.sender.take();
    let tries = |url: &str| {
        let to: Vec<_> = posted.iter().filter(|call| call.url.to_string().contains(url)).collect();
        assert!(to.iter().all(|call| call.delivery == to[0].delivery), "one delivery, one name");
        to.len()
    };
    assert_eq!((tries(":1/"), tries(":9/204"), tries("never")), (3, 1, 3));
    let waited = world.app.ports.clock.now().ms_since(before);
    assert_eq!(waited, 42_000, "three times ten seconds, and the pauses between");
    let (dead, silent) = (deliveries(&world, "dead").await, deliveries(&world, "silent").await);
    assert_eq!(dead.fault(), Some("its host cannot be reached"));
    assert_eq!((silent.lost, silent.fault()), (1, Some("it did not answer within 10 s")));
    assert_eq!(deliveries(&world, "living").await.delivered_at, Some(before));
}

#[tokio::test]
async fn what_a_slow_receiver_cannot_take_is_bounded_and_counted() {
    let world = World::new().await;
    add(&world, "silent", "http://127.0.0.1:9/never").await;
    let artifact = checked(&world, "Errors").await;
    let changes = 3 * NOTIFICATION_QUEUE.max();
    for change in 0..changes {
        set(&world, &artifact, if change % 2 == 0 { 7 } else { 1 }).await;
    }
    // Nothing is waited for: what is left counts as lost, too.
    world.app.settle_notifications(Duration::ZERO).await;
    let posted = world.sender.take().len();
    assert!(posted <= 2, "{posted}");
    world.app.settle_notifications(LONG).await;
    let lost = deliveries(&world, "silent").await.lost;
    assert!(lost as usize <= changes + 1 && lost as usize >= changes - 1, "{lost} of {changes}");
}

#[tokio::test]
async fn a_webhook_that_is_removed_or_moved_gets_nothing_of_what_waited() {
    let world = World::new().await;
    add(&world, "pager", &format!("{}/204", PathSender::DEAD)).await;
    let artifact = checked(&world, "Errors").await;
    set(&world, &artifact, 7).await;
    notifications::remove(&world.app, &Caller::Person, "pager").await.unwrap();
    world.app.settle_notifications(LONG).await;
    assert_eq!(world.sender.take(), []);
    let secret = world.app.ports.vault.secret(&vault_key(&"pager".parse().unwrap())).await;
    assert_eq!(secret.unwrap(), None, "its secret is forgotten");
    let unknown = notifications::test(&world.app, &Caller::Person, "pager").await.unwrap_err();
    assert_eq!(Failure::from(unknown).code, ErrorCode::NotFound);
}

#[tokio::test]
async fn only_a_person_registers_tests_and_removes() {
    let world = World::new().await;
    add(&world, "pager", "http://127.0.0.1:9/204").await;
    for caller in [agent("web"), Caller::Schedule] {
        let request = AddWebhook {
            name: "mine".parse().unwrap(),
            url: "https://evil.example/".parse().unwrap(),
            private: false,
            secret: Some(Secret::parse(SECRET).unwrap()),
        };
        let added = notifications::add(&world.app, &caller, request).await.unwrap_err();
        assert_eq!(Failure::from(added).code, ErrorCode::Forbidden);
        let tested = notifications::test(&world.app, &caller, "pager").await.unwrap_err();
        assert_eq!(Failure::from(tested).code, ErrorCode::Forbidden);
        let removed = notifications::remove(&world.app, &caller, "pager").await.unwrap_err();
        assert_eq!(Failure::from(removed).code, ErrorCode::Forbidden);
    }
    assert_eq!(notifications::list(&world.app).await.unwrap().len(), 1);
    assert_eq!(world.sender.take(), []);
}

#[tokio::test]
async fn a_test_is_one_try_and_says_what_came() {
    let world = World::new().await;
    add(&world, "good", "http://127.0.0.1:9/202").await;
    add(&world, "bad", "http://127.0.0.1:9/302").await;
    let good = notifications::test(&world.app, &Caller::Person, "good").await.unwrap();
    assert_eq!((good.status, good.webhook.deliveries.lost), (202, 0));
    let bad = notifications::test(&world.app, &Caller::Person, "bad").await.unwrap_err();
    let bad = Failure::from(bad);
    assert!(bad.message.contains("redirects (302)"), "{}", bad.message);
    assert_eq!(world.sender.take().len(), 2);
    assert_eq!(deliveries(&world, "bad").await.lost, 1);
}

#[tokio::test]
async fn a_held_secret_in_a_title_does_not_leave_the_machine() {
    let world = World::new().await;
    let other = AddWebhook {
        name: "other".parse().unwrap(),
        url: "http://127.0.0.1:9/204".parse().unwrap(),
        private: false,
        secret: Some(Secret::parse(CANARY).unwrap()),
    };
    notifications::add(&world.app, &Caller::Person, other).await.unwrap();
    let artifact = checked(&world, &format!("Errors {CANARY}")).await;
    set(&world, &artifact, 7).await;
    world.app.settle_notifications(LONG).await;
    let posted = world.sender.take();
    assert_eq!(posted.len(), 1);
    od_ports::fakes::assert_no_canary("the body", &String::from_utf8_lossy(&posted[0].body));
}

#[tokio::test]
async fn a_dry_run_tells_nobody() {
    let world = World::new().await;
    world.notifier.switch_on();
    let artifact = checked(&world, "Errors").await;
    let target = Address { project: Some(id("web")), artifact };
    let body: Value = json!({ "input": { "document": { "dataJson": { "n": 7 } } } });
    let request =
        UpdateArtifact { target: target.into(), body: body.into(), reading: Reading::Now };
    artifacts::update(&world.app, &Caller::Person, request, Mode::DryRun).await.unwrap();
    world.app.settle_notifications(LONG).await;
    assert_eq!(world.notifier.take(), []);
}
