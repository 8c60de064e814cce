//! The contract suites of what carries notifications: desktop, registry of webhooks, sender.

use od_core::ids::Timestamp;
use od_core::limits::REGISTERED_WEBHOOKS;
use od_core::notification::{Deliveries, DeliveryOutcome, Notification, Reach, Webhook};

use crate::notifier::{Notifier, NotifyError, Readiness};
use crate::webhooks::{PostError, WebhookCall, WebhookRegistry, WebhookSender, WebhooksError};

fn now() -> Timestamp {
    Timestamp::from_unix_ms(1_777_507_200_000)
}

/// Puts a notifier that is ready, and one that is not, through the contract of [`Notifier`].
///
/// # Panics
///
/// When one breaks the contract.
pub async fn check_notifier(ready: &dyn Notifier, off: &dyn Notifier) {
    assert_eq!(off.readiness(), Readiness::Off);
    let mut told = Notification::trial(now());
    assert_eq!(off.show(&told).await, Err(NotifyError::NotReady));
    assert!(matches!(ready.readiness(), Readiness::Ready { .. }), "{:?}", ready.readiness());
    for title in ["Release dashboard", "--help", "-u critical", "<b>&amp;", "a\0b\n\u{1b}[31m", ""]
    {
        title.clone_into(&mut told.title);
        assert_eq!(ready.show(&told).await, Ok(()), "{title:?}");
    }
}

/// Puts an empty registry through the contract of [`WebhookRegistry`].
///
/// # Panics
///
/// When the registry breaks the contract.
pub async fn check_webhook_registry(registry: &dyn WebhookRegistry) {
    assert_eq!(registry.list().await, Ok(Vec::new()), "a new registry is empty");
    let (pager, board) =
        (webhook("pager", "https://a.example/"), webhook("board", "http://127.0.0.1:9000/od"));
    assert_eq!(registry.put(pager.clone()).await, Ok(()));
    assert_eq!(registry.put(board.clone()).await, Ok(()));
    assert_eq!(registry.list().await, Ok(vec![board.clone(), pager.clone()]), "ordered by name");
    let lost = DeliveryOutcome::Lost { count: 2, because: "it answers 500".to_owned() };
    assert_eq!(registry.note(&pager, lost.clone(), now()).await, Ok(()));
    let noted = registry.list().await.expect("a list").pop().expect("the pager");
    assert_eq!((noted.deliveries.lost, noted.deliveries.fault()), (2, Some("it answers 500")));
    let moved =
        Webhook { registered_at: now().plus_ms(1), ..webhook("pager", "https://c.example/") };
    assert_eq!(registry.put(moved.clone()).await, Ok(()));
    assert_eq!(registry.note(&pager, lost.clone(), now()).await, Ok(()));
    let listed = registry.list().await;
    assert_eq!(
        listed,
        Ok(vec![board.clone(), moved]),
        "what the earlier one lost is not the new one's"
    );
    let name = "pager".parse().expect("a name");
    assert_eq!(registry.remove(&name).await, Ok(true));
    assert_eq!(registry.remove(&name).await, Ok(false), "it is gone");
    assert_eq!(registry.note(&pager, lost, now()).await, Ok(()));
    assert_eq!(registry.list().await, Ok(vec![board]), "a note brings nothing back");
    for number in 1..REGISTERED_WEBHOOKS.max() {
        let filler = webhook(&format!("w{number}"), "https://a.example/");
        assert_eq!(registry.put(filler).await, Ok(()), "{number}");
    }
    let refused = registry.put(webhook("one-more", "https://a.example/")).await;
    assert_eq!(refused, Err(WebhooksError::Full), "the number is bounded");
    let known = registry.put(webhook("w1", "https://d.example/")).await;
    assert_eq!(known, Ok(()), "a full registry still takes changes");
}

fn webhook(name: &str, url: &str) -> Webhook {
    Webhook {
        name: name.parse().expect("the suite's names are well formed"),
        url: url.parse().expect("the suite's addresses are well formed"),
        reach: Reach::Public,
        registered_at: now(),
        deliveries: Deliveries::default(),
    }
}

/// Puts a sender through the contract of [`WebhookSender`]: below `living`, an address of this machine,
/// a path such as `204` answers with that status; at `dead` nobody listens.
///
/// # Panics
///
/// When the sender breaks the contract.
pub async fn check_webhook_sender(sender: &dyn WebhookSender, living: &str, dead: &str) {
    let call = |url: String, reach| WebhookCall {
        url: url.parse().expect("the suite's addresses are well formed"),
        reach,
        delivery: "d1".to_owned(),
        signature: "t=1,v1=00".to_owned(),
        body: b"{}".to_vec(),
    };
    let at = |status: u16| call(format!("{living}/{status}"), Reach::Loopback);
    for status in [200, 202, 204] {
        assert_eq!(sender.post(at(status)).await, Ok(status));
    }
    for status in [301, 302, 303, 307, 308] {
        assert_eq!(sender.post(at(status)).await, Err(PostError::Redirected { status }));
    }
    for status in [400, 404, 410, 429, 500, 503] {
        assert_eq!(sender.post(at(status)).await, Err(PostError::Status { status }));
    }
    let nobody = sender.post(call(format!("{dead}/204"), Reach::Loopback)).await;
    assert_eq!(nobody, Err(PostError::Unreachable));
    let inwards = sender.post(call(format!("{living}/204"), Reach::Public)).await;
    assert_eq!(inwards, Err(PostError::Refused { kind: "loopback" }));
}
