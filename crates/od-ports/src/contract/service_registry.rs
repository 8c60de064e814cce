//! The contract suite of every registry of services.

use od_core::connector::{RegisteredService, ServiceKind, ServiceRequest};
use od_core::ids::Timestamp;
use od_core::limits::{REGISTERED_SERVICES, SERVICE_REQUESTS};

use crate::service_registry::{RegistryError, ServiceRegistry};

/// Puts an empty registry through the contract of [`ServiceRegistry`].
///
/// # Panics
///
/// When the registry breaks the contract.
pub async fn check_service_registry(registry: &dyn ServiceRegistry) {
    assert_eq!(registry.list().await, Ok(Vec::new()), "a new registry is empty");
    let (quotes, board) =
        (service("quotes", "https://a.example/"), service("board", "http://b.example/api"));
    assert_eq!(registry.put(quotes.clone()).await, Ok(()));
    assert_eq!(registry.put(board.clone()).await, Ok(()));
    assert_eq!(registry.list().await, Ok(vec![board.clone(), quotes]), "ordered by name");
    let moved = service("quotes", "https://c.example/");
    assert_eq!(registry.put(moved.clone()).await, Ok(()));
    assert_eq!(registry.list().await, Ok(vec![board.clone(), moved]), "a put replaces its name's");
    let name = "quotes".parse().expect("a name");
    assert_eq!(registry.remove(&name).await, Ok(true));
    assert_eq!(registry.remove(&name).await, Ok(false), "it is gone");
    assert_eq!(registry.list().await, Ok(vec![board]));
    for number in 1..REGISTERED_SERVICES.max() {
        let filler = service(&format!("s{number}"), "https://a.example/");
        assert_eq!(registry.put(filler).await, Ok(()), "{number}");
    }
    let refused = registry.put(service("one-more", "https://a.example/")).await;
    assert_eq!(refused, Err(RegistryError::Full), "the number is bounded");
    check_requests(registry).await;
    let known = registry.put(service("s1", "https://d.example/")).await;
    assert_eq!(known, Ok(()), "a full registry still takes changes");
}

async fn check_requests(registry: &dyn ServiceRegistry) {
    assert_eq!(registry.requests().await, Ok(Vec::new()), "nobody has asked yet");
    let last = SERVICE_REQUESTS.max() + 1;
    for number in (0..=last).chain([5]) {
        assert_eq!(registry.ask(request(&format!("r{number}"))).await, Ok(()));
    }
    let requests = registry.requests().await.expect("requests");
    assert_eq!(requests.len(), SERVICE_REQUESTS.max(), "the newest are kept");
    assert_eq!(requests[0], request("r5"), "asked again, it is the newest");
    assert_eq!(requests.iter().filter(|held| held.name.as_str() == "r5").count(), 1);
    let name = "r5".parse().expect("a name");
    assert_eq!(registry.dismiss(&name).await, Ok(true));
    assert_eq!(registry.dismiss(&name).await, Ok(false), "it is gone");
    assert_eq!(registry.requests().await.map(|held| held.len()), Ok(SERVICE_REQUESTS.max() - 1));
}

fn request(name: &str) -> ServiceRequest {
    ServiceRequest {
        name: name.parse().expect("the suite's names are well formed"),
        kind: ServiceKind::Postgres,
        project_id: "web".parse().expect("an id"),
        asked_at: Timestamp::from_unix_ms(1_777_507_200_000),
    }
}

fn service(name: &str, url: &str) -> RegisteredService {
    RegisteredService {
        name: name.parse().expect("the suite's names are well formed"),
        url: url.parse().expect("the suite's addresses are well formed"),
        header: None,
        registered_at: Timestamp::from_unix_ms(1_777_507_200_000),
    }
}
